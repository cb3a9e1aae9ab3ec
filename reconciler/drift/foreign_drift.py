"""Finds the drift in a plan that came from outside: every change that no mutation of ours explains, and resources replaced outside."""

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gateway.core.model.ids import digest_id
from gateway.core.model.json import Json, canonical
from gateway.core.model.path import WHOLE, AttributePath, overlaps
from reconciler.changes.applied_mutation import AppliedMutation
from reconciler.changes.backlog import Backlog
from reconciler.changes.cloudtrail import Event
from reconciler.changes.event_creations import read_creation
from reconciler.changes.replacements import ReplacedResource, replaced_resources
from reconciler.model import REPLACES, DriftOrigin
from reconciler.rewrite.imports import wanted_replacement
from reconciler.terraform.compare import agrees
from reconciler.terraform.plan import ResourceChange, TerraformPlan

Origins = Mapping[tuple[str, str], DriftOrigin]
Recall = Callable[[str], Awaitable[AppliedMutation | None]]
"""Reads a mutation from the ledger."""
Known = Mapping[tuple[str, str], Json]
"""The live values of the changes from outside that were found before, by (address, attribute)."""


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


def replaced_by_events(
    plan: TerraformPlan, events: Sequence[Event]
) -> tuple[tuple[ReplacedResource, DriftOrigin], ...]:
    """The addresses whose resource is another one now, each with who created that one."""
    made = [(created, event.origin) for event in events if (created := read_creation(event.call)) is not None]
    origin = {created.import_id: origin for created, origin in made}
    found = replaced_resources(plan, [created for created, _ in made])
    return tuple((each, origin[each.created.import_id]) for each in found)


def with_replacements(
    plan: TerraformPlan, found: Sequence[OutsideChange], events: Sequence[Event], known: Known
) -> tuple[OutsideChange, ...]:
    """The changes from outside, of which those of a whole resource say what took its place, where events leave no doubt.

    What was `known` of a replacement stays so after its events are read and gone. What the code makes of the new id is not known before
    the code has it, so such values are judged only then; those that were found before stay found.
    """
    there: dict[str, tuple[Json, DriftOrigin | None]] = dict(_still(plan, known))
    for each, origin in replaced_by_events(plan, events):
        there[each.address] = wanted_replacement(each).value, origin
    if not there:
        return tuple(found)
    return tuple(
        _replaced(each, *there[each.change.address]) if _is_whole(each.change, there) else each
        for each in found
        if not plan.is_open(each.change) or (each.change.address, each.change.attribute) in known
    )


def _still(plan: TerraformPlan, known: Known) -> Iterator[tuple[str, tuple[Json, DriftOrigin | None]]]:
    """The replacements found before whose old resource is the one that the state still has."""
    for (address, attribute), live in known.items():
        replaced = attribute == WHOLE and isinstance(live, Mapping) and live.get(REPLACES)
        if replaced and plan.objects.get(address, {}).get("id") == replaced:
            yield address, (live, None)


def _is_whole(change: ResourceChange, there: Mapping[str, object]) -> bool:
    return change.attribute == WHOLE and change.address in there


def _replaced(outside: OutsideChange, live: Json, origin: DriftOrigin | None) -> OutsideChange:
    old = live[REPLACES] if isinstance(live, Mapping) else None
    return OutsideChange(change=replace(outside.change, live=live, other=old), origin=origin or outside.origin)
