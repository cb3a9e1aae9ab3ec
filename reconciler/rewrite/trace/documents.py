"""Traces into JSON that is written as text: a member of a heredoc, or what Terraform puts in at that place."""

import re
from collections.abc import Iterator
from dataclasses import replace

from gateway.terraform.lang import expression as e
from gateway.terraform.lang import values
from gateway.terraform.lang.evaluate import find, value_of
from gateway.terraform.lang.expression import Expression
from gateway.terraform.lang.values import Unknown
from reconciler.rewrite.json_spans import NotJson, Span, spans
from reconciler.rewrite.trace.functions import template
from reconciler.rewrite.trace.sites import Cursor, DocumentSite, Follow, TracedSite
from reconciler.terraform.json_documents import document_in

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
