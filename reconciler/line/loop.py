"""The line from a record to a commit. Read this file first.

applied mutation → wanted values → already in code? → edit → proved by a plan → commit on the stack's branch → RECONCILED
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from gateway.core.errors import CodeInvalid
from gateway.core.model.adopt import Adopt
from gateway.core.model.json import Json
from gateway.core.model.masking import PER_RUN
from gateway.core.model.path import WHOLE
from gateway.core.ports import Clock, LedgerCommands, LedgerQueries, RecordQuery
from gateway.core.records.codec import bodies_of
from gateway.core.records.record import Stage
from gateway.core.records.write_backs import ReconciledBody
from gateway.terraform.config.module import load_module
from gateway.terraform.config.sensitive import secret_texts, without_texts
from gateway.terraform.config.source import parsed_once
from gateway.terraform.secrets import masked_text
from reconciler.adoption.model import LeftCreation
from reconciler.changes.applied_mutation import AppliedMutation
from reconciler.changes.backlog import Backlog
from reconciler.changes.classification import (
    ChangePart,
    ClassifiedDrift,
    classify_mutation,
    leave_all,
    set_secrets,
    with_contradicted,
)
from reconciler.errors import BranchConflict, CodeRefused, ForeignCommit
from reconciler.line.combined_mutation import (
    CombinedMutation,
    combined_mutation,
    differing_values,
    files_before,
    prove_unedited,
    restoring_edits,
    with_absent_as_new,
)
from reconciler.line.merged_state import update_merged_state
from reconciler.line.new_blocks import with_new_blocks
from reconciler.line.one_change import OneChange, one_change, prove_together
from reconciler.line.proposal import (
    Proposal,
    WrittenBack,
    comparable_body,
    name_superseding,
    proposal_with_edits,
    proposal_without_edits,
)
from reconciler.line.unread_calls import read_call
from reconciler.model import Edit, Wanted, is_replacement
from reconciler.proof.code_copies import link_downloaded, select_workspace, temporarily_written
from reconciler.proof.declarations import Declaration, read_declared
from reconciler.proof.other_roots import other_roots
from reconciler.proof.proved_edit import (
    DeclaredCache,
    ProofContext,
    undeclared_values,
    without_replaced,
)
from reconciler.proof.suggested_edits import SuggestionRounds
from reconciler.publish.branch import Branch, add_untracked_files, open_branch, open_protected
from reconciler.publish.commit_message import CodeBefore
from reconciler.publish.git import branch_tip, mutations_in, protected_head
from reconciler.rewrite.json_syntax.nested_blocks import learn_nested_blocks
from reconciler.rewrite.surroundings import surroundings
from reconciler.terraform.cli import Terraform
from reconciler.terraform.live_reads import LiveReads
from reconciler.terraform.plan import ResourceChange, TerraformPlan, plan_of
from reconciler.terraform.plugin.warm import warm_provider
from reconciler.terraform.refresh import Refreshed
from reconciler.terraform.state import read_recorded

_PLAN_LASTS: Final = timedelta(minutes=1)


@dataclass(slots=True)
class LastPlan:
    """The last plan of the protected code, and when it was begun."""

    at: datetime | None = None
    plan: TerraformPlan | None = None
    """None if it was empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What may be one change with a mutation."""

    changes: tuple[AppliedMutation, ...] = ()
    """Changes that are to be written back too."""
    unwritten: tuple[LeftCreation, ...] = ()
    """What was created outside and is not to be written: a value that names it is not written alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Writes the mutations of one stack back into its code."""

    stack: str
    source: Path
    """The stack's root module in the user's checkout; only read."""
    protected: str = "HEAD"
    """The protected branch's ref in the user's repository."""
    state: Path | None
    branch: str
    worktree: Path
    terraform: Terraform
    queries: LedgerQueries
    commands: LedgerCommands
    clock: Clock
    frozen: tuple[str, ...] = ()
    """Directories of the repository with somebody else's code, beside those named `vendor` and the like."""
    states: Mapping[Path, Path] = field(default_factory=dict)
    """The state files of other stacks by their root module's directory."""
    declared_cache: DeclaredCache
    """The last plan of the unedited branch, for values whose declaration only a plan can show."""
    asked: SuggestionRounds | None = None
    """Suggestions for values that no editor can write; None: there are none."""
    last_plan: LastPlan = field(default_factory=LastPlan, compare=False)
    refresh_state: bool = True
    """Whether the state is brought up to date when the protected branch has taken a value in."""
    adopt: Adopt = Adopt.LINKED
    """Which resources that were created beside the code are written into it."""

    async def reconcile(self, applied: AppliedMutation, backlog: Backlog) -> ReconciledBody:
        """Run the whole line for one mutation, and those that are one change with it; returns the body of its RECONCILED record."""
        proposal = await self.prove(applied, backlog)
        written = await self.publish(applied, backlog, proposal)
        await self.record_all(applied.id, written)
        return written.body

    def without_code(self, applied: AppliedMutation, backlog: Backlog) -> Proposal | None:
        """The proposal for a mutation that leaves nothing to write, found without git and terraform; None if a value is to be written, or
        if the code has to be read to tell.
        """
        classified = classify_mutation(applied, superseded=backlog.superseded(applied))
        if applied.elsewhere:
            done = f"It was written into the code of the stack {applied.elsewhere}."
            return replace(proposal_without_edits(ClassifiedDrift(), nothing_to_do=done), corrects=applied.corrects)
        if applied.unread is not None or set_secrets(classified):
            return None
        return _without_code(applied, classified)

    @asynccontextmanager
    async def with_provider(self) -> AsyncIterator["Line"]:
        """This line with one provider process for all its plans until the block ends. The process belongs to the event loop that asks."""
        async with warm_provider(self.terraform.environment, background=self.terraform.background) as warm:
            yield replace(self, terraform=replace(self.terraform, warm=warm))

    async def prove(self, applied: AppliedMutation, backlog: Backlog, beside: Beside | None = None) -> Proposal:
        """Edits with all their proofs; nothing is committed yet.

        `beside` are changes that may be one with it; by default the mutations of its session. Raises `errors.TerraformFailed`, `errors.TerraformMissing` or `errors.GitFailed` for what may be temporary: try again later.
        """
        if applied.unread is not None:
            return await self._prove_unread(applied, backlog)
        classified = classify_mutation(applied, superseded=backlog.superseded(applied))
        classified = await self._with_contradicted_secrets(classified)
        if proposal := _without_code(applied, classified):
            return replace(proposal, tried=await self.circumstances(applied, backlog) if proposal.left else {})
        tried = await self.circumstances(applied, backlog)
        try:
            branch = await self._branch(backlog)
        except (BranchConflict, ForeignCommit) as error:
            left = leave_all(classified.wanted, str(error))
            tried = {**tried, "branch": await self.tip()}
            return replace(proposal_without_edits(classified, left=left), tried=tried, corrects=applied.corrects)
        try:
            with parsed_once():
                proposal = await self._propose(branch, applied, backlog, classified, beside)
        except CodeRefused as error:
            proposal = proposal_without_edits(classified, left=leave_all(classified.wanted, str(error)))
        with_tried = {
            mutation: replace(each, tried={**tried, **backlog.circumstances(backlog.decided[mutation])})
            if each.left and mutation in backlog.decided
            else each
            for mutation, each in proposal.beside.items()
        }
        return replace(proposal, tried=tried if proposal.left else {}, corrects=applied.corrects, beside=with_tried)

    async def _prove_unread(self, applied: AppliedMutation, backlog: Backlog) -> Proposal:
        """The proposal for a call that nobody understood: what differs now is what it did. Raises as `prove`."""
        if applied.id in await mutations_in(self.source, self.protected):
            named = proposal_without_edits(
                ClassifiedDrift(), nothing_to_do="A commit of the protected branch names it.", merged=True
            )
            return replace(named, corrects=applied.corrects)
        try:
            plan = await self._plan_since(applied.settled_at)
        except CodeRefused as error:
            left = leave_all([Wanted(address=applied.operation, attribute=WHOLE, value=None)], str(error))
            proposal = proposal_without_edits(ClassifiedDrift(), left=left)
        else:
            read = await read_call(applied, plan, backlog, self.queries)
            proposal = proposal_without_edits(ClassifiedDrift(left=read.left), nothing_to_do=read.nothing_to_do)
            if read.applied.effects or applied.call is not None:
                shown = await self.prove(replace(read.applied, unread=None), backlog)
                found = any(each.wanted.address != applied.operation for each in shown.left)
                if shown.edits or found or read.applied.effects:
                    proposal = replace(shown, left=(*shown.left, *(() if read.is_unseen else read.left)))
        tried = await self.circumstances(applied, backlog) if proposal.left else {}
        return replace(proposal, tried=tried, corrects=applied.corrects)

    async def _plan_since(self, settled: datetime) -> TerraformPlan | None:
        """The plan of the protected code after this time. Calls that were applied one after another share one for a minute."""
        now = self.clock.now()
        if self.last_plan.at is None or not settled < self.last_plan.at or now - self.last_plan.at > _PLAN_LASTS:
            self.last_plan.plan = await self.plan_protected()
            self.last_plan.at = now
        return self.last_plan.plan

    async def _with_contradicted_secrets(self, classified: ClassifiedDrift) -> ClassifiedDrift:
        """The same, with the secrets left to a person that the code declares otherwise: the next apply would set them back."""
        secrets = set_secrets(classified)
        if not secrets:
            return classified
        try:
            found = read_declared(await self.protected_root(), secrets)
        except CodeInvalid:
            return classified
        stated = [want for want, code in zip(secrets, found, strict=True) if code.value is not None]
        plan = await self.plan_protected() if stated else None
        differing = {change.top_key for change in plan.changes} if plan is not None else set()
        return with_contradicted(classified, [want for want in stated if want.top_key in differing])

    async def circumstances(self, applied: AppliedMutation, backlog: Backlog) -> dict[str, Json]:
        """On what it may hang that something is left to a human: the protected commit, and later mutations that change the same.

        A branch that may not be written adds its commit. While all of them are the same, trying again would end the same way.
        Raises `errors.GitFailed`.
        """
        return {"protected": await self.protected_head(), **backlog.circumstances(applied)}

    async def tip(self) -> str:
        """The unchecked commit of the stack's branch; empty if there is none. Raises `errors.GitFailed`."""
        return await branch_tip(self.source, self.branch)

    async def _propose(
        self,
        branch: Branch,
        applied: AppliedMutation,
        backlog: Backlog,
        classified: ClassifiedDrift,
        beside: Beside | None,
    ) -> Proposal:
        commit = await branch.find(applied.id, corrects=applied.corrects)
        head = await branch.head()
        await learn_nested_blocks(self.terraform, branch.root)
        around = await asyncio.to_thread(surroundings, branch.root, branch.worktree, self.frozen)
        context = replace(
            self._context(branch, applied, backlog),
            around=around,
            others=other_roots(around, branch.top, self.terraform, self.states),
        )
        if commit:
            # What its blocks declare by now is not left any more.
            found = await with_new_blocks(context, [ChangePart(applied=applied, classified=classified)], self.adopt)
            return proposal_without_edits(found.parts[0].classified, commit=commit)
        combined = await combined_mutation(context, applied, backlog, classified)
        if combined.classified.again:
            return replace(await self._propose_replacement(branch, context, combined, backlog), base=head)
        first = ChangePart(applied=applied, classified=combined.classified)
        given = beside if beside is not None else Beside(changes=backlog.of_session(applied))
        change = await one_change(context, first, given.changes, backlog, self.adopt, unwritten=given.unwritten)
        replaced = [want.address for want in change.wanted if is_replacement(want)]
        cache = DeclaredCache() if replaced else self.declared_cache
        async with without_replaced(context, replaced) as inside:
            missing = await undeclared_values(inside, cache, change.whole, change.wanted, head=head)
            if any(change.first.has(want) for want in missing):
                proved = await self._proved(branch, inside, change, backlog, missing=missing)
                return replace(proved, base=head) if proved.files else proved
        classified = change.first.classified
        known = "" if classified.left and not classified.wanted else "The code declares the value already."
        return proposal_without_edits(classified, nothing_to_do=known, merged=bool(known) and await branch.is_merged())

    async def _propose_replacement(
        self, branch: Branch, context: ProofContext, combined: CombinedMutation, backlog: Backlog
    ) -> Proposal:
        """What the code does not say of resources that were created again, and their blocks, if our own branch dropped them."""
        before = await files_before(branch, combined, backlog)
        applied, first = combined.applied, restoring_edits(before, combined, backlog.committed)
        with temporarily_written(branch.root, before):
            classified = await with_absent_as_new(context, combined.classified)
            found = await with_new_blocks(context, [ChangePart(applied=applied, classified=classified)], self.adopt)
            classified = found.parts[0].classified
            replaced = [want.address for want in classified.wanted if is_replacement(want)]
            async with without_replaced(context, replaced) as inside:
                missing = await undeclared_values(inside, DeclaredCache(), applied, classified.wanted, head="")
                missing += await differing_values(inside, classified, classified.wanted)
                if not (missing or before):
                    return proposal_without_edits(classified, nothing_to_do="The code declares the value already.")
                change = OneChange(parts=(ChangePart(applied=applied, classified=classified),))
                proposal = await self._proved(branch, inside, change, backlog, missing=missing, first=first)
        return replace(proposal, files={**before, **proposal.files}) if proposal.edits else proposal

    async def _proved(
        self,
        branch: Branch,
        context: ProofContext,
        change: OneChange,
        backlog: Backlog,
        *,
        missing: Sequence[Wanted],
        first: tuple[Edit, ...] = (),
    ) -> Proposal:
        """The proved edits for what the code on the branch does not declare, after the edits `first`, which it has already."""
        before = _declared_before(branch.root, missing)

        def explain(shown: ResourceChange) -> str:
            return change.explain(shown, backlog)

        proved = await (
            prove_together(context, change, missing, explain=explain)
            if missing
            else prove_unedited(context, first, explain)
        )
        there = [path for path in proved.edited.files if (branch.root / path).exists()]
        if untracked := set(there) - await branch.tracked(there):
            own = [want for want in missing if change.first.has(want)]
            return proposal_without_edits(change.first.classified, left=leave_all(own, _not_in_git(untracked)))
        proposal = proposal_with_edits(change, proved, first, before=before)
        beside = {
            part.applied.id: name_superseding(proposal.beside[part.applied.id], backlog.superseded(part.applied))
            for part in change.parts
            if part.applied.id in proposal.beside
        }
        return replace(name_superseding(proposal, backlog.superseded(change.first.applied)), beside=beside)

    def _context(self, branch: Branch, applied: AppliedMutation, backlog: Backlog) -> ProofContext:
        async def catch_up() -> None:
            await backlog.read(self.queries)

        return ProofContext(
            terraform=self.terraform,
            root=branch.root,
            state=self.state,
            catch_up=catch_up,
            changed_since=lambda want: backlog.changed_since(want, applied),
            asked=self.asked,
            recorded=lambda: read_recorded(self.terraform, branch.root, self.state),
        )

    async def publish(
        self, applied: AppliedMutation, backlog: Backlog, proposal: Proposal, beside: Beside | None = None
    ) -> WrittenBack:
        """Commit the proposal once and return the bodies of RECONCILED.

        A commit that an earlier run made is found by its trailer. If the branch moved on since the proof, prove again; `beside` is as for
        `prove`.
        """
        if not proposal.files and not proposal.commit:
            return proposal.written_back(branch=self.branch, commit="", diff="")
        try:
            branch = await self._branch(backlog)
        except (BranchConflict, ForeignCommit):
            left = await self.prove(applied, backlog, beside)  # the branch was moved since the proof
            return left.written_back(branch=self.branch, commit="", diff="")
        commit = await branch.find(applied.id, corrects=applied.corrects)
        if not commit and await branch.head() != proposal.base:
            proposal = await self.prove(applied, backlog, beside)
        if not commit and proposal.files:
            commit = await branch.commit(proposal.files, proposal.message)
        # The lines around an edit are somebody's code, which may hold a secret, and the record is read by many.
        diff = await _shown(branch, commit) if commit else ""
        return proposal.written_back(branch=self.branch, commit=commit, diff=diff)

    async def record_all(self, mutation: str, written: WrittenBack) -> None:
        """Append RECONCILED for a mutation and for each that is one change with it, as `record` does."""
        for each, body in {mutation: written.body, **written.beside}.items():
            await self.record(each, body)

    async def record(self, mutation: str, body: ReconciledBody) -> None:
        """Append RECONCILED, unless an earlier run did so before it was killed, or a correction would only say the same again."""
        reports = await self.queries.records(RecordQuery(mutation_id=mutation, stage=Stage.RECONCILED))
        earlier = [each for each in reports if each.stack == self.stack]
        if not body.corrects:
            needed = not earlier
        else:
            done = any(each.corrects == body.corrects for each in bodies_of(earlier, ReconciledBody))
            corrected = bodies_of((record for record in earlier if record.seq == body.corrects), ReconciledBody)
            needed = not done and not any(comparable_body(body) == comparable_body(each) for each in corrected)
        if needed:
            await self.commands.record_reconciliation(mutation, at=self.clock.now(), body=body, stack=self.stack)

    async def read_live(self, targets: list[str]) -> Refreshed:
        """The live attributes of resources, read with the protected code: whatever our branch holds, it must not stand in the way.

        Raises `errors.GitFailed`, `errors.TerraformFailed`, `errors.TerraformMissing`, `errors.CodeRefused`.
        """
        protected = await open_protected(
            source=self.source, worktree=self.worktree.with_name("protected"), protected=self.protected
        )
        await add_untracked_files(protected)
        async with LiveReads.beside(self.terraform) as reads:
            return await reads.refresh(protected.root, state=self.state, targets=targets)

    async def protected_root(self) -> Path:
        """The root module of the protected code, in a worktree of its own, ready to be planned. Raises `errors.GitFailed`."""
        protected = await open_protected(
            source=self.source, worktree=self.worktree.with_name("protected"), protected=self.protected
        )
        await add_untracked_files(protected)
        return protected.root

    async def plan_protected(self) -> TerraformPlan | None:
        """The plan of the protected code; None if it is empty. Raises as `read_live`."""
        return await plan_of(self.terraform, await self.protected_root(), self.state)

    async def protected_head(self) -> str:
        """The protected branch's commit. Raises `errors.GitFailed`."""
        return await protected_head(self.source, self.protected)

    async def record_merges(self, backlog: Backlog) -> None:
        """Record which committed mutations the protected branch now contains; this ends their claims."""
        merged = await mutations_in(self.source, self.protected)
        taken_in = {key: commit for key, commit in backlog.committed.items() if key in merged}
        state = await self._update_state(list(taken_in)) if taken_in and self.refresh_state else {}
        for key, commit in taken_in.items():
            mutation, _, corrects = key.partition("@")
            body = ReconciledBody(merged=True, branch=self.branch, commit=commit, corrects=int(corrects or 0), **state)
            await self.commands.record_reconciliation(mutation, at=self.clock.now(), body=body, stack=self.stack)

    async def _update_state(self, keys: list[str]) -> dict[str, Any]:
        """Bring the state up to date with the protected code; what the record of the merge says about it. Raises `errors.GitFailed`."""
        addresses: set[str] = set()
        for key in keys:
            query = RecordQuery(mutation_id=key.partition("@")[0], stage=Stage.RECONCILED)
            own = [each for each in await self.queries.records(query) if each.stack == self.stack]
            for body in bodies_of(own, ReconciledBody):
                addresses |= body.edited_addresses
        failed = await self.update_state(sorted(addresses))
        return {"state_not_refreshed": failed} if failed else {"state_refreshed": True}

    async def update_state(self, addresses: Sequence[str]) -> str:
        """Bring the state up to date with the protected code, in which the addresses are as they are live now; why not, if not.

        Raises `errors.GitFailed`.
        """
        root = await self.protected_root()
        return await update_merged_state(self.terraform, root, state=self.state, addresses=addresses)

    async def _branch(self, backlog: Backlog) -> Branch:
        branch = await open_branch(
            source=self.source,
            worktree=self.worktree,
            name=self.branch,
            protected=self.protected,
            recorded=frozenset(backlog.commits),
        )
        await add_untracked_files(branch)
        link_downloaded(branch.root, self.terraform.plugin_data)
        select_workspace(branch.root, self.terraform.plugin_data, self.terraform.workspace)
        return branch


def _without_code(applied: AppliedMutation, classified: ClassifiedDrift) -> Proposal | None:
    return None if classified.concerns_code else replace(proposal_without_edits(classified), corrects=applied.corrects)


async def _shown(branch: Branch, commit: str) -> str:
    """The diff of a commit without secrets: those that the code marks as sensitive, and those of a known form. Empty if nobody can tell."""
    diff = await branch.diff(commit)
    try:
        secrets = await asyncio.to_thread(lambda: secret_texts(load_module(branch.root)))
    except CodeInvalid:
        return ""
    return masked_text(without_texts(diff, secrets), PER_RUN)


def _declared_before(root: Path, wanted: Sequence[Wanted]) -> CodeBefore:
    """What the code declares for each value, without those that hang on the live system."""
    found = zip(wanted, read_declared(root, wanted), strict=True)
    return {want.key: code.value for want, code in found if code.says is not Declaration.UNSURE}


def _not_in_git(paths: set[Path]) -> str:
    return f"The value stands in {', '.join(sorted(map(str, paths)))}, which is not in git, so it cannot be committed."
