"""Copies of a stack's code that may be edited and planned, with the files that `terraform init` left beside the original."""

import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os.path import commonpath
from pathlib import Path

from gateway.terraform import file_tree as selected
from gateway.terraform.config.source import DIRECTORY
from reconciler.proof.remote_states import read_states
from reconciler.rewrite.surroundings import Surroundings, reached_directories, repository_of, surroundings

_NOT_COPIED = (".git", ".terraform", "*.tfstate", "*.tfstate.*", "node_modules", ".venv")


def copy_with_surroundings(
    path: Path, target: Path, frozen: Sequence[str], data: Path | None
) -> tuple[Path, Path, Surroundings]:
    """Copy the stack and all roots that use its modules: the root module of the copy, what was copied, and the surroundings there.

    State files of other stacks that the code reads are copied too. `data` is the plug-in data of the stack (`.terraform`), whose downloaded
    modules are shown in the copy and whose workspace is selected there.
    """
    own = surroundings(path, repository_of(path), frozen)
    top = common_directory(path, own.roots)
    read = {each for root in (path, *own.roots) for each in read_states(root)}
    states = sorted(each for each in read if each.parent != path.resolve())
    # Above the code there is room for the states, which code names by their way from the root module.
    above = Path(commonpath([top, *(each.parent for each in states)]))
    code = target / top.relative_to(above)
    root = copy_code(path, code, own.roots)
    for state in states:
        _copy_state(state, target / state.relative_to(above))
    link_downloaded(root, data)
    select_workspace(root, data, "")
    return root, top, own.copied(top, code)


def _copy_state(state: Path, target: Path) -> None:
    """A copy of a state file that only its owner can read."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.touch(mode=0o600)
    shutil.copyfile(state, target)


def copy_code(path: Path, target: Path, others: Sequence[Path] = ()) -> Path:
    """Copy the stack and other roots, with the local modules they use, without state and plug-ins. Returns the root module of the copy."""
    top = common_directory(path, others)
    shutil.copytree(top, target, ignore=shutil.ignore_patterns(*_NOT_COPIED), symlinks=True)
    return target / path.resolve().relative_to(top)


def common_directory(path: Path, others: Sequence[Path] = ()) -> Path:
    """The directory that holds the stack, other roots, and the local modules they use."""
    roots = [path.resolve(), *others]
    return Path(commonpath([*roots, *(each for root in roots for each in reached_directories(root) if each.is_dir())]))


@contextmanager
def temporarily_written(root: Path, files: Mapping[Path, bytes]) -> Iterator[Mapping[Path, bytes]]:
    """Write files for the duration of the block, then restore them. Yields their previous bytes; none of a new file, which goes again."""
    before = bytes_before(root, files)
    try:
        for path, content in files.items():
            (root / path).write_bytes(content)
        yield {**dict.fromkeys(files, b""), **before}
    finally:
        for path in files:
            if path in before:
                (root / path).write_bytes(before[path])
            else:
                (root / path).unlink(missing_ok=True)


def bytes_before(root: Path, files: Collection[Path]) -> Mapping[Path, bytes]:
    """The bytes of those files that are there."""
    return {path: (root / path).read_bytes() for path in files if (root / path).exists()}


def link_downloaded(root: Path, data: Path | None) -> None:
    """Let `.terraform/modules` in the root module at `root`, our own copy, be that of terraform's data directory `data`, if it has any.

    They are only read.
    """
    target = root / DIRECTORY
    if target.is_symlink():
        target.unlink()
    if data is None or not (data / "modules").is_dir() or target.exists():
        return
    target.parent.mkdir(exist_ok=True)
    target.symlink_to((data / "modules").absolute(), target_is_directory=True)


def select_workspace(root: Path, data: Path | None, workspace: str) -> None:
    """Let `workspace` be selected in the root module at `root`, our own copy; if it is empty, the one of the data directory `data`."""
    known = data / selected.WORKSPACE_FILE if data is not None else None
    name = workspace or (known.read_text(encoding="utf-8").strip() if known is not None and known.is_file() else "")
    if name:
        target = root / selected.DATA_DIRECTORY / selected.WORKSPACE_FILE
        target.parent.mkdir(exist_ok=True)
        target.write_text(name, encoding="utf-8")
