"""Removes one item of a list that is written in place, whatever the item is, or adds one behind the others."""

import re

from gateway.terraform.lang import expression as e
from gateway.terraform.lang.hcl import Document
from reconciler.rewrite.editors.splice import Splice, alone_on_lines, indent_at, line_end, newline
from reconciler.rewrite.editors.text import CannotEdit


def remove(document: Document, node: e.Tuple, position: int) -> Splice:
    """The item's own lines removed, or the item and one comma if it shares a line. Raises `CannotEdit`."""
    item = node.items[position]
    if b"\n" in document.source[node.start : node.items[0].start]:
        if not alone_on_lines(document, item.start, item.end):
            raise CannotEdit("The list is not written with one item on a line.")
        first = document.source.rfind(b"\n", 0, item.start) + 1
        return Splice(first, line_end(document, item.end) + len(newline(document)), "")
    if position + 1 < len(node.items):
        return Splice(item.start, node.items[position + 1].start, "")
    if position:
        return Splice(node.items[position - 1].end, item.end, "")
    return Splice(node.start, node.end, "[]")


def append(document: Document, node: e.Tuple, text: str) -> Splice:
    """A new last item, on a line of its own if the others are. Raises `CannotEdit`."""
    if not node.items:
        return Splice(node.start, node.end, f"[{text}]")
    last = node.items[-1]
    if b"\n" not in document.source[node.start : node.items[0].start]:
        return Splice(last.end, last.end, f", {text}")
    if not alone_on_lines(document, last.start, last.end):
        raise CannotEdit("The list is not written with one item on a line.")
    comma = re.match(rb"[ \t]*,", document.source[last.end :])
    row = f"{newline(document)}{indent_at(document, last.start)}{text}"
    if comma:
        end = line_end(document, last.end)
        return Splice(end, end, f"{row},")
    if document.source[last.end : line_end(document, last.end)].strip():
        raise CannotEdit("A comment follows the last item of the list.")
    return Splice(last.end, last.end, f",{row}")
