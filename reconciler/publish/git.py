"""Commits to a branch of the stack's repository, in our own worktree: the user's checkout and index never change."""

import asyncio
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from reconciler.errors import BranchConflict, GitFailed

_SAFE = (
    "core.hooksPath=/dev/null",  # do not run the repository's hooks
    "protocol.file.allow=never",  # a submodule must not read repositories of this machine
    "core.fsmonitor=false",  # would run a program that the repository's configuration names
    "core.autocrlf=false",  # the bytes we edit are the bytes that are committed
    "commit.gpgSign=false",  # would ask for a pass phrase
    "gc.auto=0",
    "user.name=Sentinel",
    "user.email=sentinel@localhost",
)
_BRANCH = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*")
_TRAILER = "Sentinel-Mutation"
_IDENTITY = re.compile(r"[A-Za-z0-9_-]{1,80}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """A branch of the repository that holds the stack, checked out in our own worktree."""

    name: str
    source: Path
    """The stack's directory in the user's checkout of the protected branch."""
    worktree: Path
    prefix: Path
    """The stack's directory relative to the top of the repository."""

    @property
    def root(self) -> Path:
        """The stack's directory in the worktree; edits are made and planned there."""
        return self.worktree / self.prefix

    async def find(self, mutation_id: str) -> str:
        """The commit on the branch with this mutation's trailer; empty if there is none."""
        if not _IDENTITY.fullmatch(mutation_id):
            message = f"{mutation_id!r} is not a mutation id, so its commit cannot be looked up."
            raise GitFailed(message)
        listed = await git(
            self.worktree,
            "log",
            "--fixed-strings",
            f"--grep={_TRAILER}: {mutation_id}",
            f"--format=%H %(trailers:key={_TRAILER},valueonly,separator=%x20)",
            self.ref,
            "--",
        )
        for line in listed.splitlines():
            commit, *ids = line.split()
            if mutation_id in ids:
                return commit
        return ""

    async def commit(self, files: Mapping[Path, bytes], message: str) -> str:
        """Write `files` (relative to the stack), commit only those, and return the commit. Raises `errors.GitFailed`."""
        for path, content in files.items():
            _inside(self.root, path).write_bytes(content)
        names = [str(self.prefix / path) for path in files]
        await git(self.worktree, "add", "--", *names)
        await git(
            self.worktree, "commit", "--quiet", "--cleanup=verbatim", "--file=-", "--only", "--", *names, stdin=message
        )
        return await self.head()

    async def tracked(self, paths: Sequence[Path]) -> frozenset[Path]:
        """The subset of `paths` (relative to the stack) that git tracks."""
        names = [str(self.prefix / path) for path in paths]
        listed = (await git(self.worktree, "ls-files", "-z", "--", *names)).split("\0")
        return frozenset(path for path in paths if str(self.prefix / path) in listed)

    async def diff(self, commit: str) -> str:
        """The unified diff of one commit against its parent."""
        return await git(self.worktree, "show", "--format=", "--no-ext-diff", "--no-textconv", commit, "--")

    async def head(self) -> str:
        """The branch's commit."""
        return (await git(self.worktree, "rev-parse", "HEAD")).strip()

    async def is_merged(self) -> bool:
        """Whether the protected branch has the same code as this branch."""
        protected = (await git(self.source, "rev-parse", "--verify", "HEAD^{commit}")).strip()
        return not (await git(self.worktree, "diff", "--name-only", protected, "HEAD", "--")).strip()

    async def clean(self) -> None:
        """Discard changes that a killed run left in our worktree."""
        await git(self.worktree, "reset", "--hard", "--quiet", "HEAD")

    @property
    def ref(self) -> str:
        """The branch's full ref name."""
        return f"refs/heads/{self.name}"


async def open_branch(*, source: Path, worktree: Path, name: str) -> Branch:
    """The branch; created at the protected branch's commit if it does not exist, else with the protected branch merged into it.

    `source` is the stack's directory in the user's checkout; its HEAD is the protected branch.
    Raises `errors.GitFailed` (no repository, a bad name), `errors.BranchConflict`.
    """
    if not _BRANCH.fullmatch(name) or ".." in name or name.endswith((".lock", ".")):
        message = f"{name!r} cannot be the name of a git branch; change `reconcile.branch`."
        raise GitFailed(message)
    top = Path((await git(source, "rev-parse", "--show-toplevel")).strip())
    head = (await git(source, "rev-parse", "--verify", "HEAD^{commit}")).strip()
    branch = _branch(name, source, worktree, top)
    if not await _is_worktree(branch, top):
        await _add_worktree(branch, top, head)
    await _unlock(branch)
    await branch.clean()
    await _merge_protected(branch, head)
    return branch


async def protected_head(source: Path) -> str:
    """The commit of the user's checkout. Raises `errors.GitFailed`."""
    return (await git(source, "rev-parse", "--verify", "HEAD^{commit}")).strip()


async def mutations_in(source: Path) -> frozenset[str]:
    """The ids of the mutations that have a trailer in the protected branch's commits, however they were merged. Raises `errors.GitFailed`."""
    form = f"--format=%(trailers:key={_TRAILER},valueonly,separator=%x20)"
    return frozenset((await git(source, "log", "--fixed-strings", f"--grep={_TRAILER}: ", form, "HEAD", "--")).split())


def _branch(name: str, source: Path, worktree: Path, top: Path) -> Branch:
    source = source.resolve()
    return Branch(name=name, source=source, worktree=worktree.absolute(), prefix=source.relative_to(top.resolve()))


async def _is_worktree(branch: Branch, top: Path) -> bool:
    """Whether our worktree exists, belongs to this repository, and has the branch checked out."""
    if not (branch.worktree / ".git").is_file():
        return False
    try:
        common = await git(branch.worktree, "rev-parse", "--path-format=absolute", "--git-common-dir")
        head = await git(branch.worktree, "symbolic-ref", "HEAD")
    except GitFailed:
        return False
    own = await git(top, "rev-parse", "--path-format=absolute", "--git-common-dir")
    return common.strip() == own.strip() and head.strip() == branch.ref


async def _add_worktree(branch: Branch, top: Path, head: str) -> None:
    if branch.worktree.exists() and any(branch.worktree.iterdir()):
        message = f"{branch.worktree} is in the way of Sentinel's git worktree; move it away. Nothing was written."
        raise GitFailed(message)
    await git(top, "worktree", "prune")
    exists = await git(top, "for-each-ref", "--format=%(refname)", branch.ref)
    if exists.strip() != branch.ref:
        await git(top, "branch", "--no-track", "--", branch.name, head)
    branch.worktree.parent.mkdir(parents=True, exist_ok=True)
    await git(top, "worktree", "add", "--quiet", "--", str(branch.worktree), branch.name)


async def _unlock(branch: Branch) -> None:
    """Remove the lock files of a git process that was killed in our worktree; no other process works there."""
    directory = Path((await git(branch.worktree, "rev-parse", "--absolute-git-dir")).strip())
    for name in ("index.lock", "HEAD.lock"):
        (directory / name).unlink(missing_ok=True)


async def _merge_protected(branch: Branch, head: str) -> None:
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
            f"Merge {head[:12]} into {branch.name} by hand, or merge or delete the branch; then Sentinel continues."
        )
        raise BranchConflict(message) from error


def _inside(root: Path, path: Path) -> Path:
    """The file to write. Raises `GitFailed` for a path or link that leads out of the stack."""
    target = (root / path).resolve()
    if not target.is_relative_to(root.resolve()):
        message = f"{path} leads out of the stack's directory, so it was not written."
        raise GitFailed(message)
    return target


async def git(directory: Path, *argv: str, stdin: str = "") -> str:
    """Run git in `directory` and return what it printed. Raises `errors.GitFailed`."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "SENTINEL_"))}
    environment |= {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C.UTF-8"}
    options = [part for setting in _SAFE for part in ("-c", setting)]
    try:
        process = await asyncio.create_subprocess_exec(
            "git",
            *options,
            *argv,
            cwd=directory,
            env=environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
    except OSError as error:
        message = f"git could not be run in {directory}: {error}. Nothing was written."
        raise GitFailed(message) from error
    out, err = await process.communicate(stdin.encode())
    if process.returncode:
        output = (err or out).decode(errors="replace").strip().splitlines()[-10:]
        message = f"`git {argv[0]}` failed in {directory}, and nothing more was written. It said:\n" + "\n".join(output)
        raise GitFailed(message)
    return out.decode(errors="replace")
