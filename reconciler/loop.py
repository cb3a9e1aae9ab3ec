"""The line from a record to a commit. Read this file first.

applied mutation → wanted values → already in code? → edit → proved by a plan → commit on the stack's branch → RECONCILED
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gateway.model.json import Json
from gateway.model.masking import PER_RUN
from gateway.model.record import Stage
from gateway.ports import Clock, LedgerCommands, LedgerQueries, RecordQuery
from gateway.terraform.secrets import masked_text
from reconciler.backlog import Backlog
from reconciler.commit_message import commit_message
from reconciler.drift.applied import AppliedMutation
from reconciler.drift.classify import ClassifiedDrift, all_left, classify_mutation
from reconciler.errors import BranchConflict, CodeRefused, ForeignCommit
from reconciler.model import Left, ProposedEdit
from reconciler.proof.propose import ProofContext, ProvedEdit, propose
from reconciler.proof.undeclared import DeclaredCache, undeclared
from reconciler.proposal import Proposal
from reconciler.publish.git import Branch, mutations_in, open_branch, open_protected, protected_head
from reconciler.publish.worktree_files import add_untracked_files
from reconciler.terraform.cli import Terraform
from reconciler.terraform.refreshed import Refreshed


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
    declared_cache: DeclaredCache
    """The last plan of the unedited branch, for values whose declaration only a plan can show."""

    async def reconcile(self, applied: AppliedMutation, backlog: Backlog) -> Mapping[str, Json]:
        """Run the whole line for one mutation; returns the body of its RECONCILED record."""
        proposal = await self.prove(applied, backlog)
        body = await self.publish(applied, backlog, proposal)
        await self.record(applied, body)
        return body

    async def prove(self, applied: AppliedMutation, backlog: Backlog) -> Proposal:
        """Edits with all their proofs; nothing is committed yet.

        Raises `errors.TerraformFailed`, `errors.TerraformMissing` or `errors.GitFailed` for what may be temporary: try again later.
        """
        classified = classify_mutation(applied, superseded=backlog.superseded(applied))
        try:
            branch = await self._branch(backlog)
        except (BranchConflict, ForeignCommit) as error:
            return _without_edits(classified, left=all_left(classified.wanted, str(error)))
        if (commit := await branch.find(applied.id)) or not classified.wanted:
            return _without_edits(classified, commit=commit)
        try:
            return await self._propose(branch, applied, backlog, classified)
        except CodeRefused as error:
            return _without_edits(classified, left=all_left(classified.wanted, str(error)))

    async def _propose(
        self, branch: Branch, applied: AppliedMutation, backlog: Backlog, classified: ClassifiedDrift
    ) -> Proposal:
        head = await branch.head()
        context = ProofContext(terraform=self.terraform, root=branch.root, state=self.state)
        missing = await undeclared(context, self.declared_cache, applied, classified.wanted, head=head)
        if not missing:
            return _without_edits(
                classified, nothing_to_do="The code declares the value already.", merged=await branch.is_merged()
            )
        proved = await propose(
            context, missing, explain=lambda change: classified.explain(change) or backlog.explain(change, applied)
        )
        if untracked := set(proved.edited.files) - await branch.tracked(list(proved.edited.files)):
            return _without_edits(classified, left=all_left(missing, _not_in_git(untracked)))
        return _with_edits(classified, proved, applied, base=head)

    async def publish(self, applied: AppliedMutation, backlog: Backlog, proposal: Proposal) -> dict[str, Json]:
        """Commit the proposal once and return the body of RECONCILED.

        A commit that an earlier run made is found by its trailer. If the branch moved on since the proof, prove again.
        """
        if not proposal.files and not proposal.commit:
            return proposal.record_body(branch=self.branch, commit="", diff="")
        try:
            branch = await self._branch(backlog)
        except (BranchConflict, ForeignCommit):
            left = await self.prove(applied, backlog)  # the branch was moved since the proof
            return left.record_body(branch=self.branch, commit="", diff="")
        commit = await branch.find(applied.id)
        if not commit and await branch.head() != proposal.base:
            proposal = await self.prove(applied, backlog)
        if not commit and proposal.files:
            commit = await branch.commit(proposal.files, proposal.message)
        # The lines around an edit are somebody's code, which may hold a secret, and the record is read by many.
        diff = masked_text(await branch.diff(commit), PER_RUN) if commit else ""
        return proposal.record_body(branch=self.branch, commit=commit, diff=diff)

    async def record(self, applied: AppliedMutation, body: Mapping[str, Json]) -> None:
        """Append RECONCILED, unless an earlier run did so before it was killed."""
        query = RecordQuery(mutation_id=applied.id, stage=Stage.RECONCILED, limit=1)
        if not await self.queries.records(query):
            await self.commands.record_reconciliation(applied.id, at=self.clock.now(), body=body)

    async def read_live(self, targets: list[str]) -> Refreshed:
        """The live attributes of resources, read with the protected code: whatever our branch holds, it must not stand in the way.

        Raises `errors.GitFailed`, `errors.TerraformFailed`, `errors.TerraformMissing`, `errors.CodeRefused`.
        """
        protected = await open_protected(
            source=self.source, worktree=self.worktree.with_name("protected"), protected=self.protected
        )
        await add_untracked_files(protected)
        return await self.terraform.refresh(protected.root, state=self.state, targets=targets)

    async def protected_head(self) -> str:
        """The protected branch's commit. Raises `errors.GitFailed`."""
        return await protected_head(self.source, self.protected)

    async def record_merges(self, backlog: Backlog) -> None:
        """Record which committed mutations the protected branch now contains; this ends their claims."""
        for mutation in backlog.committed & await mutations_in(self.source, self.protected):
            await self.commands.record_reconciliation(mutation, at=self.clock.now(), body={"merged": True})

    async def _branch(self, backlog: Backlog) -> Branch:
        branch = await open_branch(
            source=self.source,
            worktree=self.worktree,
            name=self.branch,
            protected=self.protected,
            recorded=frozenset(backlog.commits),
        )
        await add_untracked_files(branch)
        return branch


def _with_edits(classified: ClassifiedDrift, proved: ProvedEdit, applied: AppliedMutation, *, base: str) -> Proposal:
    edits = proved.edited.edits
    return Proposal(
        base=base,
        message=commit_message(applied, edits) if edits else "",
        files=proved.edited.files,
        edits=tuple(ProposedEdit(path=edit.path, wanted=edit.wanted, chain=edit.chain) for edit in edits),
        proofs=proved.proofs,
        left=(*classified.left, *proved.left),
        kept_out=classified.kept_out,
    )


def _without_edits(
    classified: ClassifiedDrift,
    *,
    left: tuple[Left, ...] = (),
    nothing_to_do: str = "",
    merged: bool = False,
    commit: str = "",
) -> Proposal:
    return Proposal(
        commit=commit,
        left=(*classified.left, *left),
        kept_out=classified.kept_out,
        nothing_to_do=nothing_to_do,
        merged=merged,
    )


def _not_in_git(paths: set[Path]) -> str:
    return f"The value stands in {', '.join(sorted(map(str, paths)))}, which is not in git, so it cannot be committed."
