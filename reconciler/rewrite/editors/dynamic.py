"""Adds a `dynamic` block that makes one nested block for each item of a list."""

from collections.abc import Mapping, Sequence

from tree_sitter import Node

from gateway.model.json import Json
from gateway.terraform.lang.hcl import Document
from reconciler.rewrite.editors.splice import Splice, indent_at, line_end, newline
from reconciler.rewrite.editors.text import CannotEdit


def rows_of(value: Json) -> list[dict[str, Json]]:
    """What is set in each of the wanted blocks. Raises `CannotEdit` for blocks in blocks, which one list does not hold."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise CannotEdit("The value is no list of blocks.")
    found: list[dict[str, Json]] = []
    for row in value:
        if not isinstance(row, Mapping):
            raise CannotEdit("The value is no list of blocks.")
        kept: dict[str, Json] = {name: item for name, item in row.items() if item not in (None, "", [], {})}
        if any(isinstance(item, Mapping) or _holds_maps(item) for item in kept.values()):
            raise CannotEdit("The wanted block has blocks of its own.")
        found.append(kept)
    return found


def edit(document: Document, block: Node, name: str, names: Sequence[str], collection: str) -> Splice:
    """The block after the last attribute or nested block, before `lifecycle`. Raises `CannotEdit` for a block on one line."""
    opening = next(child for child in block.children if child.type == "block_start")
    closing = next(child for child in block.children if child.type == "block_end")
    if opening.start_point.row == closing.start_point.row:
        raise CannotEdit("The block is written on one line.")
    indent = indent_at(document, block.start_byte) + "  "
    width = max(map(len, names), default=0)
    rows = [
        f'dynamic "{name}" {{',
        f"  for_each = {collection}",
        "",
        "  content {",
        *(f"    {each.ljust(width)} = {name}.value.{each}" for each in names),
        "  }",
        "}",
    ]
    text = newline(document).join(indent + row if row else "" for row in rows)
    body = document.body(block)
    before = [
        child
        for child in (() if body is None else body.children)
        if child.type in ("attribute", "block")
        and not (child.type == "block" and document.header(child)[0] == "lifecycle")
    ]
    end = line_end(document, before[-1].end_byte if before else opening.end_byte)
    gap = newline(document) * (2 if before else 1)
    return Splice(end, end, gap + text)


def _holds_maps(value: Json) -> bool:
    if not isinstance(value, Sequence) or isinstance(value, str):
        return False
    return any(isinstance(item, Mapping) for item in value)
