"""Aligns `=` and trailing comments as `terraform fmt` does; the rules were found by experiment with Terraform 1.11.

Consecutive lines with a one-line attribute or object element share one column for `=`. A value that opens a bracket and
continues on later lines ends the run and is not aligned; the line that opens a heredoc is aligned, and the run continues after it.
Comments and empty lines end a run. Trailing comments share a column over directly adjacent lines that have one.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from tree_sitter import Node

from gateway.terraform.lang.hcl import Document, parse
from reconciler.rewrite.editors.splice import common_start

_COMMENT = re.compile(rb"(\s*,)?\s*((?:#|//|/\*).*)?$")


@dataclass(frozen=True, slots=True)
class _Row:
    """One line to align, as offsets into the source."""

    line: int
    start: int
    key_end: int
    value_start: int
    value_end: int
    last_line: int
    """The line on which its value ends: a later line for a heredoc."""


def align(document: Document, among: Sequence[Node] | None = None) -> bytes:
    """The source of a document with every run aligned, or only those in some of its nodes."""
    result = bytearray(document.source)
    for row, text in reversed(list(_texts(document, [document.tree.root_node] if among is None else among))):
        result[row.start : _line_end(document.source, row.value_end)] = text
    return bytes(result)


def _texts(document: Document, among: Sequence[Node]) -> Iterator[tuple[_Row, bytes]]:
    """Each row in some nodes, in order, with the text that it has if its run is aligned."""
    rows = {row.line: row for row in _rows(document, among)}
    for run in _runs(rows):
        yield from zip(run, _aligned_run(document.source, run), strict=True)


def realign(before: Document, after: Document) -> Document:
    """The later version of a document, realigned if the earlier was aligned. Raises `CodeInvalid`."""
    if not is_aligned(before):
        return after
    start = common_start(before.source, after.source)
    same = common_start(before.source[start:][::-1], after.source[start:][::-1])
    source = align(after, _touched(after, start, len(after.source) - same))
    result = after if source == after.source else parse(after.path, source)
    _ALIGNED[result] = True
    return result


_ALIGNED: WeakKeyDictionary[Document, bool] = WeakKeyDictionary()
"""Whether a document is aligned, as far as that was asked: each is looked at once, however many edits are tried in it."""


def is_aligned(document: Document) -> bool:
    """Whether every run of a document is aligned."""
    if document not in _ALIGNED:
        _ALIGNED[document] = all(_is_aligned_in(document, nodes) for nodes in _apart(document))
    return _ALIGNED[document]


def _is_aligned_in(document: Document, nodes: Sequence[Node]) -> bool:
    source = document.source
    return all(source[row.start : _line_end(source, row.value_end)] == text for row, text in _texts(document, nodes))


def _apart(document: Document) -> Iterator[Sequence[Node]]:
    """The top-level nodes in groups that no run leaves: each block, or everything where attributes stand at the top."""
    top = document.root.children
    if any(node.type == "attribute" for node in top):
        yield top
    else:
        yield from ([node] for node in top)


def _touched(document: Document, start: int, end: int) -> Sequence[Node]:
    """The groups of top-level nodes at a span."""
    found = (nodes for nodes in _apart(document) if nodes[0].start_byte <= end and start <= nodes[-1].end_byte)
    return [node for nodes in found for node in nodes]


def _line_end(source: bytes, offset: int) -> int:
    end = source.find(b"\n", offset)
    return len(source) if end < 0 else end


def _rows(document: Document, among: Sequence[Node]) -> Iterator[_Row]:
    """Every attribute or object element in some nodes with `=` that comes first on its line and is aligned by the rules above."""
    todo = list(among)
    while todo:
        node = todo.pop()
        is_item = node.type in ("attribute", "object_elem")
        if is_item and (row := _row(document, node)) is not None:
            yield row
        if not is_item or node.start_point.row != node.end_point.row:  # what is within a line does not begin one
            todo.extend(node.children)


def _row(document: Document, node: Node) -> _Row | None:
    source = document.source
    start = source.rfind(b"\n", 0, node.start_byte) + 1
    sign = next((child for child in node.children if child.type == "="), None)
    if sign is None or source[start : node.start_byte].strip():
        return None
    key, value = node.children[0], node.children[-1]
    heredoc = source[value.start_byte : value.start_byte + 2] == b"<<"
    if value.start_point.row != value.end_point.row and not heredoc:
        return None
    if key.start_point.row != value.start_point.row:
        return None
    end = _line_end(source, value.start_byte) if heredoc else value.end_byte
    return _Row(node.start_point.row, start, key.end_byte, value.start_byte, end, node.end_point.row)


def _runs(rows: dict[int, _Row]) -> Iterator[list[_Row]]:
    """Groups of rows on consecutive lines; a heredoc's own lines do not count."""
    run: list[_Row] = []
    for line in sorted(rows):
        if run and run[-1].last_line + 1 != line:
            yield run
            run = []
        run.append(rows[line])
    if run:
        yield run


def _aligned_run(source: bytes, run: Sequence[_Row]) -> list[bytes]:
    keys = [source[row.start : row.key_end] for row in run]
    width = max(len(key.decode()) for key in keys)
    parts = [_parts(source, row) for row in run]
    lines = [
        key + b" " * (width - len(key.decode())) + b" = " + value for key, (value, _) in zip(keys, parts, strict=True)
    ]
    comments = [comment for _, comment in parts]
    for first, last in _commented(run, comments):
        column = max(len(line.decode()) for line in lines[first:last])
        for index in range(first, last):
            pad = b" " * (column - len(lines[index].decode()) + 1)
            lines[index] = lines[index] + pad + comments[index]
    return lines


def _parts(source: bytes, row: _Row) -> tuple[bytes, bytes]:
    """The value with its comma (and any other text on the line), and the trailing comment."""
    value = source[row.value_start : row.value_end].rstrip()
    rest = source[row.value_end : _line_end(source, row.value_end)].rstrip()
    match = _COMMENT.fullmatch(rest)
    if match is None:
        return value + rest, b""
    return value + (match.group(1) or b"").strip(), match.group(2) or b""


def _commented(run: Sequence[_Row], comments: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    """Ranges of rows on adjacent lines that all have a trailing comment."""
    index = 0
    while index < len(run):
        end = index
        while end < len(run) and comments[end] and (end == index or run[end].line == run[end - 1].line + 1):
            end += 1
        if end > index:
            yield index, end
        index = max(end, index + 1)
