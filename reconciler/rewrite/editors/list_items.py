"""Replaces the items of a list of scalars, keeping the lines, order and comments of those that stay."""

from collections.abc import Mapping, Sequence

from gateway.model.json import Json
from gateway.terraform.lang import expression as e
from gateway.terraform.lang.hcl import Document
from reconciler.rewrite.editors.splice import Splice, alone_on_lines, indent_at, line_end, newline
from reconciler.rewrite.editors.text import CannotEdit, to_hcl
from reconciler.rewrite.place import ListPlace


def edit(place: ListPlace, value: Json) -> Splice:
    """The list with exactly the wanted items, in the wanted order. Raises `CannotEdit` unless all items are scalars."""
    if isinstance(value, str | Mapping) or not isinstance(value, Sequence):
        raise CannotEdit("There is a list here, and the wanted value is not a list.")
    if not all(isinstance(item, str | bool | int | float) for item in value):
        raise CannotEdit("Only lists of plain values are edited as a whole.")
    items = [e.bare(item) for item in place.node.items]
    if not all(isinstance(item, e.LiteralValue) for item in items):
        raise CannotEdit("The list holds items that are calculated; which of them to replace is not certain.")
    document, node = place.document, place.node
    inside = document.source[node.start + 1 : node.end - 1]
    if b"\n" not in inside:
        if b"/*" in inside:
            raise CannotEdit("The list holds comments between its items.")
        return Splice(node.start, node.end, _inline(document, node, value))
    if not all(alone_on_lines(document, item.start, item.end) for item in node.items):
        raise CannotEdit("The list is not written with one item on a line.")
    return Splice(node.start, node.end, _lines(document, node, value))


def _inline(document: Document, node: e.Tuple, value: Sequence[Json]) -> str:
    old = {_key(item): _source(document, item) for item in node.items}
    return "[" + ", ".join(old.get(_text(item), to_hcl(item)) for item in value) + "]"


def _source(document: Document, item: e.Expression) -> str:
    return document.source[item.start : item.end].decode()


def _key(item: e.Expression) -> str:
    literal = e.bare(item)
    return _text(literal.value) if isinstance(literal, e.LiteralValue) else ""


def _text(value: Json) -> str:
    return f"{type(value).__name__}:{value}"


def _lines(document: Document, node: e.Tuple, value: Sequence[Json]) -> str:
    """One item per line; an item that stays keeps the comments above it and the one after it."""
    end_of_line = newline(document)
    indent = indent_at(document, node.start)
    inner = indent_at(document, node.items[0].start) if node.items else indent + "  "
    first = line_end(document, node.start) + len(end_of_line)
    opening = document.source[node.start : line_end(document, node.start)].decode()
    chunks: dict[str, tuple[str, str, str]] = {}
    position = first
    for item in node.items:
        stop = line_end(document, item.end)
        above = document.source[position : document.source.rfind(b"\n", 0, item.start) + 1].decode()
        after = document.source[item.end : stop].decode().strip().removeprefix(",").strip()
        chunks[_key(item)] = (above, _source(document, item), after)
        position = stop + len(end_of_line)
    below = document.source[position : document.source.rfind(b"\n", 0, node.end) + 1].decode()
    comma = _ends_with_comma(document, node)
    rows: list[str] = []
    for number, wanted in enumerate(value):
        above, source, after = chunks.get(_text(wanted), ("", to_hcl(wanted), ""))
        mark = "," if comma or number + 1 < len(value) else ""
        rows.append(f"{above}{inner}{source}{mark}{' ' + after if after else ''}{end_of_line}")
    return opening + end_of_line + "".join(rows) + below + indent + "]"


def _ends_with_comma(document: Document, node: e.Tuple) -> bool:
    if not node.items:
        return True
    return document.source[node.items[-1].end :].lstrip().startswith(b",")
