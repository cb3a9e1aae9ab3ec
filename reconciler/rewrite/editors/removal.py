"""Removes an entry of a map, where the live value is gone."""

import re

from gateway.model.json import Json
from gateway.terraform.lang.hcl import Document
from reconciler.rewrite.editors.splice import Splice, alone_on_lines, line_end, newline
from reconciler.rewrite.editors.text import CannotEdit
from reconciler.rewrite.trace import Trace


def edit(place: Trace, value: Json) -> Splice | None:
    """The entry's own lines removed, or the entry and one comma where it shares a line. Comments above it stay."""
    if place.kind != "literal" or value is not None or place.document is None:
        return None
    if place.element is None or place.holder is None:
        return None
    document, elements = place.document, place.holder.elements
    position = elements.index(place.element)
    element = place.element
    if b"\n" in document.source[place.holder.start : place.holder.end]:
        return _lines(document, element.start, element.end)
    if position + 1 < len(elements):
        return Splice(element.start, elements[position + 1].start, "")
    if position:
        return Splice(elements[position - 1].end, element.end, "")
    return Splice(place.holder.start, place.holder.end, "{}")


def _lines(document: Document, start: int, end: int) -> Splice:
    if not alone_on_lines(document, start, end):
        raise CannotEdit("The map is not written with one entry on a line.")
    if re.match(rb"[ \t]*,?[ \t]*(#|//)", document.source[end:]):
        raise CannotEdit("A comment stands behind the entry that is to go; a human should look at it.")
    first = document.source.rfind(b"\n", 0, start) + 1
    return Splice(first, line_end(document, end) + len(newline(document)), "")
