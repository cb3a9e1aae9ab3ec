"""Finds in a plan of the protected code what was changed without a mutation that says so."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass

from gateway.core.errors import LedgerUnavailable
from gateway.core.model.caller import ActorKind
from gateway.core.model.ids import digest_id
from gateway.core.model.json import Json, canonical
from gateway.core.model.mutation import Effect, EffectAction
from gateway.core.model.path import WHOLE, AttributePath, overlaps
from gateway.core.ports import LedgerQueries, RecordQuery
from gateway.core.records.record import Stage
from reconciler.changes.applied_mutation import AppliedMutation, applied_mutation
from reconciler.changes.backlog import Backlog
from reconciler.model import DriftOrigin
from reconciler.terraform.compare import agrees
from reconciler.terraform.plan import ResourceChange, TerraformPlan

Origins = Mapping[tuple[str, str], DriftOrigin]
Recall = Callable[[str], Awaitable[AppliedMutation | None]]
"""Reads a mutation from the ledger."""


async def recalled(queries: LedgerQueries, mutation: str) -> AppliedMutation | None:
    """The mutation as the ledger has it; None if it has none. Raises `errors.LedgerUnavailable`."""
    for record in await queries.records(RecordQuery(mutation_id=mutation, stage=Stage.DECIDED, limit=1)):
        try:
            return applied_mutation(record, {})
        except TypeError as error:
            message = f"Record {record.seq} cannot be read, so it is not known what is ours."
            raise LedgerUnavailable(message) from error
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideChange:
    """A value that is live and that neither the code nor a mutation explains."""

    change: ResourceChange
    origin: DriftOrigin | None

    def id_of(self, stack: str, ended: int) -> str:
        """Its id: the same while the value stays, another once it was set right and came again."""
        live = canonical(self.change.live).decode() if not self.change.sensitive else ""
        return digest_id("fgn", stack, self.change.address, self.change.attribute, live, str(ended))


async def outside_changes(
    plan: TerraformPlan, origins: Origins, backlog: Backlog, recall: Recall, known: Collection[tuple[str, str]] = ()
) -> tuple[OutsideChange, ...]:
    """The changes of a plan of the protected code that were made from outside.

    A difference between code and state alone is none: the code is ahead of what is applied. But where (address, attribute) is `known` to
    have been changed outside, it still is: a refresh of the state only made it show otherwise. None is a value that a mutation set, whether
    it is to be written into the code or wanted only for a time, nor one that a mutation in flight may be setting.
    """
    drifted = {change.top_key for change in plan.drift} | {(change.address, WHOLE) for change in plan.drift}
    found = []
    for change in (*plan.changes, *_vanished(plan)):
        shown = change.top_key in drifted or (change.address, WHOLE) in _whole(plan)
        if not shown and (change.address, change.attribute) not in known:
            continue
        if await _is_ours(change, plan, backlog, recall):
            continue
        found.append(OutsideChange(change=change, origin=origins.get((change.address, change.attribute))))
    return tuple({(each.change.address, each.change.attribute): each for each in found}.values())


def _whole(plan: TerraformPlan) -> frozenset[tuple[str, str]]:
    return frozenset((change.address, WHOLE) for change in plan.drift if change.attribute == WHOLE)


def _vanished(plan: TerraformPlan) -> tuple[ResourceChange, ...]:
    """Resources that were deleted outside, which the plan would create."""
    return tuple(change for change in plan.drift if change.attribute == WHOLE and change.actions == ("delete",))


async def _is_ours(change: ResourceChange, plan: TerraformPlan, backlog: Backlog, recall: Recall) -> bool:
    for other in list(backlog.in_flight.values()):
        if any(_touches(effect.address, effect.attribute, change) for effect in other.changed):
            return True  # its outcome is not known yet; the next look knows
    last = backlog.last_changes.since(change.address, change.attribute, 0)
    if last is None:
        return False
    applied = await recall(last.mutation)
    if applied is None or not last.asked:
        return applied is not None
    live = plan.objects.get(change.address, {})
    touching = [each for each in applied.changed if _touches(each.address, each.attribute, change)]
    if told := [each for each in touching if each.attribute != WHOLE]:
        return any(each.sensitive or _agrees(each.value, each.attribute, live) for each in told)
    # The state says what Terraform's own creation left behind. Another creation may have come after the state was written.
    by_terraform = applied.kind == ActorKind.PIPELINE
    return any(change.attribute == WHOLE or not (by_terraform and _creates(each)) for each in touching)


def _creates(effect: Effect) -> bool:
    return effect.action is EffectAction.CREATE


def _agrees(wanted: Json, attribute: str, live: Mapping[str, Json]) -> bool:
    return agrees(wanted, AttributePath(attribute).value_at(live))


def _touches(address: str, attribute: str, change: ResourceChange) -> bool:
    return address == change.address and overlaps(attribute, change.attribute)
