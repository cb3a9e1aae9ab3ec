"""Traces into JSON that is written as text: a member of a heredoc, or what Terraform puts in at that place."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gateway.core.errors import CodeInvalid
from gateway.terraform.json_syntax.tree import JsonArray, JsonNode, JsonObject, parse_tree
from gateway.terraform.lang import expression as e
from gateway.terraform.lang import values
from gateway.terraform.lang.evaluate import find, value_of
from gateway.terraform.lang.expression import Expression
from gateway.terraform.lang.values import Unknown
from reconciler.rewrite.trace.functions import template
from reconciler.rewrite.trace.interpolations import ESCAPED, NotPlain, end_of_interpolation
from reconciler.rewrite.trace.sites import Cursor, DocumentSite, Follow, TracedSite
from reconciler.terraform.json_documents import document_in


class NotJson(Exception):
    """The text is not one JSON document."""


@dataclass(frozen=True, slots=True)
class Span:
    """One value of a document: offsets into the text, and what is inside."""

    start: int
    end: int
    kind: str
    """`object`, `list`, `text` or `word`; `interpolation` for a value that Terraform puts in."""
    keys: tuple[tuple[str, int], ...] = ()
    """Of an object: each key, and where it begins."""
    items: "tuple[Span, ...]" = ()
    """The values inside, of an object in the order of its keys."""

    def at(self, steps: Sequence[str]) -> "Span | None":
        """The value at the steps of a path; None if there is none."""
        if not steps:
            return self
        if self.kind == "object":
            for length in range(len(steps), 0, -1):
                name = ".".join(steps[:length])
                for (key, _), item in zip(self.keys, self.items, strict=True):
                    if key == name:
                        return item.at(steps[length:])
        if self.kind == "list" and steps[0].isdecimal() and int(steps[0]) < len(self.items):
            return self.items[int(steps[0])].at(steps[1:])
        return None


def spans(source: bytes) -> Span:
    """The document in a text. Raises `NotJson`. Offsets are bytes."""
    try:
        masked, holes = _masked(source.decode("latin-1"))
        return _span(parse_tree(Path(), masked.encode("latin-1")), holes)
    except (CodeInvalid, NotPlain):
        raise NotJson from None


def _span(node: JsonNode, holes: frozenset[int]) -> Span:
    match node:
        case JsonObject(start=start, end=end, members=members):
            keys = tuple((member.key, member.start) for member in members)
            return Span(start, end, "object", keys, tuple(_span(member.value, holes) for member in members))
        case JsonArray(start=start, end=end, items=items):
            return Span(start, end, "list", items=tuple(_span(item, holes) for item in items))
    kind = "interpolation" if node.start in holes else "text" if isinstance(node.value, str) else "word"
    return Span(node.start, node.end, kind)


def _masked(text: str) -> tuple[str, frozenset[int]]:
    """The text with each interpolation replaced by letters of the same length, a text of its own if it is a whole value."""
    result: list[str] = []
    holes: set[int] = set()
    position, inside = 0, False
    while position < len(text):
        if text.startswith(ESCAPED, position):
            result.append(text[position : position + 3])
            position += 3
        elif text.startswith(("${", "%{"), position):
            end = end_of_interpolation(text, position + 2)
            length = end - position
            result.append("x" * length if inside else '"' + "x" * (length - 2) + '"')
            if not inside:
                holes.add(position)
            position = end
        elif inside and text[position] == "\\":
            result.append(text[position : position + 2])
            position += 2
        else:
            inside ^= text[position] == '"'
            result.append(text[position])
            position += 1
    return "".join(result), frozenset(holes)


_HEREDOC = re.compile(rb"<<-?[^\n]*\n")


def in_text(
    cursor: Cursor, expression: e.Template | e.LiteralValue, path: tuple[str, ...], follow: Follow
) -> Iterator[TracedSite]:
    """Sites of a member of the JSON document in a text."""
    source = cursor.document.source[expression.start : expression.end]
    opening = _HEREDOC.match(source)
    if opening is None:
        yield replace(document_site(cursor, expression, (expression.start, expression.end), path), quoted=True)
        return
    start = expression.start + opening.end()
    end = expression.start + source.rstrip().rfind(b"\n")
    parts = expression.parts if isinstance(expression, e.Template) else ()
    try:
        yield from in_span(cursor, (start, end), [part for part in parts if not isinstance(part, str)], path, follow)
    except NotJson:
        yield cursor.refuse("The text is not one JSON document, so no member of it is edited.", expression)
        return
    yield document_site(cursor, expression, (start, end), path)


def in_span(
    cursor: Cursor, where: tuple[int, int], parts: list[Expression], path: tuple[str, ...], follow: Follow
) -> Iterator[TracedSite]:
    """Sites in what Terraform puts in at a member. Raises `NotJson`."""
    whole = spans(cursor.document.source[where[0] : where[1]])
    found, rest = _deepest(whole, path)
    inside = [part for part in parts if found.start <= part.start - where[0] < found.end]
    if found.kind == "interpolation" and len(inside) == 1:
        part = e.bare(inside[0])
        if isinstance(part, e.FunctionCall) and part.name == "jsonencode" and len(part.arguments) == 1:
            yield from follow(replace(cursor, entry=None), part.arguments[0], rest)
        else:
            yield from follow(replace(cursor, entry=None), part, rest)
    elif found.kind == "text" and inside and not rest and all(_is_plain(cursor, part) for part in inside):
        yield from template(cursor, _inner_template(cursor, found, where[0], inside), follow)


def _is_plain(cursor: Cursor, part: Expression) -> bool:
    """Whether a part stands in `${ }` without markers: what a directive or a marker leaves of the text beside it is not its source."""
    source = cursor.document.source
    end = source[part.end : part.end + 200].lstrip(b" \t\n")
    return source[: part.start].rstrip(b" \t\n").endswith(b"${") and end.startswith(b"}")


def _deepest(span: Span, path: tuple[str, ...]) -> tuple[Span, tuple[str, ...]]:
    """The deepest value on the way of a path, and the steps that are left."""
    for length in range(len(path), 0, -1):
        found = span.at(path[:length])
        if found is not None:
            return found, path[length:]
    return span, path


def _inner_template(cursor: Cursor, span: Span, offset: int, parts: list[Expression]) -> e.Template:
    """A text of the document as a template of its own."""
    written: list[str | Expression] = []
    source, position, end = cursor.document.source, offset + span.start + 1, offset + span.end - 1
    for part in parts:
        opening = source.rfind(b"${", position, part.start)
        written += [source[position:opening].decode(), part]
        position = source.find(b"}", part.end) + 1
    written.append(source[position:end].decode())
    return e.Template(offset + span.start, offset + span.end, tuple(part for part in written if part != ""))


def document_site(
    cursor: Cursor, expression: Expression, where: tuple[int, int], path: tuple[str, ...]
) -> DocumentSite:
    """The member itself as a site."""
    now = None
    try:
        document = document_in(value_of(expression, cursor.scope))
        now = None if document is None else values.to_json(find(document, path))
    except Unknown:
        pass
    line = f"{cursor.document.at(where[0])} {'.'.join(path)} of the JSON document"
    return DocumentSite(
        document=cursor.document,
        convert=cursor.convert,
        chain=(*cursor.chain, line),
        start=where[0],
        end=where[1],
        steps=path,
        now=now,
    )
