"""Commits to a branch of the stack's repository, in our own worktree: the user's checkout and index never change.

Anyone with write access to the repository can move the branch. So its commits are checked before one of their files is
read, the worktree stands on the checked commit and not on the branch, and the branch moves only from that commit.
Untracked files that a plan needs are copied to the worktree, but no untracked code: only code that was committed is planned.
"""

import os
import posixpath
import re
import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gateway.core.failpoints import Point, failpoint
from reconciler.errors import BranchConflict, ForeignCommit, GitFailed
from reconciler.publish.git import (
    TRAILER,
    TRAILER_FIELDS,
    branch_tip,
    git,
    protected_head,
    read_trailers,
    refuse_programs,
    write_back_keys,
)
from reconciler.rewrite.surroundings import reached_directories

_BRANCH = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*")
_IDENTITY = re.compile(r"[A-Za-z0-9_-]{1,80}")
_SHOWN = 5
"""How many foreign commits a message names."""
_EXCLUDED = (".terraform/", "*.tfstate", "*.tfstate.*", "crash.log", ".*.lock.info")
_CODE = (".tf", ".tf.json", ".tofu", ".tofu.json")
_LARGEST = 64 * 1024 * 1024
"""Larger files, in bytes, are assumed not to be input of a plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnCommits:
    """A file with one commit id on each line. A commit is listed before the branch points to it, so a killed run loses none."""

    path: Path

    @classmethod
    def beside(cls, worktree: Path) -> "OwnCommits":
        """The list for a worktree of ours; it lies beside the worktree, outside of the repository."""
        return cls(path=worktree.with_name(f"{worktree.name}.commits"))

    def all(self) -> frozenset[str]:
        """Every listed commit."""
        try:
            return frozenset(self.path.read_text().split())
        except FileNotFoundError:
            return frozenset()

    def add(self, commit: str) -> None:
        """List a commit; it is on disk when this returns."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            # A killed run may have left half a line.
            file.write(f"\n{commit}\n")
            file.flush()
            os.fsync(file.fileno())


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """A branch of the repository that holds the stack, with its checked commit in our own worktree."""

    name: str
    source: Path
    """The stack's directory in the user's checkout."""
    protected: str = "HEAD"
    """The ref of the protected branch."""
    worktree: Path
    prefix: Path
    """The stack's directory relative to the top of the repository."""

    @property
    def root(self) -> Path:
        """The stack's directory in the worktree; edits are made and planned there."""
        return self.worktree / self.prefix

    @property
    def top(self) -> Path:
        """The top of the user's checkout."""
        return self.source.parents[len(self.prefix.parts) - 1] if self.prefix.parts else self.source

    async def find(self, mutation_id: str, *, corrects: int = 0) -> str:
        """The commit on the branch with this mutation's trailer, and with that of the record it corrects; empty if there is none."""
        if not _IDENTITY.fullmatch(mutation_id):
            message = f"{mutation_id!r} is not a mutation id, so its commit cannot be looked up."
            raise GitFailed(message)
        listed = await git(
            self.worktree,
            "log",
            "--fixed-strings",
            f"--grep={TRAILER}: {mutation_id}",
            TRAILER_FIELDS,
            "HEAD",
            "--",
        )
        for commit, ids, corrected in read_trailers(listed):
            if mutation_id in ids and (not corrects or f"{mutation_id}@{corrects}" in write_back_keys(ids, corrected)):
                return commit
        return ""

    async def commit(self, files: Mapping[Path, bytes], message: str) -> str:
        """Write `files` (relative to the stack), commit only those, and return the commit.

        Raises `errors.GitFailed`, also if the branch was moved since it was checked; it then stays where it was moved to.
        """
        before = await self.head()
        targets = {_inside(self.worktree, self.root / path): content for path, content in files.items()}
        try:
            for target, content in targets.items():
                target.write_bytes(content)
        except OSError as error:
            # A file may be half written. The worktree is put back before anything is planned or committed in it again.
            message = f"{self.worktree} cannot be written: {error}. Nothing was committed, and the change still waits."
            raise GitFailed(message) from error
        failpoint(Point.FILE_EDITED)
        names = [self.name_of(path) for path in files]
        await git(self.worktree, "add", "--", *names)
        await git(
            self.worktree, "commit", "--quiet", "--cleanup=verbatim", "--file=-", "--only", "--", *names, stdin=message
        )
        await self.advance(before)
        failpoint(Point.COMMITTED)
        return await self.head()

    async def advance(self, before: str) -> None:
        """Move the branch from `before` to the worktree's commit, which is listed as our own first. Raises `errors.GitFailed`."""
        commit = await self.head()
        self.own.add(commit)
        await git(self.worktree, "update-ref", "--no-deref", self.ref, commit, before)

    async def tracked(self, paths: Sequence[Path]) -> frozenset[Path]:
        """The subset of `paths` (relative to the stack) that git tracks."""
        names = [self.name_of(path) for path in paths]
        listed = (await git(self.worktree, "ls-files", "-z", "--", *names)).split("\0")
        return frozenset(path for path in paths if self.name_of(path) in listed)

    def name_of(self, path: Path) -> str:
        """The name in the repository of a file that is named relative to the stack: a module may stand beside the stack."""
        return posixpath.normpath((self.prefix / path).as_posix())

    async def diff(self, commit: str) -> str:
        """The unified diff of one commit against its parent."""
        return await git(self.worktree, "show", "--format=", "--no-ext-diff", "--no-textconv", commit, "--")

    async def head(self) -> str:
        """The checked commit of the branch, on which the worktree stands."""
        return (await git(self.worktree, "rev-parse", "HEAD")).strip()

    async def is_merged(self) -> bool:
        """Whether the protected branch has the same code as this branch."""
        protected = await protected_head(self.source, self.protected)
        return not (await git(self.worktree, "diff", "--name-only", protected, "HEAD", "--")).strip()

    async def clean(self) -> None:
        """Discard changes that a killed run left in our worktree."""
        await git(self.worktree, "reset", "--hard", "--quiet", "HEAD")

    @property
    def ref(self) -> str:
        """The branch's full ref name."""
        return f"refs/heads/{self.name}"

    @property
    def own(self) -> OwnCommits:
        """The list of the commits that we made."""
        return OwnCommits.beside(self.worktree)


