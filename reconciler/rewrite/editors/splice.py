"""`Splice`, which every editor returns, and helpers that find where lines begin and end."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gateway.terraform.lang.hcl import Document


@dataclass(frozen=True, slots=True)
class Splice:
    """A change of one file: bytes `start` to `end` become `new`."""

    start: int
    end: int
    new: str

    def apply(self, source: bytes) -> bytes:
        """The source with the change made."""
        return source[: self.start] + self.new.encode() + source[self.end :]


def merge_splices(document: Document, splices: Sequence[Splice]) -> Splice:
    """Several changes, of which at most removals overlap, as one change with the bytes between them as they are."""
    ordered = sorted(splices, key=lambda splice: (splice.start, splice.end))
    if not ordered:
        return Splice(0, 0, "")
    text, position = "", ordered[0].start
    for splice in ordered:
        text += document.source[position : max(position, splice.start)].decode() + splice.new
        position = max(position, splice.end)
    return Splice(ordered[0].start, position, text)


def indent_at(document: Document, offset: int) -> str:
    """The spaces or tabs at the start of the line that holds an offset."""
    start = document.source.rfind(b"\n", 0, offset) + 1
    match = re.match(rb"[ \t]*", document.source[start:])
    return "" if match is None else match.group().decode()


def line_end(document: Document, offset: int) -> int:
    """The offset of the end of the line that holds an offset, before its newline."""
    end = document.source.find(b"\n", offset)
    end = len(document.source) if end < 0 else end
    return end - 1 if document.source[end - 1 : end] == b"\r" else end


def newline(document: Document) -> str:
    """The line ending the file uses."""
    return "\r\n" if b"\r\n" in document.source else "\n"


def alone_on_lines(document: Document, start: int, end: int) -> bool:
    """Whether the lines of a span hold nothing else but spaces, a comma and a comment."""
    before = document.source[document.source.rfind(b"\n", 0, start) + 1 : start]
    after = document.source[end : line_end(document, end)]
    return not before.strip() and re.fullmatch(rb"[ \t]*,?[ \t]*((#|//).*)?", after) is not None


def start_with_comment(document: Document, start: int) -> int:
    """The start of the comment lines directly above the line that begins at an offset; the offset itself if there are none."""
    while start:
        above = document.source.rfind(b"\n", 0, start - 1) + 1
        if not re.match(rb"[ \t]*(#|//)", document.source[above:start]):
            break
        start = above
    return start


def common_start(one: bytes, other: bytes) -> int:
    """The length of the common prefix, in bytes."""
    same, differs = 0, min(len(one), len(other)) + 1
    while same + 1 < differs:
        middle = (same + differs) // 2
        same, differs = (middle, differs) if one[:middle] == other[:middle] else (same, middle)
    return same
