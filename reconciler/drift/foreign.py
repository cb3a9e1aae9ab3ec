"""Which drift in a plan was made from outside: everything that no mutation of ours explains."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass

from gateway.model.ids import digest_id
from gateway.model.json import Json, canonical
from gateway.model.mutation import WHOLE
from gateway.model.path import AttributePath
from reconciler.backlog import Backlog
from reconciler.drift.applied import AppliedMutation
from reconciler.last_changes import overlaps
from reconciler.model import DriftOrigin
from reconciler.terraform.compare import agrees
from reconciler.terraform.plan import ResourceChange, TerraformPlan

Origins = Mapping[tuple[str, str], DriftOrigin]
Recall = Callable[[str], Awaitable[AppliedMutation | None]]
"""Reads a mutation from the ledger."""


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
    return any(
        effect.sensitive or effect.attribute == WHOLE or _agrees(effect.value, effect.attribute, live)
        for effect in applied.changed
        if _touches(effect.address, effect.attribute, change)
    )


def _agrees(wanted: Json, attribute: str, live: Mapping[str, Json]) -> bool:
    return agrees(wanted, AttributePath(attribute).value_at(live))


def _touches(address: str, attribute: str, change: ResourceChange) -> bool:
    return address == change.address and overlaps(attribute, change.attribute)
