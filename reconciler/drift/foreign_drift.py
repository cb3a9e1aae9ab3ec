"""Finds the resources that were replaced outside, among the changes of a plan that no mutation of ours explains."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from gateway.core.model.json import Json
from gateway.core.model.path import WHOLE
from reconciler.changes.cloudtrail import Event
from reconciler.changes.event_creations import read_creation
from reconciler.changes.outside_changes import OutsideChange
from reconciler.changes.replacements import ReplacedResource, replaced_resources
from reconciler.model import REPLACES, DriftOrigin
from reconciler.rewrite.imports import wanted_replacement
from reconciler.terraform.plan import ResourceChange, TerraformPlan

Known = Mapping[tuple[str, str], Json]
"""The live values of the changes from outside that were found before, by (address, attribute)."""


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
