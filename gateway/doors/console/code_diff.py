"""What a commit of the write-back changes in the code, read from the stack's repository: no process is started."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

import structlog
from dulwich.diff_tree import tree_changes
from dulwich.objects import Blob, Commit, ObjectID
from dulwich.repo import Repo

from gateway.doors.console.differences import Difference, text_difference
from gateway.terraform.repository import find_checkout

log = structlog.get_logger()

MOST_FILES: Final = 12
_LARGEST: Final = 256 * 1024
"""Bytes of a file that are compared."""
_COMMIT: Final = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDifference:
    """What becomes of one file."""

    path: str
    difference: Difference


def code_diff(stack: Path, commit: str) -> tuple[FileDifference, ...]:
    """The changed files of a commit, the first few; nothing if the repository does not have it (any more)."""
    checkout = find_checkout(stack) if _COMMIT.fullmatch(commit) else None
    if checkout is None:
        return ()
    try:
        with Repo(str(checkout.top)) as repository:
            return tuple(islice(_changes(repository, commit), MOST_FILES))
    except Exception as error:  # noqa: BLE001  a repository that cannot be read has no difference to show
        log.warning("code_diff_unreadable", stack=str(stack), commit=commit, error=type(error).__name__)
        return ()


def _changes(repository: Repo, commit: str) -> Iterator[FileDifference]:
    after = repository[ObjectID(commit.encode())]
    if not isinstance(after, Commit):
        return
    parent = repository[after.parents[0]] if after.parents else None
    before = parent.tree if isinstance(parent, Commit) else None
    for change in tree_changes(repository.object_store, before, after.tree):
        old, new = (side.sha if side is not None else None for side in (change.old, change.new))
        side = change.new if change.new is not None and change.new.path else change.old
        path = side.path.decode("utf-8", "replace") if side is not None and side.path else ""
        yield FileDifference(path=path, difference=text_difference(_lines(repository, old), _lines(repository, new)))


def _lines(repository: Repo, name: ObjectID | None) -> list[str]:
    found = repository[name] if name else None
    if not isinstance(found, Blob) or len(found.data) > _LARGEST:
        return []
    return found.data.decode("utf-8", "replace").splitlines()
