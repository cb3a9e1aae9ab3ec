"""Adds an entry to a map or object that is written in place, or removes one."""

import re
from collections.abc import Sequence

from gateway.core.model.json import Json
from gateway.terraform.lang import expression as e
from gateway.terraform.lang.hcl import Document
from reconciler.rewrite.editors import hcl_text
from reconciler.rewrite.editors.hcl_text import CannotEdit
from reconciler.rewrite.editors.splice import Splice, alone_on_lines, indent_at, line_end, newline, start_with_comment
from reconciler.rewrite.trace.sites import EntrySite, ObjectEntry


def add_entry(site: EntrySite, value: Json) -> Splice:
    """A new last entry in the style of the others: quoted or bare keys, `=` or `:`, one line or many, with or without commas.

    Raises `CannotEdit`.
    """
    document, node = site.document, site.node
    if not node.elements:
        return _first(document, node, site.key, value)
    last = node.elements[-1]
    key = hcl_text.key(site.key, always_quoted=_all_quoted(document, node.elements))
    sign = _sign(document, last)
    if b"\n" not in document.source[node.start : node.end]:
        return Splice(last.end, last.end, f", {key}{sign} {hcl_text.inline(value)}")
    if not alone_on_lines(document, last.start, last.end):
        raise hcl_text.CannotEdit("The map is not written with one entry on a line.")
    indent = indent_at(document, last.start)
    last = _last_of_the_plain(document, node.elements)
    comma = re.match(rb"[ \t]*,", document.source[last.end :]) is not None
    row = f"{newline(document)}{indent}{key}{sign} {hcl_text.to_hcl(value, indent)}{',' if comma else ''}"
    end = line_end(document, last.end)
    return Splice(end, end, row)


def _last_of_the_plain(document: Document, elements: Sequence[e.Element]) -> e.Element:
    """The entry to put a new one after: the last, or if that has several lines the last before it with one line."""
    plain = [each for each in elements if b"\n" not in document.source[each.start : each.end]]
    return plain[-1] if plain and elements[-1] not in plain else elements[-1]


def _first(document: Document, node: e.Object, name: str, value: Json) -> Splice:
    if document.source[node.start + 1 : node.end - 1].strip():
        raise hcl_text.CannotEdit("The map holds only comments.")
    return Splice(node.start, node.end, f"{{ {hcl_text.key(name)} = {hcl_text.inline(value)} }}")


def _all_quoted(document: Document, elements: Sequence[e.Element]) -> bool:
    return all(document.source[each.key.start : each.key.start + 1] == b'"' for each in elements)


def _sign(document: Document, element: e.Element) -> str:
    between = document.source[element.key.end : element.value.start].decode()
    return between.rstrip() if ":" in between else " ="


def remove_entry(document: Document, entry: ObjectEntry, *, with_comments: bool = False) -> Splice:
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
