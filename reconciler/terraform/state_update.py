"""Brings a state up to date by a saved plan that changes nothing else: it is read first, and applied under the backend's lock.

The state is never edited by hand. Terraform refuses a plan file that is older than the state, so nobody's apply is overwritten; and a
process that dies before the apply leaves the state as it was, one that dies after it has nothing left to do.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from reconciler.errors import StateNotUpdated
from reconciler.terraform.cli import SavedPlan, Terraform
from reconciler.terraform.own_defaults import sets_own_defaults

LOCK_SECONDS = 120
"""How long an apply waits for the lock of the state, which somebody else's apply may hold."""
_HARMLESS = (["no-op"], ["read"])


def beyond_state(document: Mapping[str, Any]) -> tuple[str, ...]:
    """What a plan, in the form of `terraform show -json`, would do to anything but the state; empty if nothing.

    Values that were read, outputs and imports only change the state, and so do the attributes of an import that only Terraform has. A resource that would be forgotten counts: it still exists.
    """
    return tuple(_beyond_state(document))


def moved_in(document: Mapping[str, Any]) -> frozenset[str]:
    """The addresses of the resources that a plan would change."""
    entries = document.get("resource_changes") or []
    return frozenset(
        entry["address"]
        for entry in entries
        if entry["change"]["actions"] not in _HARMLESS and not sets_own_defaults(entry)
    )


def _beyond_state(document: Mapping[str, Any]) -> Iterator[str]:
    if document.get("errored"):
        yield "the plan is not complete"
    for entry in document.get("resource_changes") or []:
        actions = entry["change"]["actions"]
        if actions not in _HARMLESS and not sets_own_defaults(entry):
            yield f"it would {' and '.join(actions)} {entry['address']}"
    if document.get("deferred_changes") or document.get("action_invocations"):
        yield "it would do more than Sentinel can judge"


async def apply_to_state(terraform: Terraform, root: Path, saved: SavedPlan, *, state: Path | None) -> None:
    """Apply a saved plan of the code in `root` to the state, and remove the file.

    Raises `errors.StateNotUpdated`, with the state as it was, if the plan does more, and `errors.TerraformFailed` if the apply fails.
    """
    try:
        more = beyond_state(await terraform.plan_document(root, saved.file)) if saved.changes else ()
        if more:
            raise StateNotUpdated.because("; ".join(more[:5]))
        await terraform.apply(root, saved.file, state=state, lock_seconds=LOCK_SECONDS)
    finally:
        saved.file.unlink(missing_ok=True)


async def refresh_state(
    terraform: Terraform,
    root: Path,
    *,
    state: Path | None,
    targets: Sequence[str] = (),
    keep: Collection[str] = (),
) -> None:
    """Write the live values of resources (of all, without `targets`) and the outputs that follow from them into the state.

    The resources at `keep` may not change in it: what was changed outside of them would not show as drift any more. Terraform refreshes
    what a target depends on too, so the plan is asked. Raises as `apply_to_state`.
    """
    saved = await terraform.saved_plan(root, state=state, targets=targets, refresh_only=True)
    drifted = await _drifted(terraform, root, saved) if keep and saved.changes else set()
    if hidden := sorted(drifted.intersection(keep)):
        saved.file.unlink(missing_ok=True)
        raise StateNotUpdated.because(f"it would hide what was changed outside in {', '.join(hidden[:5])}")
    await apply_to_state(terraform, root, saved, state=state)


async def adopt_replacements(
    terraform: Terraform, root: Path, *, state: Path | None, gone: Sequence[str], targets: Sequence[str] = ()
) -> None:
    """Drop resources from the state that do not exist any more, and import what the code in `root` says took their place.

    Terraform imports nothing to an address that the state has, so it first has to notice that the resource is gone. `targets` are what
    is imported and refreshed then; without, everything. A process that dies in between leaves a state from which the next plan imports.
    Raises as `apply_to_state`.
    """
    saved = await terraform.saved_plan(root, state=state, targets=gone, refresh_only=True)
    dropped = await _drifted(terraform, root, saved, only=["delete"]) if saved.changes else set()
    if more := sorted(dropped - set(gone)):
        saved.file.unlink(missing_ok=True)
        raise StateNotUpdated.because(
            f"it would also drop {', '.join(more[:5])}, which no other resource took the place of"
        )
    await apply_to_state(terraform, root, saved, state=state)
    await import_only(terraform, root, state=state, addresses=targets)


async def import_only(terraform: Terraform, root: Path, *, state: Path | None, addresses: Sequence[str]) -> None:
    """Import what the code in `root` says belongs to the addresses; without, to all, with every live value and output. Raises as `apply_to_state`."""
    saved = await terraform.saved_plan(root, state=state, targets=addresses)
    await apply_to_state(terraform, root, saved, state=state)


def imported_in(document: Mapping[str, Any]) -> frozenset[str]:
    """The addresses to which a plan would only import something: a process that died may have left them so."""
    entries = document.get("resource_changes") or []
    return frozenset(
        entry["address"]
        for entry in entries
        if entry["change"].get("importing") and (entry["change"]["actions"] in _HARMLESS or sets_own_defaults(entry))
    )


def recreated_in(document: Mapping[str, Any]) -> frozenset[str]:
    """The addresses of the resources that a plan would create because they are gone."""
    gone = {
        entry["address"] for entry in document.get("resource_drift") or [] if entry["change"]["actions"] == ["delete"]
    }
    entries = document.get("resource_changes") or []
    return frozenset(
        entry["address"] for entry in entries if entry["change"]["actions"] == ["create"] and entry["address"] in gone
    )


async def _drifted(terraform: Terraform, root: Path, saved: SavedPlan, only: Sequence[str] = ()) -> set[str]:
    """The addresses that drifted; with `only` those to which that happened."""
    try:
        document = await terraform.plan_document(root, saved.file)
    except BaseException:
        saved.file.unlink(missing_ok=True)
        raise
    entries = document.get("resource_drift") or []
    return {entry["address"] for entry in entries if not only or entry["change"]["actions"] == list(only)}
