"""Writes a resource back that was deleted and created again through the gate: the two mutations become one change of its block."""

import asyncio
import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from gateway.core.model.json import Json
from gateway.core.model.path import WHOLE, overlaps
from gateway.terraform.config.module import load_module
from reconciler.changes.applied_mutation import AppliedMutation
from reconciler.changes.backlog import Backlog
from reconciler.changes.classification import ClassifiedDrift, classify_mutation
from reconciler.changes.replacements import (
    Recorded,
    as_replacement,
    at_deleted_address,
    creates_resource,
    deleted_addresses,
    earlier_creation,
)
from reconciler.errors import GitFailed
from reconciler.model import REPLACES, TAKEN_BACK, Edit, Edited, Left, Wanted
from reconciler.proof.proofs import Explain, verify
from reconciler.proof.proved_edit import ProofContext, ProvedEdit
from reconciler.publish.branch import Branch
from reconciler.publish.git import git


@dataclass(frozen=True, slots=True, kw_only=True)
class CombinedMutation:
    """A mutation, together with the deletion or the creation that makes one replacement with it."""

    applied: AppliedMutation
    classified: ClassifiedDrift
    recorded: Recorded
    """The state's resources, as far as they were asked for."""


async def combined_mutation(
    context: ProofContext, applied: AppliedMutation, backlog: Backlog, classified: ClassifiedDrift
) -> CombinedMutation:
    """The mutation as it is, or with the deletion before it, or with the creation before it, as one replacement.

    A deletion whose creation still waits is superseded by that one.
    """
    deletions = {address: each for address, each in backlog.deletions.items() if each != applied.id}
    related = (creates_resource(applied) and (deletions or classified.again)) or (
        deleted_addresses(applied) and backlog.creations
    )
    if not related or context.recorded is None:
        return CombinedMutation(applied=applied, classified=classified, recorded={})
    recorded = await context.recorded()
    combined = at_deleted_address(applied, deletions, recorded)
    if before := earlier_creation(applied, list(backlog.creations.values()), recorded):
        if any(each.id == before.creation.id for each in backlog.pending()):
            kept = Left(
                wanted=Wanted(address=before.address, attribute=WHOLE, value=None),
                reason=f"{before.creation.id} created it again: both are written back as one replacement.",
                superseded_by=before.creation.id,
            )
            return CombinedMutation(applied=applied, classified=ClassifiedDrift(kept_out=(kept,)), recorded=recorded)
        combined = as_replacement(applied, before, recorded)
    again = classified if combined == applied else classify_mutation(combined, superseded=backlog.superseded(combined))
    wanted = (*_imports(again, recorded), *again.wanted)
    return CombinedMutation(applied=combined, classified=replace(again, wanted=wanted), recorded=recorded)


def _imports(classified: ClassifiedDrift, recorded: Recorded) -> Iterator[Wanted]:
    """The imports of what has another id than the state has, or is not in it."""
    for address, created in classified.again:
        old = str(recorded.get(address, {}).get("id") or "")
        if created is not None and created.import_id != old:
            yield Wanted(address=address, attribute=WHOLE, value={"import_id": created.import_id, REPLACES: old})


async def files_before(branch: Branch, combined: CombinedMutation, backlog: Backlog) -> Mapping[Path, bytes]:
    """The files of the branch as they were before the commits of the mutations that are combined with this one.

    A commit that has the edits of other mutations too stays.
    """
    files: Mapping[Path, bytes] = {}
    commits = Counter(backlog.committed.values())
    for mutation in combined.applied.together:
        commit = backlog.committed.get(mutation, "")
        if commits[commit] == 1:
            files = {**files, **await files_without(branch, commit)}
    return files


async def with_absent_as_new(context: ProofContext, classified: ClassifiedDrift) -> ClassifiedDrift:
    """The same, with what the code does not have any more as new resources: the deletion is merged, or its commit cannot be taken back."""
    module = await asyncio.to_thread(load_module, context.root)
    absent = {address for address, _ in classified.again if module.instance(address) is None}
    if not absent:
        return classified
    return replace(
        classified,
        again=tuple(each for each in classified.again if each[0] not in absent),
        created=tuple((address, made) for address, made in classified.again if made is not None and address in absent),
        wanted=tuple(each for each in classified.wanted if each.address not in absent),
        left=(*classified.left, *(_by_hand(each) for each in sorted(absent))),
    )


