"""Writes drift back into any working copy, without a gateway: plan, classify the drift, edit a copy, prove the edits."""

import re
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path

from gateway.core.model.adopt import Adopt
from gateway.core.model.path import WHOLE
from gateway.terraform.address import parse_address
from gateway.terraform.config.module import load_module
from reconciler.adoption.model import LeftCreation
from reconciler.changes.classification import classify_foreign_drift
from reconciler.changes.cloudtrail import Event, origins
from reconciler.changes.event_creations import read_creation
from reconciler.changes.replacements import replaced_in_code
from reconciler.drift.foreign_drift import replaced_by_events
from reconciler.drift.own_resources import as_own_resources
from reconciler.drift.unset_attributes import drift_of_unset_attributes
from reconciler.errors import StateNotUpdated, TerraformFailed
from reconciler.model import Drift, Edited, Left, Wanted, is_new, is_replacement
from reconciler.proof.code_copies import bytes_before, copy_with_surroundings, temporarily_written
from reconciler.proof.composites import composites, offered, parted
from reconciler.proof.declarations import ignored_changes, written_as_null
from reconciler.proof.other_roots import other_roots
from reconciler.proof.plan_errors import divided_by_plan
from reconciler.proof.proofs import Verified, describe
from reconciler.proof.proved_edit import ProofContext, attempt, without_replaced
from reconciler.proof.suggested_edits import SuggestionRounds
from reconciler.rewrite.create import import_id_of
from reconciler.rewrite.imports import imported_ids, wanted_replacement
from reconciler.rewrite.json_syntax.nested_blocks import learn_nested_blocks
from reconciler.suggest.suggestions import Suggestions
from reconciler.terraform.cli import SavedPlan, Terraform
from reconciler.terraform.plan import ResourceChange, TerraformPlan, read_plan
from reconciler.terraform.refresh import live_objects
from reconciler.terraform.state_update import adopt_replacements, apply_to_state, refresh_state
from reconciler.working_copy.creations import adopted_creations
from reconciler.working_copy.report import Report, write

_ROUNDS = 6
_UNACCOUNTED = "A plan of the code would change it, and no edit that keeps it as it is live was found."
_UNREAD = "The plan is not empty, and it shows nothing that Sentinel can read. Look at it with `terraform plan`."


async def reconcile_with_plan(
    terraform: Terraform,
    path: Path,
    *,
    state: Path | None,
    events: Sequence[Event],
    workdir: Path,
    frozen: Sequence[str] = (),
    suggestions: Suggestions | None = None,
    how: Adopt = Adopt.LINKED,
) -> Report:
    """The drift of the stack at `path`, as proved edits, and what was created; `path` itself is only read. `how` says what is adopted.

    Raises `errors.TerraformFailed`, `errors.TerraformMissing`, `gateway.core.errors.CodeInvalid`.
    """
    root, top, around = copy_with_surroundings(path, workdir / "copy", frozen, terraform.plugin_data)
    await learn_nested_blocks(terraform, root)
    others = other_roots(around, top, terraform)
    asked = SuggestionRounds(suggestions=suggestions) if suggestions else None
    context = ProofContext(
        terraform=terraform, root=root, state=state, keep_plan=True, around=around, others=others, asked=asked
    )
    saved = await terraform.saved_plan(root, state=state)
    document = await terraform.plan_document(root, saved.file) if saved.changes or events else {}
    plan = read_plan(document) if document else None
    if plan is not None and (there := _replaced(plan, events, root)):
        rest = _beside(events, {import_id_of(drift.wanted) for drift in there})
        adopted = await adopted_creations(terraform, root, rest, live_objects(document), around=around, how=how)
        replaced = {drift.wanted.address for drift in there}
        unset, left = _unset(plan, events, root)
        new = [*there, *adopted.drifts, *(each for each in unset if each.wanted.address not in replaced)]
        left = [each for each in left if each.wanted.address not in replaced]
        unwritten = adopted.left if how is not Adopt.NONE else ()
        report = await _replacing(
            context, there, lambda inside: _prove(inside, new, left, events, path, unwritten=unwritten)
        )
        return adopted.in_report(report)
    unset, secret = _unset(plan, events, root) if plan and events else ([], [])
    own, unset = as_own_resources(load_module(root), unset, live_objects(document)) if unset else ([], unset)
    adopted = await adopted_creations(terraform, root, events, live_objects(document), around=around, how=how, more=own)
    new = [*adopted.drifts, *unset]
    if not (new or secret) and (plan is None or not plan.changes):
        return adopted.in_report(_with_plan(Report(context=context), saved, plan if saved.changes else None))
    drifts, waiting = classify_foreign_drift(plan, origins(events, plan)) if plan else ((), ())
    context = replace(context, live=plan.live_values if plan else {})
    unwritten = adopted.left if how is not Adopt.NONE else ()
    report = await _prove(context, [*drifts, *new], [*waiting, *secret], events, path, first=plan, unwritten=unwritten)
    # An update of the whole state would take in what is left, and no later run would know of it.
    report = replace(report, saved=None) if secret else report
    return adopted.in_report(with_unaccounted(report, plan))


