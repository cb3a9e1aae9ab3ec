"""Removes a whole top-level block with the comment above it, or adds one at the end of a file."""

from tree_sitter import Node

from gateway.terraform.lang.hcl import Document
from reconciler.rewrite.editors.splice import Splice, line_end, newline, start_with_comment


def remove_block(document: Document, block: Node) -> Splice:
    """The block's lines removed, with the comment directly above and one of the empty lines around it."""
    source, gap = document.source, len(newline(document))
    start = start_with_comment(document, source.rfind(b"\n", 0, block.start_byte) + 1)
    end = min(line_end(document, block.end_byte) + gap, len(source))
    if _empty_line_at(document, end) and (start == 0 or _empty_line_before(document, start)):
        end = min(line_end(document, end) + gap, len(source))
    elif end == len(source) and _empty_line_before(document, start):
        start -= gap
    return Splice(start, end, "")


def append_block(document: Document, text: str, after: Node | None = None) -> Splice:
    """A block's text after another top-level block, or at the end of the file, with an empty line between."""
    end_of_line = newline(document)
    text = text.rstrip("\n").replace("\n", end_of_line)
    if after is not None:
        end = line_end(document, after.end_byte)
        return Splice(end, end, f"{end_of_line}{end_of_line}{text}")
    end = len(document.source)
    kept = document.source.rstrip()
    if not kept:
        return Splice(0, end, text + end_of_line)
    return Splice(len(kept), end, f"{end_of_line}{end_of_line}{text}{end_of_line}")


def _empty_line_at(document: Document, offset: int) -> bool:
    return offset < len(document.source) and not document.source[offset : line_end(document, offset)].strip()


def _empty_line_before(document: Document, offset: int) -> bool:
    above = document.source.rfind(b"\n", 0, max(offset - 1, 0)) + 1
    return offset > 0 and not document.source[above:offset].strip()
