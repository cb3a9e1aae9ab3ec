"""What Rich prints where no terminal is, without Rich, which takes a fifth of such a command: text without markup, and tables of plain cells."""

import re
from collections.abc import Sequence
from typing import Final

_TAG: Final = re.compile(r"(\\*)\[([a-z#/@][^[]*?)]")
"""A tag of Rich's markup; an odd number of backslashes before it makes it text."""


def escaped(text: str) -> str:
    """Text that Rich's markup does not change, whatever is in it."""
    made = _TAG.sub(lambda found: f"{found[1] * 2}\\[{found[2]}]", text)
    return f"{made}\\" if made.endswith("\\") and not made.endswith("\\\\") else made


def without_markup(text: str) -> str:
    """The text without the tags of Rich's markup, and with what was escaped as it was."""
    if "[" not in text:
        return text
    made, end = [], 0
    for found in _TAG.finditer(text):
        pairs, escapes = divmod(len(found[1]), 2)
        made += [_bare(text[end : found.start()]), "\\" * pairs, f"[{found[2]}]" if escapes else ""]
        end = found.end()
    return "".join([*made, _bare(text[end:])])


def _bare(text: str) -> str:
    """Text between tags: a bracket may be escaped there, too."""
    return text.replace("\\[", "[")


def table_text(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table: each column as wide as its longest line, and two blanks between them. A cell may have several lines."""
    cells = [[cell.split("\n") for cell in row] for row in (columns, *rows)]
    widths = [max(_width(line) for row in cells for line in row[place]) for place in range(len(columns))]
    lines = [title]
    for row in cells:
        for number in range(max(map(len, row))):
            texts = (cell[number] if number < len(cell) else "" for cell in row)
            lines.append(
                "  ".join(text + " " * (width - _width(text)) for text, width in zip(texts, widths, strict=True))
            )
    return lines


def _width(text: str) -> int:
    """How many columns of a terminal the text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
