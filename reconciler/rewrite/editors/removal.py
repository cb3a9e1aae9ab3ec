"""Removes an entry of a map, if live no longer has it."""

import re

from gateway.terraform.lang.hcl import Document
from reconciler.rewrite.editors.splice import Splice, alone_on_lines, line_end, newline, start_with_comment
from reconciler.rewrite.editors.text import CannotEdit
from reconciler.rewrite.place import ObjectEntry


def edit(document: Document, entry: ObjectEntry, *, with_comments: bool = False) -> Splice:
    """The entry's own lines removed, or the entry and one comma if it shares a line. Comments above it stay.

    With `with_comments`, what the entry stands for is gone, so the comments directly above and after it go too. Raises `CannotEdit`.
    """
    element, holder = entry.element, entry.holder
    elements = holder.elements
    position = elements.index(element)
    between = document.source[holder.start + 1 : element.start] + document.source[element.end : holder.end - 1]
    if len(elements) == 1 and not between.strip(b" \t\r\n,"):
        return Splice(holder.start, holder.end, "{}")
    if b"\n" in document.source[holder.start : holder.end]:
        return _lines(document, element.start, element.end, with_comments=with_comments)
    if position + 1 < len(elements):
        return Splice(element.start, elements[position + 1].start, "")
    if position:
        return Splice(elements[position - 1].end, element.end, "")
    return Splice(holder.start, holder.end, "{}")


def _lines(document: Document, start: int, end: int, *, with_comments: bool) -> Splice:
    if not alone_on_lines(document, start, end):
        raise CannotEdit("The map is not written with one entry on a line.")
    if not with_comments and re.match(rb"[ \t]*,?[ \t]*(#|//)", document.source[end:]):
        raise CannotEdit("A comment follows the entry that would be removed; a human should look at it.")
    first = document.source.rfind(b"\n", 0, start) + 1
    first = start_with_comment(document, first) if with_comments else first
    return Splice(first, line_end(document, end) + len(newline(document)), "")
