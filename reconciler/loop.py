"""The line from a record to a commit. Read this file first.

applied mutation → wanted values → already in code? → edit → verified by plan → commit on the stack's branch → RECONCILED
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateway.model.json import Json
from gateway.model.record import Stage
from gateway.ports import Clock, LedgerCommands, LedgerQueries, RecordQuery
from reconciler import serialize
from reconciler.backlog import Backlog
from reconciler.commit_message import commit_message
from reconciler.drift.applied import AppliedMutation
from reconciler.drift.classify import all_left, of_mutation
from reconciler.errors import BranchConflict
from reconciler.proof.propose import ProofContext, propose
from reconciler.proof.undeclared import DeclaredCache, undeclared
from reconciler.publish.git import Branch, mutations_in, open_branch, protected_head
from reconciler.publish.worktree_files import add_untracked_files
from reconciler.terraform.cli import Terraform


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What writing one stack's mutations back needs."""

    stack: str
    source: Path
    """The stack's root module in the user's checkout of the protected branch; only read."""
    state: Path | None
    branch: str
    worktree: Path
    terraform: Terraform
    archive: LedgerQueries
    desk: LedgerCommands
    clock: Clock
    glance: DeclaredCache
    """The last plan of the branch as it stood, for values that only a plan can tell."""

    async def reconcile(self, applied: AppliedMutation, book: Backlog) -> Mapping[str, Json]:
        """The whole line for one mutation; the body of its RECONCILED record."""
        proved = await self.prove(applied, book)
        body = await self.publish(applied, book, proved)
        await self.record(applied, body)
        return body

    async def prove(self, applied: AppliedMutation, book: Backlog) -> dict[str, Any]:
        """Edits with all their proofs, as JSON (see `told.proposal`); nothing is written yet.

        Raises `errors.TerraformFailed`, `errors.TerraformMissing`, `errors.GitFailed` for what may pass: then try again later.
        """
        sorting = of_mutation(applied, overtaken=book.overtaken(applied))
        try:
            branch = await self._branch()
        except BranchConflict as error:
            return serialize.nothing_written(sorting, left=all_left(sorting.wanted, str(error)))
        if (commit := await branch.find(applied.id)) or not sorting.wanted:
            return serialize.nothing_written(sorting, commit=commit)
        head = await branch.head()
        ground = ProofContext(terraform=self.terraform, root=branch.root, state=self.state)
        missing = await undeclared(ground, self.glance, applied, sorting.wanted, head=head)
        if not missing:
            merged = await branch.is_merged()
            return serialize.nothing_written(
                sorting, nothing_to_do="The code declares the value already.", merged=merged
            )
        proved = await propose(
            ground, missing, explain=lambda change: sorting.explain(change) or book.explain(change, applied)
        )
        if untracked := set(proved.edited.files) - await branch.tracked(list(proved.edited.files)):
            return serialize.nothing_written(sorting, left=all_left(missing, _not_in_git(untracked)))
        message = commit_message(applied, proved.edited.edits) if proved.edited.edits else ""
        return serialize.proposal(sorting, proved, message, base=head)

    async def publish(self, applied: AppliedMutation, book: Backlog, proved: Mapping[str, Any]) -> dict[str, Json]:
        """Commit what was proved, once: a commit that is there already is found by its trailer. The body of RECONCILED.

        Where the branch moved on since the proof, it is proved anew.
        """
        if not proved["files"] and not proved["commit"]:
            return serialize.body(proved, branch=self.branch, commit="", diff="")
        branch = await self._branch()
        commit = await branch.find(applied.id)
        if not commit and await branch.head() != proved["base"]:
            proved = await self.prove(applied, book)
        if not commit and proved["files"]:
            commit = await branch.commit(serialize.files(proved), proved["message"])
        diff = await branch.diff(commit) if commit else ""
        return serialize.body(proved, branch=self.branch, commit=commit, diff=diff)

    async def record(self, applied: AppliedMutation, body: Mapping[str, Json]) -> None:
        """Append RECONCILED, unless an earlier run did before it was killed."""
        query = RecordQuery(mutation_id=applied.id, stage=Stage.RECONCILED, limit=1)
        if not await self.archive.records(query):
            await self.desk.record_reconciliation(applied.id, at=self.clock.now(), body=body)

    async def protected_head(self) -> str:
        """The protected branch's commit. Raises `errors.GitFailed`."""
        return await protected_head(self.source)

    async def record_merges(self, book: Backlog) -> None:
        """Record which written mutations the protected branch now has: then their claims end."""
        for mutation in book.committed & await mutations_in(self.source):
            await self.desk.record_reconciliation(mutation, at=self.clock.now(), body={"merged": True})

    async def _branch(self) -> Branch:
        branch = await open_branch(source=self.source, worktree=self.worktree, name=self.branch)
        await add_untracked_files(branch)
        return branch


def _not_in_git(paths: set[Path]) -> str:
    return f"The value stands in {', '.join(sorted(map(str, paths)))}, which is not in git, so it cannot be committed."
