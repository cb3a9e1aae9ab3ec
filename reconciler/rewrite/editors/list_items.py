"""Replaces the items of a list, keeping the lines, order and comments of those that stay; adds or removes one item."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from gateway.core.model.json import Json
from gateway.terraform.lang import expression as e
from gateway.terraform.lang.evaluate import evaluate
from gateway.terraform.lang.hcl import Document
from gateway.terraform.lang.values import Unknown
from reconciler.rewrite.editors import hcl_text
from reconciler.rewrite.editors.hcl_text import CannotEdit, inline, to_hcl
from reconciler.rewrite.editors.splice import Splice, alone_on_lines, indent_at, line_end, merge_splices, newline
from reconciler.rewrite.trace.references import names_object
from reconciler.rewrite.trace.sites import ListSite
from reconciler.rewrite.value_parts import alike

_COMMENT = re.compile(r"#|//|/\*")


def replace_items(site: ListSite, value: Json) -> Splice:
    """The list with exactly the wanted items, in the wanted order. Raises `CannotEdit`.

    An item that is calculated stays as it is written while its value is wanted.
    """
    if isinstance(value, str | Mapping) or not isinstance(value, Sequence):
        raise CannotEdit("There is a list here, and the wanted value is not a list.")
    rows = [_Row(value=item, item=found) for item, found in zip(value, _found(site, value), strict=True)]
    document, node = site.document, site.node
    inside = document.source[node.start + 1 : node.end - 1]
    plain = not any(isinstance(row.value, Mapping | Sequence) and not isinstance(row.value, str) for row in rows)
    if b"\n" not in inside:
        if b"/*" in _between(document, node):
            raise CannotEdit("The list holds comments between its items.")
        written_inline = plain or (bool(node.items) and _all_objects_inline(document, node))
        return Splice(
            node.start, node.end, _inline(document, rows) if written_inline else _opened(document, node, rows)
        )
    if all(alone_on_lines(document, item.start, item.end) for item in node.items):
        return Splice(node.start, node.end, _lines(document, node, rows))
    return _joined(document, node, rows)


class _Row:
    """One item of the new list: its value, and the item of the old list that has the value."""

    def __init__(self, value: Json, item: e.Expression | None) -> None:
        self.value, self.item = value, item


def _found(site: ListSite, wanted: Sequence[Json]) -> list[e.Expression | None]:
    """For each wanted item the item of the list that is written already. Raises `CannotEdit`."""
    items: list[tuple[e.Expression, Json]] = []
    for item in site.node.items:
        try:
            items.append((item, evaluate(item, site.scope)))
        except Unknown:
            raise CannotEdit(
                "The list holds items that are calculated; which of them to replace is not certain."
            ) from None
    found: list[e.Expression | None] = []
    for value in wanted:
        position = next((index for index, (_, now) in enumerate(items) if _typed_alike(now, value)), None)
        found.append(None if position is None else items.pop(position)[0])
    # Where nothing is new, those that are too many go, however they are written.
    if None in found and any(
        not isinstance(e.bare(item), e.LiteralValue | e.Object) and not names_object(e.bare(item)) for item, _ in items
    ):
        raise CannotEdit("The list holds items that are calculated; which of them to replace is not certain.")
    return found


def _typed_alike(now: Json, wanted: Json) -> bool:
    if isinstance(now, Mapping | list) and isinstance(wanted, Mapping | list):
        return alike(now, wanted)
    return type(now) is type(wanted) and now == wanted


def _between(document: Document, node: e.Tuple) -> bytes:
    """What stands between the items."""
    edges = [node.start + 1, *(edge for item in node.items for edge in (item.start, item.end)), node.end - 1]
    return b"".join(document.source[one:end] for one, end in zip(edges[::2], edges[1::2], strict=True))


def _source(document: Document, item: e.Expression) -> str:
    return document.source[item.start : item.end].decode()


def _inline(document: Document, rows: Sequence[_Row]) -> str:
    return "[" + ", ".join(_source(document, row.item) if row.item else inline(row.value) for row in rows) + "]"


def _all_objects_inline(document: Document, node: e.Tuple) -> bool:
    return all(
        isinstance(e.bare(item), e.Object) and b"\n" not in document.source[item.start : item.end]
        for item in node.items
    )


def _opened(document: Document, node: e.Tuple, rows: Sequence[_Row]) -> str:
    """A list on one line as a list of one item on a line."""
    end_of_line = newline(document)
    indent = indent_at(document, node.start)
    inner = indent + "  "
    if not rows:
        return "[]"
    written = [_source(document, row.item) if row.item else to_hcl(row.value, inner) for row in rows]
    return "[" + end_of_line + "".join(f"{inner}{each},{end_of_line}" for each in written) + indent + "]"


def _like_siblings(document: Document, node: e.Tuple, value: Json, indent: str) -> str:
    """A new item in the style of the others: on one line if they are, with their order of keys and their kind of keys."""
    siblings = [item for item in map(e.bare, node.items) if isinstance(item, e.Object)]
    if not isinstance(value, Mapping) or not siblings:
        return to_hcl(value, indent)
    model = siblings[0]
    keys = [each.key.value for each in model.elements if isinstance(each.key, e.LiteralValue)]
    ordered = {str(key): value[str(key)] for key in keys if str(key) in value}
    ordered |= {key: item for key, item in value.items() if key not in ordered}
    quoted = all(document.source[each.key.start : each.key.start + 1] == b'"' for each in model.elements)
    colon = model.elements and re.match(rb"\s*:", document.source[model.elements[0].key.end :])
    if _all_objects_inline(document, node):
        return inline(ordered)
    return hcl_text.object_text(ordered, indent, quoted=quoted and bool(model.elements), sign=":" if colon else "=")


def _lines(document: Document, node: e.Tuple, rows: Sequence[_Row]) -> str:
    """One item per line; an item that stays keeps the comments above it and the one after it."""
    end_of_line = newline(document)
    indent = indent_at(document, node.start)
    inner = indent_at(document, node.items[0].start) if node.items else indent + "  "
    first = line_end(document, node.start) + len(end_of_line)
    opening = document.source[node.start : line_end(document, node.start)].decode()
    chunks: dict[int, tuple[str, str]] = {}
    position = first
    for item in node.items:
        stop = line_end(document, item.end)
        above = document.source[position : document.source.rfind(b"\n", 0, item.start) + 1].decode()
        after = document.source[item.end : stop].decode().strip().removeprefix(",").strip()
        chunks[item.start] = (above, after)
        position = stop + len(end_of_line)
    below = document.source[position : document.source.rfind(b"\n", 0, node.end) + 1].decode()
    comma = _ends_with_comma(document, node)
    written: list[str] = []
    for number, row in enumerate(rows):
        above, after = chunks[row.item.start] if row.item else ("", "")
        source = _source(document, row.item) if row.item else _like_siblings(document, node, row.value, inner)
        mark = "," if comma or number + 1 < len(rows) else ""
        written.append(f"{above}{inner}{source}{mark}{' ' + after if after else ''}{end_of_line}")
    return opening + end_of_line + "".join(written) + below + indent + "]"


def _joined(document: Document, node: e.Tuple, rows: Sequence[_Row]) -> Splice:
    """A list whose items share lines, as in `[{` … `}, {` … `}]`: a plain item takes the place of one that goes between the same two others; the
    rest is cut out, and what is new follows the item before it.
    """
    kept = [row.item for row in rows if row.item is not None]
    places = _places(node, rows)
    if [item.start for item in kept] != sorted(item.start for item in kept) or not places.following:
        raise CannotEdit("The list is not written with one item on a line.")
    staying = {item.start for item, _ in places.following}
    splices = [Splice(item.start, item.end, to_hcl(value, "")) for item, value in places.replaced]
    splices += [
        _cut(document, node, index, staying) for index, item in enumerate(node.items) if item.start not in staying
    ]
    splices += [_following(document, node, item, new) for item, new in places.following if new]
    return merge_splices(document, splices)


@dataclass(frozen=True, slots=True)
class _Places:
    replaced: list[tuple[e.Expression, Json]]
    """Items, each with the value that takes its place."""
    following: list[tuple[e.Expression, list[Json]]]
    """Items that stay, each with the values that follow it."""


def _places(node: e.Tuple, rows: Sequence[_Row]) -> _Places:
    """Where the new values go. What would come before the first item that stays follows the last one."""
    kept = {row.item.start for row in rows if row.item is not None}
    free: dict[int, list[e.Expression]] = {}
    behind = 0
    for item in node.items:
        if item.start in kept:
            behind = item.start
        else:
            free.setdefault(behind, []).append(item)
    found = _Places([], [])
    here, first = 0, list[Json]()
    for row in rows:
        if row.item is not None:
            here = row.item.start
            found.following.append((row.item, []))
        elif _is_plain(row.value) and free.get(here) and isinstance(e.bare(free[here][0]), e.LiteralValue):
            item = free[here].pop(0)
            found.replaced.append((item, row.value))
            found.following.append((item, []))
        else:
            (found.following[-1][1] if found.following else first).append(row.value)
    if found.following:
        found.following[-1][1].extend(first)
    return found


def _is_plain(value: Json) -> bool:
    return isinstance(value, str | int | float | bool)


def _cut(document: Document, node: e.Tuple, index: int, staying: Collection[int]) -> Splice:
    """One item cut out, with its comma; a comment behind one that stays remains. Of an object that ends the list the closing brace stays, where
    `fmt` wants it. `staying` are the starts of the items that stay.
    """
    item = node.items[index]
    if any(later.start in staying for later in node.items[index:]):
        following = node.items[index + 1]
        lines = [document.source.rfind(b"\n", 0, each.start) + 1 for each in (item, following)]
        if all(
            not document.source[line : each.start].strip() for line, each in zip(lines, (item, following), strict=True)
        ):
            return Splice(lines[0], lines[1], "")
        return Splice(item.start, following.start, "")
    before = node.items[index - 1]
    one, other = (_closing_line(document, each) for each in (before, item))
    between = document.source[before.end : item.start].decode()
    rest = between.replace(",", "", 1) if before.start in staying and _COMMENT.search(between) else ""
    return Splice(before.end, item.end, rest) if one is None or other is None else Splice(one, other, "")


def _closing_line(document: Document, item: e.Expression) -> int | None:
    """The start of the line of an object's closing brace, if nothing else stands before it."""
    start = document.source.rfind(b"\n", 0, item.end) + 1
    brace = isinstance(e.bare(item), e.Object) and start > item.start
    return start if brace and not document.source[start : item.end - 1].strip() else None


