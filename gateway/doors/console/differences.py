"""Differences line by line: between two values, two texts, or the code before and after a commit of the write-back."""

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Final

import structlog
from dulwich.diff_tree import tree_changes
from dulwich.objects import Blob, Commit, ObjectID
from dulwich.repo import Repo

from gateway.core.json_reader import JsonRefused, read_json
from gateway.core.model.json import Json
from gateway.doors.console.rendering import value_text
from gateway.terraform.repository import find_checkout

MOST_LINES: Final = 400
"""Lines of one difference on a page."""
_MOST_COMPARED: Final = 2_000
"""Lines of each side that are compared: the work can grow with their product."""


class LineKind(StrEnum):
    """The kind of a line in a difference. The values are names in the style sheet."""

    SAME = "same"
    ADDED = "add"
    REMOVED = "del"
    PLACE = "at"


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffLine:
    """One line of a difference."""

    kind: LineKind
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A difference, as far as it is shown."""

    lines: tuple[DiffLine, ...]
    left_out: bool = False
    """Whether there is more of it than is shown."""


def difference(before: Json, after: Json) -> Difference:
    """The lines that are removed and added when one value replaces another. JSON inside a text counts as JSON."""
    return text_difference(_lines(before), _lines(after))


def text_difference(before: Sequence[str], after: Sequence[str]) -> Difference:
    """The same of lines of text, with three lines round each change."""
    cut = len(before) > _MOST_COMPARED or len(after) > _MOST_COMPARED
    found = difflib.unified_diff(before[:_MOST_COMPARED], after[:_MOST_COMPARED], lineterm="", n=3)
    lines = [_line(text) for text in islice(found, 2, MOST_LINES + 3)]
    if lines and len(lines) <= MOST_LINES and sum(line.kind is LineKind.PLACE for line in lines) == 1:
        lines = lines[1:]  # where the only change is needs no saying
    return Difference(lines=tuple(lines[:MOST_LINES]), left_out=cut or len(lines) > MOST_LINES)


def _line(text: str) -> DiffLine:
    kinds = {"+": LineKind.ADDED, "-": LineKind.REMOVED, "@": LineKind.PLACE}
    return DiffLine(kind=kinds.get(text[:1], LineKind.SAME), text=text)


def _lines(value: Json) -> list[str]:
    if value is None:
        return []
    text = value if isinstance(value, str) else ""
    if text.lstrip()[:1] in {"{", "["}:
        try:
            return value_text(read_json(text)).splitlines()
        except JsonRefused:
            return text.splitlines()
    return text.splitlines() if "\n" in text else value_text(value).splitlines()


log = structlog.get_logger()

MOST_FILES: Final = 12
_LARGEST: Final = 256 * 1024
"""Bytes of a file that are compared."""
_COMMIT: Final = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDifference:
    """The difference of one file."""

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
        yield FileDifference(
            path=path, difference=text_difference(_code_diff_lines(repository, old), _code_diff_lines(repository, new))
        )


def _code_diff_lines(repository: Repo, name: ObjectID | None) -> list[str]:
    found = repository[name] if name else None
    if not isinstance(found, Blob) or len(found.data) > _LARGEST:
        return []
    return found.data.decode("utf-8", "replace").splitlines()
