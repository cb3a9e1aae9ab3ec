"""What every editor gives back: one splice of one file, and the helpers that find where lines begin and end."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from gateway.model.json import Json
from gateway.terraform.lang.hcl import Document
from reconciler.rewrite.trace import Trace


@dataclass(frozen=True, slots=True)
class Splice:
    """Bytes `start` to `end` become `new`."""

    start: int
    end: int
    new: str

    def applied(self, source: bytes) -> bytes:
        """The source with the change made."""
        return source[: self.start] + self.new.encode() + source[self.end :]


Editor: TypeAlias = Callable[[Trace, Json], Splice | None]
"""The change that gives a place a value (already turned round); None where the place is another editor's.

Raises `editors.text.CannotEdit` where the place is its own and the value cannot be written there.
"""


def indent_at(document: Document, offset: int) -> str:
    """The spaces or tabs that the line of an offset begins with."""
    start = document.source.rfind(b"\n", 0, offset) + 1
    match = re.match(rb"[ \t]*", document.source[start:])
    return "" if match is None else match.group().decode()


def line_end(document: Document, offset: int) -> int:
    """Offset of the end of an offset's line, before its newline."""
    end = document.source.find(b"\n", offset)
    end = len(document.source) if end < 0 else end
    return end - 1 if document.source[end - 1 : end] == b"\r" else end


def newline(document: Document) -> str:
    """The line ending the file uses."""
    return "\r\n" if b"\r\n" in document.source else "\n"


def alone_on_lines(document: Document, start: int, end: int) -> bool:
    """Whether nothing but spaces, a comma and a comment shares the lines of a span."""
    before = document.source[document.source.rfind(b"\n", 0, start) + 1 : start]
    after = document.source[end : line_end(document, end)]
    return not before.strip() and re.fullmatch(rb"[ \t]*,?[ \t]*((#|//).*)?", after) is not None
