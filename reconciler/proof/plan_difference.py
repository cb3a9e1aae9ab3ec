"""Compares the plan after an edit with the one before it: what the edit itself moves is new, the rest was there before.

Two plans of the same stack differ in the live values, which no edit changes, and in what the code plans for them. So a change is
known only if both plans give the attribute the same value in the same way, whatever is live.
"""

from collections.abc import Iterator, Sequence

from gateway.core.model.json import canonical
from gateway.core.model.path import overlaps
from reconciler.model import Wanted
from reconciler.terraform.compare import differences
from reconciler.terraform.plan import PlannedValue, ResourceChange, TerraformPlan


def new_changes(
    changes: Sequence[ResourceChange], after: TerraformPlan, before: TerraformPlan | None, wanted: Sequence[Wanted]
) -> tuple[ResourceChange, ...]:
    """Those of `changes`, and of what their resources hide, that the plan before the edit did not show; `before` is None if it was empty.

    A change of what the edit was made for is always new: the edit is there to end it.
    """
    known = {(change.address, change.attribute): change for change in (before.changes if before else ())}
    is_new = [_wanted(change, wanted) or not _planned_alike(change, known) for change in changes]
    fresh = [change for change, new in zip(changes, is_new, strict=True) if new]
    noted = {change.address for change, new in zip(changes, is_new, strict=True) if not new}
    return (*fresh, *(change for address in sorted(noted) for change in _hidden(address, after, before)))


def _wanted(change: ResourceChange, wanted: Sequence[Wanted]) -> bool:
    return any(want.address == change.address and overlaps(want.attribute, change.attribute) for want in wanted)


def _planned_alike(change: ResourceChange, known: dict[tuple[str, str], ResourceChange]) -> bool:
    earlier = known.get((change.address, change.attribute))
    return (
        earlier is not None
        and earlier.actions == change.actions
        and canonical(earlier.other) == canonical(change.other)
    )


def _hidden(address: str, after: TerraformPlan, before: TerraformPlan | None) -> Iterator[ResourceChange]:
    """What a resource with known changes moves besides, and a list of changes does not show: values that are derived, or not known yet."""
    shown = {change.top for change in after.changes if change.address == address}
    earlier = before.planned.get(address, {}) if before else {}
    for name, value in after.planned.get(address, {}).items():
        if name in shown and value.unknown is None:
            continue
        if name not in earlier or not _becomes_alike(name, value, earlier[name]):
            yield ResourceChange(address=address, attribute=name, live=value.live, other=value.after, sensitive=True)


def _becomes_alike(name: str, value: PlannedValue, earlier: PlannedValue) -> bool:
    """Whether all that moves in a value moved before, and to the same."""
    if _outcome(value) == _outcome(earlier):
        return True
    if value.unknown is not None or earlier.unknown is not None:
        return False
    moved = _moved(name, value)
    return bool(moved) and moved.items() <= _moved(name, earlier).items()


def _outcome(value: PlannedValue) -> tuple[bytes, bytes]:
    return canonical(value.after), canonical(value.unknown)


def _moved(name: str, value: PlannedValue) -> dict[tuple[str, ...], bytes]:
    return {path: canonical(other) for path, _, other in differences(value.live, value.after, (name,))}