def _following(document: Document, node: e.Tuple, item: e.Expression, new: Sequence[Json]) -> Splice:
    """New items behind one that stays, in the style `}, {` if that is an object of several lines."""
    indent = indent_at(document, node.start)
    closing = _closing_line(document, item)
    written = [_like_siblings(document, node, value, indent) for value in new]
    if closing is None or not all(each.startswith("{") and "\n" in each for each in written):
        return Splice(item.end, item.end, "".join(f", {each}" for each in written))
    inner = indent + "  "
    joined = f"\n{inner}}}, ".join(each.removesuffix(f"\n{indent}}}") for each in written)
    return Splice(closing, item.end, f"{inner}}}, {joined}\n{indent}}}".replace("\n", newline(document)))


def _ends_with_comma(document: Document, node: e.Tuple) -> bool:
    if not node.items:
        return True
    return document.source[node.items[-1].end :].lstrip().startswith(b",")


def remove_item(document: Document, node: e.Tuple, position: int) -> Splice:
    """The item's own lines removed, or the item and one comma if it shares a line. Raises `CannotEdit`."""
    item = node.items[position]
    if b"\n" in document.source[node.start : node.items[-1].start] and len(node.items) > 1:
        if not alone_on_lines(document, item.start, item.end):
            return _cut(document, node, position, {each.start for each in node.items} - {item.start})
        first = document.source.rfind(b"\n", 0, item.start) + 1
        return Splice(first, line_end(document, item.end) + len(newline(document)), "")
    if position + 1 < len(node.items):
        return Splice(item.start, node.items[position + 1].start, "")
    if position:
        return Splice(node.items[position - 1].end, item.end, "")
    return Splice(node.start, node.end, "[]")


def append_item(document: Document, node: e.Tuple, text: str) -> Splice:
    """A new last item, on a line of its own if the others are. Raises `CannotEdit`."""
    if not node.items:
        return Splice(node.start, node.end, f"[{text}]")
    last = node.items[-1]
    if not alone_on_lines(document, last.start, last.end):
        return Splice(last.end, last.end, f", {text}")
    comma = re.match(rb"[ \t]*,", document.source[last.end :])
    row = f"{newline(document)}{indent_at(document, last.start)}{text}"
    if comma:
        end = line_end(document, last.end)
        return Splice(end, end, f"{row},")
    if document.source[last.end : line_end(document, last.end)].strip():
        raise CannotEdit("A comment follows the last item of the list.")
    return Splice(last.end, last.end, f",{row}")