async def checked_tip(
    *, source: Path, worktree: Path, name: str, protected: str = "HEAD", recorded: Collection[str] = ()
) -> str:
    """The branch's commit, if all of its commits are ours or in the protected branch; empty if there is no branch.

    Raises as `open_branch`; nothing is changed.
    """
    top = Path((await git(source, "rev-parse", "--show-toplevel")).strip())
    branch = replace(_branch(name, source, worktree, top), protected=protected)
    tip = await branch_tip(source, name)
    if tip:
        await _refuse_foreign(branch, top, tip, await protected_head(source, protected), recorded)
    return tip


async def open_branch(
    *, source: Path, worktree: Path, name: str, protected: str = "HEAD", recorded: Collection[str] = ()
) -> Branch:
    """The branch; created at the protected branch's commit if it does not exist, else with the protected branch merged into it.

    `source` is the stack's directory in the user's checkout, `protected` the protected branch's ref, and `recorded` are the
    commits that the ledger says are ours.
    Raises `errors.GitFailed` (no repository, a bad name), `errors.BranchConflict`, and `errors.ForeignCommit` if the branch
    has a commit that is neither ours nor in the protected branch: nothing of it was checked out, and the branch is untouched.
    """
    if not _BRANCH.fullmatch(name) or ".." in name or name.endswith((".lock", ".")):
        message = f"{name!r} cannot be the name of a git branch; change `reconcile.branch`."
        raise GitFailed(message)
    top = Path((await git(source, "rev-parse", "--show-toplevel")).strip())
    head = await protected_head(source, protected)
    branch = replace(_branch(name, source, worktree, top), protected=protected)
    await _refuse_own_as_protected(branch)
    tip = await _tip(branch, top, head)
    await _refuse_foreign(branch, top, tip, head, recorded)
    await _refuse_in_use(branch, top)
    await _check_out(branch, top, tip)
    await _merge_protected(branch, tip, head)
    return branch


