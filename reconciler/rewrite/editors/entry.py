"""Adds an entry to a map or object that is written in place."""

import re
from collections.abc import Sequence

from gateway.model.json import Json
from gateway.terraform.lang import expression as e
from gateway.terraform.lang.hcl import Document
from reconciler.rewrite.editors import text
from reconciler.rewrite.editors.splice import Splice, alone_on_lines, indent_at, line_end, newline
from reconciler.rewrite.place import EntryPlace


def edit(place: EntryPlace, value: Json) -> Splice:
    """A new last entry in the style of the others: quoted or bare keys, `=` or `:`, one line or many, with or without commas.

    Raises `CannotEdit`.
    """
    document, node = place.document, place.node
    if not node.elements:
        return _first(document, node, place.key, value)
    last = node.elements[-1]
    key = text.key(place.key, always_quoted=_all_quoted(document, node.elements))
    sign = _sign(document, last)
    if b"\n" not in document.source[node.start : node.end]:
        return Splice(last.end, last.end, f", {key}{sign} {text.inline(value)}")
    if not alone_on_lines(document, last.start, last.end):
        raise text.CannotEdit("The map is not written with one entry on a line.")
    indent = indent_at(document, last.start)
    last = _last_of_the_plain(document, node.elements)
    comma = re.match(rb"[ \t]*,", document.source[last.end :]) is not None
    row = f"{newline(document)}{indent}{key}{sign} {text.to_hcl(value, indent)}{',' if comma else ''}"
    end = line_end(document, last.end)
    return Splice(end, end, row)


def _last_of_the_plain(document: Document, elements: Sequence[e.Element]) -> e.Element:
    """The entry to put a new one after: the last, or if that has several lines the last before it with one line."""
    plain = [each for each in elements if b"\n" not in document.source[each.start : each.end]]
    return plain[-1] if plain and elements[-1] not in plain else elements[-1]


def _first(document: Document, node: e.Object, name: str, value: Json) -> Splice:
    if document.source[node.start + 1 : node.end - 1].strip():
        raise text.CannotEdit("The map holds only comments.")
    return Splice(node.start, node.end, f"{{ {text.key(name)} = {text.inline(value)} }}")


def _all_quoted(document: Document, elements: Sequence[e.Element]) -> bool:
    return all(document.source[each.key.start : each.key.start + 1] == b'"' for each in elements)


def _sign(document: Document, element: e.Element) -> str:
    between = document.source[element.key.end : element.value.start].decode()
    return between.rstrip() if ":" in between else " ="