def with_unaccounted(report: Report, plan: TerraformPlan | None) -> Report:
    """The report, in which every change that a plan of the unedited code shows is written or left. With edits, their proofs say so."""
    if plan is None or report.edited.files:
        return report
    named = {each.wanted.top_key for each in report.left}
    addresses = {each.wanted.address for each in report.left if each.wanted.attribute == WHOLE}
    rest = [each for each in plan.changes if each.top_key not in named and each.address not in addresses]
    left = (
        Left(wanted=Wanted(address=each.address, attribute=each.attribute, value=None), reason=_UNACCOUNTED)
        for each in rest
    )
    return replace(report, left=(*report.left, *left))


def _unset(plan: TerraformPlan, events: Sequence[Event], root: Path) -> tuple[list[Drift], list[Left]]:
    """What the code leaves unset, or sets to null, and somebody set by the events."""
    shown = {change.top_key for change in plan.changes}
    asked = {change.top_key for change in plan.drift if change.top_key not in shown and plan.sets(change)}
    null = written_as_null(root, asked)
    return drift_of_unset_attributes(plan, events, ignored_changes(root), null)


def _replaced(plan: TerraformPlan, events: Sequence[Event], root: Path) -> list[Drift]:
    """The addresses whose resource is another one now, by the events, or by the imports that the code has from a pass that was killed."""
    found = [
        Drift(wanted=wanted_replacement(each), before=each.old_id, origin=origin)
        for each, origin in replaced_by_events(plan, events)
    ]
    known = {drift.wanted.address for drift in found}
    more = [each for each in replaced_in_code(plan, imported_ids(load_module(root))) if each.address not in known]
    return [*found, *(Drift(wanted=wanted_replacement(each), before=each.old_id) for each in more)]


def _beside(events: Sequence[Event], taken: Collection[str]) -> list[Event]:
    """The events without those that created something with one of the ids."""
    return [event for event in events if (made := read_creation(event.call)) is None or made.import_id not in taken]


async def _replacing(
    context: ProofContext, there: Sequence[Drift], prove: Callable[[ProofContext], Awaitable[Report]]
) -> Report:
    """What is proved against the state as it will be without the resources that others took the place of.

    Raises `errors.TerraformFailed`, `errors.TerraformMissing`.
    """
    addresses = tuple(drift.wanted.address for drift in there)
    async with without_replaced(context, addresses) as inside:
        report = await prove(inside)
    written = {drift.wanted.address for drift in report.drifts}
    # What follows from a replacement shows before its values are in the code, and not any more afterwards.
    left = tuple(each for each in report.left if each.wanted.address in report.shown or not written)
    return replace(report, context=context, left=left, replaced=tuple(each for each in addresses if each in written))


async def finish(path: Path, report: Report, *, written: bool, refreshed: bool) -> Report:
    """The report after its edits were written and the state brought up to date, as far as both are wished.

    Of a diff that is only shown it says what would be so once it is written. Raises as `write`.
    """
    if written and report.edited.files:
        write(path, report)
    if not refreshed:
        return report
    return (
        await refresh(report) if written else replace(report, pending="" if report.can_be_refreshed else report.pending)
    )


async def refresh(report: Report) -> Report:
    """The report after the state was brought up to date with the edited code; `pending` says why, if that was not possible.

    A plan that shows only what is left cannot be applied; then only the edited resources, and the outputs that follow, are refreshed.
    What is left stays drift, so that a later run still knows it.
    """
    context, files = report.context, report.edited.files
    if context is None or not report.can_be_refreshed:
        return report
    try:
        with temporarily_written(context.root, files):
            if report.replaced:
                await _adopt(context, report)
            elif report.saved:
                await apply_to_state(context.terraform, context.root, report.saved, state=context.state)
            else:
                await _refresh_edited(context, report)
    except (StateNotUpdated, TerraformFailed) as error:
        return replace(report, pending=f"The state was not refreshed. {error}")
    return replace(report, pending="", saved=None)


