"""Copies the untracked files that a plan needs into our worktree: the lock file, built archives, variable files.

Untracked code is not copied: only code that was committed is planned.
"""

import shutil
from pathlib import Path

from reconciler.publish.git import Branch, git
from reconciler.rewrite.surroundings import reached_directories

_EXCLUDED = (".terraform/", "*.tfstate", "*.tfstate.*", "crash.log", ".*.lock.info")
_CODE = (".tf", ".tf.json", ".tofu", ".tofu.json")
_LARGEST = 64 * 1024 * 1024
"""Larger files, in bytes, are assumed not to be input of a plan."""


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
        _copy(source / name, target / name)


def _copy(source: Path, target: Path) -> None:
    if (
        source.name.lower().endswith(_CODE)
        or source.is_symlink()
        or not source.is_file()
        or source.stat().st_size > _LARGEST
        or target.exists()
    ):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target)
