"""Writes a resource back that was deleted and created again through the gate: the two mutations become one change of its block."""

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gateway.model.json import Json
from gateway.model.mutation import WHOLE
from gateway.terraform.config.module import load_module
from reconciler.backlog import Backlog
from reconciler.drift.applied import AppliedMutation
from reconciler.drift.classify import ClassifiedDrift, classify_mutation
from reconciler.drift.made_again import Recorded, as_replacement, creates, deleted_by, in_place, made_before
from reconciler.last_changes import overlaps
from reconciler.model import REPLACES, TAKEN_BACK, Edit, Edited, Left, Wanted
from reconciler.proof.proofs import Explain, verify
from reconciler.proof.propose import ProofContext, ProvedEdit
from reconciler.publish.git import Branch
from reconciler.publish.taken_back import taken_back


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A mutation together with those that tell one story with it."""

    applied: AppliedMutation
    classified: ClassifiedDrift
    recorded: Recorded
    """The state's resources, as far as they were asked for."""


async def told_together(
    context: ProofContext, applied: AppliedMutation, backlog: Backlog, classified: ClassifiedDrift
) -> Told:
    """The mutation as it is, or with the deletion before it, or with the creation before it, as one replacement.

    A deletion whose creation still waits is superseded by that one.
    """
    deletions = {address: each for address, each in backlog.deletions.items() if each != applied.id}
    related = (creates(applied) and (deletions or classified.again)) or (deleted_by(applied) and backlog.creations)
    if not related or context.recorded is None:
        return Told(applied=applied, classified=classified, recorded={})
    recorded = await context.recorded()
    told = in_place(applied, deletions, recorded)
    if before := made_before(applied, list(backlog.creations.values()), recorded):
        if any(each.id == before.creation.id for each in backlog.pending()):
            kept = Left(
                wanted=Wanted(address=before.address, attribute=WHOLE, value=None),
                reason=f"{before.creation.id} created it again: both are written back as one replacement.",
                superseded_by=before.creation.id,
            )
            return Told(applied=applied, classified=ClassifiedDrift(kept_out=(kept,)), recorded=recorded)
        told = as_replacement(applied, before, recorded)
    again = classify_mutation(told, superseded=backlog.superseded(told))
    wanted = (*_imports(again, recorded), *again.wanted)
    return Told(applied=told, classified=replace(again, wanted=wanted), recorded=recorded)


def _imports(classified: ClassifiedDrift, recorded: Recorded) -> Iterator[Wanted]:
    """The imports of what has another id than the state has, or is not in it."""
    for address, created in classified.again:
        old = str(recorded.get(address, {}).get("id") or "")
        if created is not None and created.import_id != old:
            yield Wanted(address=address, attribute=WHOLE, value={"import_id": created.import_id, REPLACES: old})


async def without_earlier(branch: Branch, told: Told, backlog: Backlog) -> Mapping[Path, bytes]:
    """The files of the branch as they were before the commits of the mutations that tell one story with this one."""
    files: Mapping[Path, bytes] = {}
    for mutation in told.applied.together:
        if commit := backlog.committed.get(mutation):
            files = {**files, **await taken_back(branch, commit)}
    return files


async def as_new(context: ProofContext, classified: ClassifiedDrift) -> ClassifiedDrift:
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


async def differing(context: ProofContext, classified: ClassifiedDrift, known: Sequence[Wanted]) -> tuple[Wanted, ...]:
    """What the code says otherwise of resources that were created again under their old id, beside what is `known`.

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


async def as_before(context: ProofContext, edits: Sequence[Edit], explain: Explain) -> ProvedEdit:
    """The proofs of code that is as it was before and needs no other edit; else what speaks against it."""
    verified = await verify(
        context.terraform, context.root, edited=Edited(), before={}, state=context.state, explain=explain,
        catch_up=context.catch_up,
    )  # fmt: skip
    if verified.holds:
        return ProvedEdit(proofs=verified.proofs)
    reason = f"It was not written. {verified.broken}"
    return ProvedEdit(left=tuple(Left(wanted=each.wanted, reason=reason) for each in edits[:1]))


def edits_of(files: Collection[Path], told: Told, commits: Mapping[str, str]) -> tuple[Edit, ...]:
    """The files that are as before a commit, as edits: who did what is said with them. Their bytes are those of that commit."""
    address = next((address for address, _ in told.classified.again), "")
    named = [(each, commits[each]) for each in told.applied.together if each in commits]
    value: dict[str, Json] = {TAKEN_BACK: [commit for _, commit in named]}
    chain = tuple(f"{each} is taken back with its commit {commit}: the resource was replaced" for each, commit in named)
    wanted = Wanted(address=address, attribute=WHOLE, value=value)
    return tuple(Edit(path=path, start=0, end=0, old=b"", new=b"", wanted=wanted, chain=chain) for path in files)