async def _adopt(context: ProofContext, report: Report) -> None:
    """Bring the state up to date with what took the place of other resources; of the rest only what was edited, if anything is left. Raises as `adopt_replacements`."""
    edited = sorted({drift.wanted.address for drift in report.drifts}) if report.left else []
    await adopt_replacements(context.terraform, context.root, state=context.state, gone=report.replaced, targets=edited)


async def _refresh_edited(context: ProofContext, report: Report) -> None:
    """Bring what was edited up to date in the state; what is new is imported by a plan of it alone. Raises as `refresh_state`."""
    terraform, root, state = context.terraform, context.root, context.state
    edited = sorted({drift.wanted.address for drift in report.drifts})
    if any(is_new(drift.wanted) for drift in report.drifts):
        await apply_to_state(
            terraform, root, await terraform.saved_plan(root, state=state, targets=edited), state=state
        )
    else:
        await refresh_state(terraform, root, state=state, targets=edited)


async def _prove(
    context: ProofContext,
    drifts: list[Drift],
    left: list[Left],
    events: Sequence[Event],
    path: Path,
    *,
    first: TerraformPlan | None = None,
    unwritten: Sequence[LeftCreation] = (),
) -> Report:
    """Edit and prove in rounds: add drift that only the plan of the edited code shows, drop drift that cannot be proved.

    Parts of one change are dropped together. `first` is the plan of the unedited code; `unwritten` is what was created, and no block is
    planned for.
    """
    proposal = Edited()
    code, seen, kept = load_module(context.root), dict[tuple[str, str], Drift](), list[Left]()
    for _ in range(_ROUNDS):
        seen.update((drift.wanted.key, drift) for drift in drifts)
        together = composites(code, list(seen.values()), unwritten, context.live)
        drifts, left = without_partial_resources(drifts, left)
        kept += (entries := parted(together, drifts, left))
        left += entries
        drifts = _without(drifts, left) or _waiting(first, left, events)
        if not drifts:
            break
        wanted = [drift.wanted for drift in drifts]
        edited, verified = await attempt(context, wanted, explain=lambda _: "", own_left=left)
        proposal = edited if edited.proposed else proposal
        left += _new(edited.left, left)
        drifts = _without(drifts, left)
        if verified is None:
            drifts = []
            continue
        if verified.holds and not parted(together, drifts, left):
            before = bytes_before(path, edited.files)
            report = Report(
                drifts=tuple(drifts),
                edited=edited,
                before=before,
                left=await offered(context, kept, await _with_proposal(context, left, proposal), edited.files),
                proofs=verified.proofs,
                context=context,
                shown=frozenset(change.address for change in verified.plan.changes) if verified.plan else frozenset(),
            )
            return _with_plan(report, verified.saved, verified.plan)
        if verified.holds:
            continue
        more, unproved = _next_round(edited, verified, drifts, left, events)
        left += _new(unproved, left)
        again = {drift.wanted.key for drift in more}
        drifts = [*(drift for drift in _without(drifts, left) if drift.wanted.key not in again), *more]
    left += _new([Left(wanted=drift.wanted, reason="No edit of it could be proved.") for drift in drifts], left)
    return Report(left=await offered(context, kept, await _with_proposal(context, left, proposal), {}))


async def _with_proposal(context: ProofContext, left: Sequence[Left], edited: Edited) -> tuple[Left, ...]:
    """The same, with what a plan of the code says that has the diffs of all that is left applied."""
    if not edited.proposed:
        return tuple(left)
    try:
        with temporarily_written(context.root, edited.proposed):
            plan = await context.plan()
        said = "A plan of the code with it is empty."
        if plan is not None and plan.changes:
            said = f"With it, {describe(plan.changes)}."
    except TerraformFailed as error:
        said = f"With it the code cannot be planned: {error}"
    return tuple(
        replace(
            each,
            reason=f"{each.reason} The diff in `diff` takes it out and keeps what refers to it as it is live. {said}",
        )
        if each.diff
        else each
        for each in left
    )


def _with_plan(report: Report, saved: SavedPlan | None, plan: TerraformPlan | None) -> Report:
    """The report with the plan of its code: the file if it may be applied to the state, and why it exits with 2 if it does."""
    if plan is not None and plan.changes:
        return report
    waits = plan is not None and plan.waiting
    if saved is not None and saved.changes and not waits:
        return replace(report, pending=_UNREAD)
    pending = f"Only the state would change: {waits}. `--no-refresh-state` leaves that to you." if waits else ""
    return replace(report, saved=saved, pending=pending)