def _by_hand(address: str) -> Left:
    reason = f"{address} was created again, and the code does not have its block any more: add the block and an import."
    return Left(wanted=Wanted(address=address, attribute=WHOLE, value=None), reason=reason)


async def differing_values(
    context: ProofContext, classified: ClassifiedDrift, known: Sequence[Wanted]
) -> tuple[Wanted, ...]:
    """The values in which the code differs from resources that were created again under their old id, except the `known` ones.

    The call does not say what AWS gave them by itself, so a plan is asked. Raises as `ProofContext.plan`.
    """
    imported = {want.address for want in known if want.attribute == WHOLE}
    addresses = {address for address, _ in classified.again} - imported
    plan = await context.plan() if addresses else None
    if plan is None:
        return ()
    return tuple(
        Wanted(address=change.address, attribute=change.attribute, value=change.live, before=change.other)
        for change in plan.changes
        if change.address in addresses
        and not (change.attribute == WHOLE or change.sensitive or plan.is_open(change))
        and not any(want.address == change.address and overlaps(want.attribute, change.attribute) for want in known)
    )


async def prove_unedited(context: ProofContext, edits: Sequence[Edit], explain: Explain) -> ProvedEdit:
    """The proofs of code that is as it was before and needs no other edit; else what speaks against it."""
    verified = await verify(
        context.terraform, context.root, edited=Edited(), before={}, state=context.state, explain=explain,
        catch_up=context.catch_up,
    )  # fmt: skip
    if verified.holds:
        return ProvedEdit(proofs=verified.proofs)
    reason = f"It was not written. {verified.broken}"
    return ProvedEdit(left=tuple(Left(wanted=each.wanted, reason=reason) for each in edits[:1]))


def restoring_edits(
    files: Collection[Path], combined: CombinedMutation, commits: Mapping[str, str]
) -> tuple[Edit, ...]:
    """The files that are as before a commit, as edits: who did what is said with them. Their bytes are those of that commit."""
    address = next((address for address, _ in combined.classified.again), "")
    named = [(each, commits[each]) for each in combined.applied.together if each in commits]
    value: dict[str, Json] = {TAKEN_BACK: [commit for _, commit in named]}
    chain = tuple(f"{each} is taken back with its commit {commit}: the resource was replaced" for each, commit in named)
    wanted = Wanted(address=address, attribute=WHOLE, value=value)
    return tuple(Edit(path=path, start=0, end=0, old=b"", new=b"", wanted=wanted, chain=chain) for path in files)


async def files_without(branch: Branch, commit: str) -> Mapping[Path, bytes]:
    """The changed files without the commit, by path relative to the stack; none if it cannot be taken out of them."""
    try:
        listed = await git(
            branch.worktree, "diff-tree", "--no-commit-id", "--name-only", "-r", "-z", f"{commit}^", commit, "--"
        )
        names = [name for name in listed.split("\0") if name]
        return {_relative(branch, name): await _without(branch.worktree, commit, name) for name in names}
    except GitFailed:
        return {}


def _relative(branch: Branch, name: str) -> Path:
    """The path from the stack's directory of a file that git names from the top: a module may stand beside the stack."""
    return Path(os.path.relpath(name, branch.prefix.as_posix()))


async def _without(worktree: Path, commit: str, name: str) -> bytes:
    """One file as it is at the branch's commit, with the change of `commit` undone. Raises `errors.GitFailed` for a conflict."""
    with TemporaryDirectory() as directory:
        for number, revision in enumerate(("HEAD", commit, f"{commit}^")):
            content = await git(worktree, "show", "--no-textconv", f"{revision}:{name}")
            (Path(directory) / str(number)).write_bytes(content.encode())
        return (await git(Path(directory), "merge-file", "-p", "0", "1", "2")).encode()