async def open_protected(*, source: Path, worktree: Path, protected: str = "HEAD") -> Branch:
    """The protected branch's commit in a worktree of its own, in which nothing is committed. Raises `errors.GitFailed`."""
    top = Path((await git(source, "rev-parse", "--show-toplevel")).strip())
    branch = _branch("HEAD", source, worktree, top)
    await _check_out(branch, top, await protected_head(source, protected))
    return branch


def _branch(name: str, source: Path, worktree: Path, top: Path) -> Branch:
    source = source.resolve()
    return Branch(name=name, source=source, worktree=worktree.absolute(), prefix=source.relative_to(top.resolve()))


async def _refuse_own_as_protected(branch: Branch) -> None:
    """Raise `GitFailed` if the protected branch is our branch: whatever is put there would then count as protected."""
    current = await git(branch.source, "rev-parse", "--symbolic-full-name", branch.protected)
    if current.strip() == branch.ref:
        message = (
            f"The protected branch of {branch.source} is {branch.name}, Sentinel's own branch, so nothing says what is "
            "protected. Nothing was planned or written; check out the protected branch there, or set `protected_branch`."
        )
        raise GitFailed(message)


async def _tip(branch: Branch, top: Path, head: str) -> str:
    """The branch's commit; the branch is created at `head` if there is none. Raises `GitFailed` for a ref that only points to another."""
    listed = await git(top, "for-each-ref", "--format=%(objectname) %(symref) %(refname)", branch.ref)
    rows = [row.split(" ") for row in listed.splitlines()]
    found = [(commit, target) for commit, target, name in rows if name == branch.ref]
    if not found:
        await git(top, "update-ref", "--no-deref", branch.ref, head, "")
        return head
    ((commit, target),) = found
    if target:
        message = f"The branch {branch.name} is only another name of {target}, so nothing was planned or written. Delete it; then Sentinel continues."
        raise GitFailed(message)
    return commit


async def _refuse_foreign(branch: Branch, top: Path, tip: str, head: str, recorded: Collection[str]) -> None:
    """Raise `ForeignCommit` if the branch has a commit that is neither ours nor reachable from the protected branch."""
    listed = (await git(top, "rev-list", tip, "--not", head, "--")).split()
    foreign = [commit for commit in listed if commit not in recorded and commit not in branch.own.all()]
    if foreign:
        raise ForeignCommit.on(branch.name, tuple(foreign[:_SHOWN]), count=len(foreign))


async def _refuse_in_use(branch: Branch, top: Path) -> None:
    """Raise `GitFailed` while another worktree stands on the branch: moving it there would make our commit look undone in that worktree."""
    listed = await git(top, "worktree", "list", "--porcelain", "-z")
    if others := _others_on(branch, listed):
        message = (
            f"The branch {branch.name} is checked out in {', '.join(others)}, so nothing was written: the branch must not move under "
            "your feet. What waits is kept, and Sentinel continues when you check out another branch there."
        )
        raise GitFailed(message)


def _others_on(branch: Branch, listed: str) -> list[str]:
    """The worktrees other than ours that stand on the branch, from what `git worktree list` printed; not those that were deleted."""
    worktrees = [entry.split("\0") for entry in listed.split("\0\0")]
    on_it = [lines for lines in worktrees if f"branch {branch.ref}" in lines]
    paths = [
        lines[0].removeprefix("worktree ") for lines in on_it if not any(line.startswith("prunable") for line in lines)
    ]
    return [path for path in paths if Path(path).resolve() != branch.worktree.resolve()]


