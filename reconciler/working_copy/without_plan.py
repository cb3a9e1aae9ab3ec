"""Writes the drift of named resources back without a plan: read from the provider, traced, edited, and proved by the text alone.

For a person or a script that wants one value in code within a second. What only a plan can show stays unproved, and the report says so:
`sentinel reconcile` without `--no-plan` proves it.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from gateway.core.model.json import Json
from gateway.core.model.path import WHOLE
from gateway.terraform.config.module import META, Module, load_module
from reconciler.adoption.model import LeftCreation
from reconciler.changes.classification import classify_foreign_drift
from reconciler.changes.cloudtrail import Event, matches, origins
from reconciler.model import Drift, Edited, Left, Proof, Wanted
from reconciler.proof.code_copies import bytes_before, copy_with_surroundings, temporarily_written
from reconciler.proof.proofs import capture_proof, text_proofs
from reconciler.rewrite.surroundings import Surroundings
from reconciler.terraform.cli import Terraform
from reconciler.terraform.live_reads import LiveReads
from reconciler.terraform.plan import ResourceChange, TerraformPlan, read_plan, without_keys
from reconciler.terraform.plugin.state_resources import StoredResource, read_stored
from reconciler.terraform.refresh import Refreshed
from reconciler.working_copy.report import Report


async def reconcile_without_plan(
    reads: LiveReads,
    path: Path,
    targets: Sequence[str],
    *,
    state: Path,
    events: Sequence[Event],
    workdir: Path,
    frozen: Sequence[str] = (),
) -> Report:
    """The drift of the resources at or below `targets`, as edits; `path` itself is only read.

    Raises as `LiveReads.refresh`, `errors.PluginUnavailable` for a state that cannot be read, `gateway.core.errors.CodeInvalid`.
    """
    root, _, around = copy_with_surroundings(path, workdir / "copy", frozen, reads.terraform.plugin_data)
    stored = read_stored(state, targets)
    # What edits is imported while the provider starts.
    live, edit_all = await asyncio.gather(
        reads.refresh(path, state=state, targets=targets), asyncio.to_thread(_editors)
    )
    plan = planned_by_code(load_module(root), stored, live)
    drifts, left = classify_foreign_drift(plan, origins(events, plan))
    if events:
        unset, secret = _unset(plan, events, root)
        drifts, left = (*drifts, *unset), (*left, *secret)
    gone = [each for each in stored if live.exists(each.address) is False]
    wanted = [drift.wanted for drift in drifts]
    edited = edit_all(root, wanted, around)
    left = (*left, *map(_gone, gone), *_absent(targets, stored), *_not_looked_at(events, stored, live), *edited.left)
    created = _unread_creations(events)
    if not edited.edits:
        return Report(left=left, created=created)
    before = bytes_before(path, edited.files)
    proofs = await _proofs(reads.terraform, root, edited, before)
    if broken := [proof for proof in proofs if not proof.held]:
        return Report(left=(*left, *_unproved(edited, broken)), created=created, proofs=proofs)
    written = {made.wanted.key for made in edited.edits}
    kept = tuple(drift for drift in drifts if drift.wanted.key in written)
    return Report(drifts=kept, edited=edited, before=before, left=left, created=created, proofs=proofs)


def _unread_creations(events: Sequence[Event]) -> tuple[LeftCreation, ...]:
    """What the events say was created: only a run with a plan looks at it."""
    from reconciler.adoption.adoption import left_without_looking  # noqa: PLC0415  as `_editors`

    return left_without_looking(events, "Without a plan it was not looked at.") if events else ()


def _unset(plan: TerraformPlan, events: Sequence[Event], root: Path) -> tuple[list[Drift], list[Left]]:
    """What the code leaves unset, and somebody set by the events."""
    from reconciler.drift.unset_attributes import drift_of_unset_attributes  # noqa: PLC0415  as `_editors`
    from reconciler.proof.declarations import ignored_changes  # noqa: PLC0415  as `_editors`

    return drift_of_unset_attributes(plan, events, ignored_changes(root))


def _not_looked_at(events: Sequence[Event], stored: Sequence[StoredResource], live: Refreshed) -> Iterator[Left]:
    """What the events tell of other resources than those that were read, and nobody looked at: one entry for each operation of an actor."""
    from reconciler.changes.creating_events import creations_in  # noqa: PLC0415  as `_editors`

    read = [
        (
            ResourceChange(address=each.address, attribute=WHOLE),
            {**each.attributes, **live.objects.get(each.address, {})},
        )
        for each in stored
    ]
    others = Counter(
        (event.origin.event, event.origin.actor)
        for event in events
        if not event.origin.actor.endswith(".amazonaws.com")
        and not any(matches(event, change, attributes) for change, attributes in read)
        and not any(True for _ in creations_in(event))
    )
    for (operation, actor), count in others.items():
        times = f" {count} times" if count > 1 else ""
        reason = f"{actor} did it{times}. Without a plan only what --only names is looked at."
        yield Left(wanted=Wanted(address=operation, attribute=WHOLE, value=None), reason=reason)


def _editors() -> Callable[[Path, Sequence[Wanted], Surroundings], Edited]:
    from reconciler.rewrite.edits import edit_code as edit_all  # noqa: PLC0415  it takes long to import

    return edit_all


def planned_by_code(code: Module, stored: Sequence[StoredResource], live: Refreshed) -> TerraformPlan:
    """What a plan would change, as far as state, code and live values show it: attributes that drifted and that the code sets."""
    there = [each for each in stored if each.address in live.objects]
    plan = read_plan(
        {
            "resource_changes": [
                _entry(each, before=live.objects[each.address], after=each.attributes) for each in there
            ],
            "resource_drift": [
                _entry(each, before=each.attributes, after=live.objects[each.address]) for each in there
            ],
        }
    )
    plan = replace(plan, configured={without_keys(each.address): _set_in_code(code, each.address) for each in there})
    return replace(plan, changes=tuple(change for change in plan.changes if plan.sets(change)))


async def _proofs(terraform: Terraform, root: Path, edited: Edited, before: Mapping[Path, bytes]) -> tuple[Proof, ...]:
    with temporarily_written(root, edited.files):
        return (
            *await text_proofs(terraform, edited, before),
            capture_proof(root, [made.wanted for made in edited.edits]),
        )


def _entry(stored: StoredResource, *, before: Mapping[str, Json], after: Mapping[str, Json]) -> Mapping[str, object]:
    marks = dict.fromkeys(stored.sensitive, True)
    change = {"actions": ["update"], "before": before, "after": after, "before_sensitive": marks}
    return {"address": stored.address, "mode": "managed", "type": stored.resource_type, "change": change}


def _set_in_code(code: Module, address: str) -> frozenset[str]:
    """The attributes and nested blocks that the instance's block sets."""
    instance = code.instance(address)
    return frozenset() if instance is None else instance.names - META


def _gone(stored: StoredResource) -> Left:
    want = Wanted(address=stored.address, attribute="*", value=None)
    return Left(
        wanted=want, reason=f"{stored.address} does not exist any more. Reconcile with a plan to remove its block."
    )


def _absent(targets: Sequence[str], stored: Sequence[StoredResource]) -> tuple[Left, ...]:
    """Targets of which the state has nothing."""
    found = [each.address for each in stored]
    missed = [
        each for each in targets if not any(f"{address}.".startswith((f"{each}.", f"{each}[")) for address in found)
    ]
    return tuple(
        Left(wanted=Wanted(address=each, attribute="*", value=None), reason=f"The state has no resource {each}.")
        for each in missed
    )


def _unproved(edited: Edited, broken: Sequence[Proof]) -> tuple[Left, ...]:
    reason = "It was not written. " + " ".join(f"Proof {proof.name} does not hold: {proof.detail}" for proof in broken)
    return tuple(Left(wanted=made.wanted, reason=reason, chain=made.chain) for made in edited.edits)
