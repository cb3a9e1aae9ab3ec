"""What the files of our branch would be without one of its commits, as far as later commits did not change the same lines."""

import os
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from reconciler.errors import GitFailed
from reconciler.publish.git import Branch, git


async def taken_back(branch: Branch, commit: str) -> Mapping[Path, bytes]:
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
