"""Changes one field of a data file in CSV, and reads the file again to see that nothing else changed."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from gateway.core.model.equality import equal
from gateway.core.model.json import Json
from gateway.terraform.lang import functions, values
from gateway.terraform.lang.values import Unknown
from reconciler.rewrite.editors.hcl_text import CannotEdit
from reconciler.rewrite.editors.splice import Splice
from reconciler.rewrite.trace.sites import CsvSite

_FIELD: Final = re.compile(r'("(?:[^"]|"")*"|[^",\n]*)(,|\n|\Z)')
"""A field and what ends it, in a text that `csvdecode` reads with certainty."""
_NEEDS_QUOTES: Final = re.compile(r'[",\n]|^\s')
"""Texts that only quotes keep as they are: readers differ about spaces at the beginning of a field."""


def edit_csv(site: CsvSite, value: Json) -> Splice:
    """The field replaced: quoted where it has to be, or was; for null it is empty. Raises `CannotEdit`."""
    source = site.document.source.decode()
    try:
        written = "" if value is None else values.text(value)
        row, name = _place(site.steps)
        before = _decoded(source)
        start, end = csv_rows(source)[row + 1][list(before[row]).index(name)]
        new = csv_field(written, source[start:end])
        after = _decoded(source[:start] + new + source[end:])
    except (Unknown, LookupError, ValueError) as error:
        raise CannotEdit(f"{site.document.path} is not edited: no field of it can hold the value ({error}).") from None
    wanted = [{**each, name: written} if number == row else each for number, each in enumerate(before)]
    if not equal(after, wanted):
        raise CannotEdit(f"In {site.document.path} the edit would change another field too.")
    return Splice(len(source[:start].encode()), len(source[:end].encode()), new)


def csv_field(text: str, like: str) -> str:
    """A text as a field: in quotes where it has to be, or where the field was that it takes the place of."""
    quoted = like.startswith('"') or _NEEDS_QUOTES.search(text)
    return f'"{text.replace(chr(34), chr(34) * 2)}"' if quoted else text


def _place(steps: Sequence[str]) -> tuple[int, str]:
    """The row after the line of names, and the name of the column. Raises `ValueError`."""
    row, *rest = steps
    return int(row), ".".join(rest)


def _decoded(source: str) -> list[dict[str, Json]]:
    rows = values.to_json(functions.call("csvdecode", [source]))
    return [dict(each) for each in rows if isinstance(each, dict)] if isinstance(rows, list) else []


def csv_rows(source: str) -> list[list[tuple[int, int]]]:
    """Start and end of each field in characters, by line that is not empty."""
    lines: list[list[tuple[int, int]]] = [[]]
    for start, end, last in _read(source):
        lines[-1].append((start, end))
        if last:
            lines.append([])
    return [line for line in lines if len(line) > 1 or any(start < end for start, end in line)]


def _read(source: str) -> Iterator[tuple[int, int, bool]]:
    at = 0
    while at < len(source) and (found := _FIELD.match(source, at)) is not None:
        yield found.start(1), found.end(1), found[2] != ","
        at = found.end()
