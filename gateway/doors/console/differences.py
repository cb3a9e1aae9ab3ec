"""The difference between two values, or two texts, line by line."""

import difflib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Final

from gateway.doors.console.rendering import value_text
from gateway.model.json import Json

MOST_LINES: Final = 400
"""Lines of one difference on a page."""
_MOST_COMPARED: Final = 2_000
"""Lines of each side that are compared: the work can grow with their product."""


class LineKind(StrEnum):
    """What became of a line. The values are names in the style sheet."""

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
    """What is removed and what is added when one value replaces another. JSON inside a text counts as JSON."""
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
            return value_text(json.loads(text)).splitlines()
        except ValueError:
            return text.splitlines()
    return text.splitlines() if "\n" in text else value_text(value).splitlines()
