"""The line from a record to a commit. Read this file first.

applied mutation → wanted values → already in code? → edit → verified by plan → commit on the stack's branch → RECONCILED
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateway.model.json import Json
from gateway.model.record import Stage
from gateway.ports import Archive, Clock, Desk, RecordQuery
from reconciler import told
from reconciler.applied import Applied
from reconciler.book import Book
from reconciler.drift import all_left, of_mutation
from reconciler.errors import BranchConflict
from reconciler.proving import Ground, prove
from reconciler.publish.furnish import furnish
from reconciler.publish.git import Branch, mutations_in, open_branch, protected_head
from reconciler.story import commit_message
from reconciler.terraform_cli import Terraform
from reconciler.uncaptured import Glance, uncaptured


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
    archive: Archive
    desk: Desk
    clock: Clock
    glance: Glance
    """The last plan of the branch as it stood, for values that only a plan can tell."""

    async def reconcile(self, applied: Applied, book: Book) -> Mapping[str, Json]:
        """The whole line for one mutation; the body of its RECONCILED record."""
        proved = await self.prove(applied, book)
        body = await self.publish(applied, book, proved)
        await self.record(applied, body)
        return body

    async def prove(self, applied: Applied, book: Book) -> dict[str, Any]:
        """Edits with all their proofs, as JSON (see `told.proposal`); nothing is written yet.

        Raises `errors.TerraformFailed`, `errors.TerraformMissing`, `errors.GitFailed` for what may pass: then try again later.
        """
        sorting = of_mutation(applied, overtaken=book.overtaken(applied))
        try:
            branch = await self._branch()
        except BranchConflict as error:
            return told.nothing_written(sorting, left=all_left(sorting.wanted, str(error)))
        if (commit := await branch.find(applied.id)) or not sorting.wanted:
            return told.nothing_written(sorting, commit=commit)
        head = await branch.head()
        ground = Ground(terraform=self.terraform, root=branch.root, state=self.state)
        missing = await uncaptured(ground, self.glance, applied, sorting.wanted, head=head)
        if not missing:
            merged = await branch.is_merged()
            return told.nothing_written(sorting, nothing_to_do="The code declares the value already.", merged=merged)
        proved = await prove(
            ground, missing, explain=lambda change: sorting.explain(change) or book.explain(change, applied)
        )
        if untracked := set(proved.edited.files) - await branch.tracked(list(proved.edited.files)):
            return told.nothing_written(sorting, left=all_left(missing, _not_in_git(untracked)))
        message = commit_message(applied, proved.edited.edits) if proved.edited.edits else ""
        return told.proposal(sorting, proved, message, base=head)

    async def publish(self, applied: Applied, book: Book, proved: Mapping[str, Any]) -> dict[str, Json]:
        """Commit what was proved, once: a commit that is there already is found by its trailer. The body of RECONCILED.

        Where the branch moved on since the proof, it is proved anew.
        """
        if not proved["files"] and not proved["commit"]:
            return told.body(proved, branch=self.branch, commit="", diff="")
        branch = await self._branch()
        commit = await branch.find(applied.id)
        if not commit and await branch.head() != proved["base"]:
            proved = await self.prove(applied, book)
        if not commit and proved["files"]:
            commit = await branch.commit(told.files(proved), proved["message"])
        diff = await branch.diff(commit) if commit else ""
        return told.body(proved, branch=self.branch, commit=commit, diff=diff)

    async def record(self, applied: Applied, body: Mapping[str, Json]) -> None:
        """Append RECONCILED, unless an earlier run did before it was killed."""
        query = RecordQuery(mutation_id=applied.id, stage=Stage.RECONCILED, limit=1)
        if not await self.archive.records(query):
            await self.desk.reconciled(applied.id, at=self.clock.now(), body=body)

    async def protected_head(self) -> str:
        """The protected branch's commit. Raises `errors.GitFailed`."""
        return await protected_head(self.source)

    async def merged(self, book: Book) -> None:
        """Record which written mutations the protected branch now has: then their claims end."""
        for mutation in book.committed & await mutations_in(self.source):
            await self.desk.reconciled(mutation, at=self.clock.now(), body={"merged": True})

    async def _branch(self) -> Branch:
        branch = await open_branch(source=self.source, worktree=self.worktree, name=self.branch)
        await furnish(branch)
        return branch


def _not_in_git(paths: set[Path]) -> str:
    return f"The value stands in {', '.join(sorted(map(str, paths)))}, which is not in git, so it cannot be committed."