def without_partial_resources(drifts: Sequence[Drift], left: Sequence[Left]) -> tuple[list[Drift], list[Left]]:
    """The same without new resources of which any value is left: a block that says less than what is there would change it."""
    short = {entry.wanted.address: entry for entry in left}
    blocks = [drift.wanted for drift in drifts if is_new(drift.wanted) and not is_replacement(drift.wanted)]
    dropped = {wanted.address for wanted in blocks} & short.keys()
    named = [
        Left(
            wanted=drift.wanted,
            reason=f"Its block was not added, because not all of it could be written. {short[drift.wanted.address].reason}",
        )
        for drift in drifts
        if is_new(drift.wanted) and drift.wanted.address in dropped
    ]
    return [drift for drift in drifts if drift.wanted.address not in dropped], [*left, *_new(named, left)]


def _next_round(
    edited: Edited, verified: Verified, drifts: Sequence[Drift], known_left: Sequence[Left], events: Sequence[Event]
) -> tuple[list[Drift], list[Left]]:
    """After a round that did not hold: drift that shows only now, and the values that cannot be proved."""
    unset, refused = divided_by_plan(verified.broken, edited)
    if unset or refused:
        # The rest is tried without them.
        known = {drift.wanted.key: drift for drift in drifts}
        return [replace(known[want.key], wanted=want) for want in unset if want.key in known], list(refused)
    new = [drift for drift in drifts if is_new(drift.wanted)]
    if verified.plan is None and (named := [drift for drift in new if _is_named(drift, verified.broken)]):
        # Terraform names the blocks that it refuses; the rest is tried without them.
        drifts = named
    elif verified.plan is None and len(new) < len(drifts):
        # A new block may be what Terraform refuses; the rest is tried without it.
        drifts = new or drifts
    if verified.plan is None:
        return [], [Left(wanted=drift.wanted, reason=f"It was not written. {verified.broken}") for drift in drifts]
    settled = {entry.wanted.top_key for entry in known_left}
    found, left = classify_foreign_drift(verified.plan, origins(events, verified.plan), settled)
    tried = {drift.wanted.top_key for drift in drifts}
    still_drifted = {drift.wanted.top_key for drift in found} & tried
    unproved = [
        Left(
            wanted=drift.wanted,
            reason=f"It was not written: with the edit, {describe(_changes_of(drift.wanted, verified.plan))}.",
        )
        for drift in drifts
        if drift.wanted.top_key in still_drifted
    ]
    more = [drift for drift in found if drift.wanted.top_key not in tried]
    if not unproved and not more and not left:
        unproved = [Left(wanted=drift.wanted, reason=f"It was not written. {verified.broken}") for drift in drifts]
    return more, [*left, *unproved]


def _waiting(first: TerraformPlan | None, left: Sequence[Left], events: Sequence[Event]) -> list[Drift]:
    """The drift of the unedited code that waited for what is left by now."""
    if first is None:
        return []
    settled = {entry.wanted.top_key for entry in left}
    found, _ = classify_foreign_drift(first, origins(events, first), settled)
    return [drift for drift in found if drift.wanted.top_key not in settled]


def _is_named(drift: Drift, error: str) -> bool:
    """Whether an error of Terraform is about the block of a resource, or about its import."""
    address = parse_address(drift.wanted.address)
    block = f'resource "{address.resource_type}" "{address.name}"' if address is not None else drift.wanted.address
    return block in error or re.search(rf"(?<![\w.]){re.escape(drift.wanted.address)}(?![\w.\[])", error) is not None


def _changes_of(wanted: Wanted, plan: TerraformPlan) -> list[ResourceChange]:
    return [change for change in plan.changes if change.top_key == wanted.top_key]


def _new(entries: Sequence[Left], known: Sequence[Left]) -> list[Left]:
    keys = {entry.wanted.key for entry in known}
    return [entry for entry in entries if entry.wanted.key not in keys]


def _without(drifts: Sequence[Drift], left: Sequence[Left]) -> list[Drift]:
    """The drifts that are not left; of a new resource whose block is left, no value is."""
    keys = {entry.wanted.key for entry in left}
    blocks = {entry.wanted.address for entry in left if is_new(entry.wanted)}
    return [drift for drift in drifts if drift.wanted.key not in keys and drift.wanted.address not in blocks]