async def _check_out(branch: Branch, top: Path, commit: str) -> None:
    """Put a commit into our worktree without a branch, so that nobody can move what is planned; changes there are discarded."""
    await refuse_programs(top)
    if not await _is_worktree(branch, top):
        await _add_worktree(branch, top, commit)
    await _unlock(branch)
    await git(branch.worktree, "checkout", "--quiet", "--force", "--detach", commit, "--")
    await branch.clean()


async def _is_worktree(branch: Branch, top: Path) -> bool:
    """Whether our worktree exists and belongs to this repository."""
    if not (branch.worktree / ".git").is_file():
        return False
    try:
        common = await git(branch.worktree, "rev-parse", "--path-format=absolute", "--git-common-dir")
    except GitFailed:
        return False
    own = await git(top, "rev-parse", "--path-format=absolute", "--git-common-dir")
    return common.strip() == own.strip()


async def _add_worktree(branch: Branch, top: Path, commit: str) -> None:
    if branch.worktree.exists() and any(branch.worktree.iterdir()):
        message = f"{branch.worktree} is in the way of Sentinel's git worktree; move it away. Nothing was written."
        raise GitFailed(message)
    await git(top, "worktree", "prune")
    branch.worktree.parent.mkdir(parents=True, exist_ok=True)
    await git(top, "worktree", "add", "--quiet", "--detach", "--", str(branch.worktree), commit)


async def _unlock(branch: Branch) -> None:
    """Remove the lock files of a git process that was killed in our worktree; no other process works there."""
    directory = Path((await git(branch.worktree, "rev-parse", "--absolute-git-dir")).strip())
    for name in ("index.lock", "HEAD.lock"):
        (directory / name).unlink(missing_ok=True)


async def _merge_protected(branch: Branch, tip: str, head: str) -> None:
    """Merge the protected branch into ours if it moved on."""
    behind = await git(branch.worktree, "rev-list", "--count", f"HEAD..{head}", "--")
    if behind.strip() == "0":
        return
    try:
        await git(
            branch.worktree, "merge", "--quiet", "--no-edit", "-m", f"Take in the protected branch at {head[:12]}", head
        )
    except GitFailed as error:
        await branch.clean()
        message = (
            f"The branch {branch.name} and the protected branch changed the same lines, so nothing was written. "
            f"Merge {branch.name} into the protected branch by hand, or delete it; then Sentinel continues."
        )
        raise BranchConflict(message) from error
    await branch.advance(tip)


def _inside(worktree: Path, path: Path) -> Path:
    """The file to write. Raises `GitFailed` for a path or link that leads out of the worktree."""
    target = path.resolve()
    if not target.is_relative_to(worktree.resolve()) or (worktree / ".git").resolve() in (target, *target.parents):
        message = f"{path} leads out of the repository, so it was not written."
        raise GitFailed(message)
    return target


async def add_untracked_files(branch: Branch) -> None:
    """Copy the untracked files of the stack's directory and of the modules it uses to the worktree, replacing earlier copies.

    Raises `errors.GitFailed`.
    """
    await git(branch.worktree, "clean", "-ffdxq", "--", ".")
    for directory in (branch.root, *sorted(reached_directories(branch.root))):
        inside = directory.resolve().is_relative_to(branch.worktree.resolve())
        if inside and (there := branch.top / directory.relative_to(branch.worktree)).is_dir():
            await _add(there, directory)


async def _add(source: Path, target: Path) -> None:
    excluded = [f"--exclude={pattern}" for pattern in _EXCLUDED]
    listed = await git(source, "ls-files", "--others", "-z", *excluded, "--", ".")
    for name in filter(None, listed.split("\0")):
        _copy(source / name, target / name, target)


def _copy(source: Path, target: Path, top: Path) -> None:
    """Copy a file. The checked commit may have a link where the checkout has a directory: nothing is written where that leads."""
    if (
        not target.parent.resolve().is_relative_to(top.resolve())
        or source.name.lower().endswith(_CODE)
        or source.is_symlink()
        or not source.is_file()
        or source.stat().st_size > _LARGEST
        or target.exists()
    ):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target)
