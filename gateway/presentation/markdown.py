"""Texts and tables in Markdown, in which nothing that a caller wrote is interpreted."""

import re
from collections.abc import Sequence
from typing import Final

MOST_ROWS: Final = 100
"""Rows of each table; the others are counted."""
_LONGEST: Final = 600
_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]()#+!|~])")
_ENTITIES: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "&#64;&#8203;"})
"""A zero-width space ends what GitHub would take for the mention of a user."""


def markdown_table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """A table of cells that are Markdown already."""
    lines = [head, tuple("---" for _ in head), *rows[:MOST_ROWS]]
    more = f"\n\n… and {len(rows) - MOST_ROWS} more." if len(rows) > MOST_ROWS else ""
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + more


def markdown_text(text: str) -> str:
    """The text in one line, with everything that Markdown or HTML would interpret escaped."""
    line = "".join(character if character.isprintable() else " " for character in text)
    line = line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
    return _SPECIAL.sub(r"\\\1", line).translate(_ENTITIES).replace("://", "&#58;//")
