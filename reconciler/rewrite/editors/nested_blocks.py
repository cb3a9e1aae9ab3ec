"""Adds and removes nested blocks: a new one after its last sibling, a removed one with the comment above it, a `dynamic` one for a list."""

from collections.abc import Mapping, Sequence

from tree_sitter import Node

from gateway.core.model.json import Json
from gateway.terraform.config.module import body, nested
from gateway.terraform.lang import values
from gateway.terraform.lang.hcl import Document
from gateway.terraform.lang.values import Unknown, Value
from reconciler.rewrite.editors import hcl_text
from reconciler.rewrite.editors.hcl_text import CannotEdit
from reconciler.rewrite.editors.splice import Splice, indent_at, line_end, merge_splices, newline, start_with_comment
from reconciler.rewrite.trace.sites import BlocksSite
from reconciler.rewrite.value_parts import alike

_FIRST = ("name", "key", "description", "type", "test", "variable", "priority", "from_port", "to_port", "protocol")
"""Arguments that people write first, in this order."""
_LAST = frozenset({"connection", "depends_on", "lifecycle", "provisioner", "timeouts"})
"""Members that stay at the end."""


def edit_blocks(site: BlocksSite, value: Json) -> Splice:
    """The blocks of one type, exactly the wanted ones: those that stay are not touched. Raises `CannotEdit`."""
    if value is None:
        value = []
    if not isinstance(value, list) or not all(isinstance(row, Mapping) for row in value):
        raise hcl_text.CannotEdit(f"{site.block_type} is not in the code, and it is not written as blocks.")
    document = site.document
    rest: list[Mapping[str, Json]] = [row for row in value if isinstance(row, Mapping)]
    removed: list[Node] = []
    for row in nested(document, site.block, site.block_type, site.scope):
        known = _known(body(document, row.block, row.scope))
        position = next((index for index, wanted in enumerate(rest) if alike(known, wanted)), None)
        if position is not None:
            del rest[position]
        elif row.dynamic is not None:
            raise hcl_text.CannotEdit(f"A dynamic block makes {site.block_type}, and what it is made from decides.")
        else:
            removed.append(row.block)
    splices = [_removal(document, block) for block in removed]
    if len(removed) == len(rest) == 1 and len(document.blocks(site.block, site.block_type)) == 1:
        return _replaced(site, removed[0], rest[0])
    return merge_splices(document, [*splices, *_additions(site, rest, removed)])


def _replaced(site: BlocksSite, block: Node, row: Mapping[str, Json]) -> Splice:
    """The only block of its type, replaced where it stands."""
    indent = indent_at(site.document, block.start_byte)
    new = block_text(site.block_type, row, indent).removeprefix(indent).replace("\n", newline(site.document))
    return Splice(block.start_byte, block.end_byte, new)


def _known(found: Mapping[str, Value]) -> dict[str, Json]:
    try:
        return {name: values.to_json(value) for name, value in found.items()}
    except Unknown as error:
        raise hcl_text.CannotEdit(f"Which block to edit is not certain: {error}.") from None


def _removal(document: Document, block: Node) -> Splice:
    """The lines of a block, of the comments directly above it, and one empty line beside it."""
    source = document.source
    start = start_with_comment(document, _line_start(source, block.start_byte))
    end = min(line_end(document, block.end_byte) + len(newline(document)), len(source))
    above = _line_start(source, start - 1) if start else None
    if above is not None and not source[above:start].strip():
        start = above
    elif not source[end : source.find(b"\n", end) + 1].strip():
        end = source.find(b"\n", end) + 1 or end
    return Splice(start, end, "")


def _line_start(source: bytes, offset: int) -> int:
    return source.rfind(b"\n", 0, offset) + 1


def _additions(site: BlocksSite, rows: Sequence[Mapping[str, Json]], removed: Sequence[Node]) -> list[Splice]:
    if not rows:
        return []
    document = site.document
    outer = indent_at(document, site.block.start_byte)
    end_of_line = newline(document)
    if not document.blocks(site.block, site.block_type):
        rows = [{name: value for name, value in row.items() if value is not False} for row in rows]
    written = [block_text(site.block_type, row, outer + "  ").replace("\n", end_of_line) for row in rows]
    _close(site.block)
    gone = {block.id for block in removed}
    all_siblings = (
        *document.blocks(site.block, site.block_type),
        *document.blocks(site.block, "dynamic", site.block_type),
    )
    siblings = sorted((block for block in all_siblings if block.id not in gone), key=lambda block: block.start_byte)
    if siblings:
        tight = len(siblings) > 1 and siblings[1].start_point.row == siblings[0].end_point.row + 1
        end = line_end(document, siblings[-1].end_byte)
        gap = end_of_line if tight else 2 * end_of_line
        return [Splice(end, end, "".join(gap + each for each in written))]
    return [first_of_its_type(document, site.block, (2 * end_of_line).join(written))]


def first_of_its_type(document: Document, block: Node, new: str) -> Splice:
    """The splice that adds a nested block, or several, to a block that has none of its type: after its other members, before `lifecycle`,
    `depends_on` and their like and the comments above them. Raises `CannotEdit`.
    """
    close = _close(block)
    members = [*document.attributes(block).values(), *document.blocks(block)]
    last = {each.start_byte for each in members if document.text(each.children[0]) in _LAST}
    other = max((each.start_byte for each in members if each.start_byte not in last), default=0)
    after = min((start for start in last if start > other), default=None)
    end_of_line = newline(document)
    if after is None:
        before = _line_start(document.source, close.start_byte)
        return Splice(before, before, (end_of_line if members else "") + new + end_of_line)
    before = start_with_comment(document, _line_start(document.source, after))
    above = document.source[_line_start(document.source, before - 1) : before]
    gap = end_of_line if above.strip() and other else ""
    return Splice(before, before, gap + new + 2 * end_of_line)


def _close(block: Node) -> Node:
    close = next(child for child in block.children if child.type == "block_end")
    if close.start_point.row == block.start_point.row:
        raise hcl_text.CannotEdit("The block is written on one line.")
    return close


def block_text(block_type: str, row: Mapping[str, Json], indent: str) -> str:
    """A block in the format of `terraform fmt`: its attributes, then the blocks inside it. Raises `CannotEdit`."""
    inner = indent + "  "
    row = {name: row[name] for name in sorted(row, key=_place)}
    plain = {name: value for name, value in row.items() if not block_rows(value) and value not in (None, "", [], {})}
    for name in row:
        if hcl_text.key(name) != name:
            raise hcl_text.CannotEdit(f"{name} is not a valid attribute name.")
    lines = hcl_text.object_text(plain, indent).split("\n")[1:-1] if plain else []
    parts = ["\n".join(lines)] if lines else []
    parts += [block_text(name, each, inner) for name, value in row.items() for each in block_rows(value)]
    return f"{indent}{block_type} {{\n" + "\n\n".join(parts) + ("\n" if parts else "") + indent + "}"


def _place(name: str) -> int:
    return _FIRST.index(name) if name in _FIRST else len(_FIRST)


def block_rows(value: Json) -> list[Mapping[str, Json]]:
    """The maps of a list that holds nothing else; empty for any other value. Code writes each of them as a block."""
    rows = value if isinstance(value, Sequence) and not isinstance(value, str) else ()
    maps = [row for row in rows if isinstance(row, Mapping)]
    return maps if len(maps) == len(rows) else []


def rows_of_value(value: Json) -> list[dict[str, Json]]:
    """What is set in each of the wanted blocks. Raises `CannotEdit` for blocks in blocks, which one list does not hold."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise CannotEdit("The value is no list of blocks.")
    found: list[dict[str, Json]] = []
    for row in value:
        if not isinstance(row, Mapping):
            raise CannotEdit("The value is no list of blocks.")
        kept: dict[str, Json] = {name: item for name, item in row.items() if item not in (None, "", [], {})}
        if any(isinstance(item, Mapping) or is_blocks(item) for item in kept.values()):
            raise CannotEdit("The wanted block has blocks of its own.")
        found.append(kept)
    return found


def add_dynamic_block(document: Document, block: Node, name: str, names: Sequence[str], collection: str) -> Splice:
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


def is_blocks(value: Json) -> bool:
    """Whether a value is a list with a map in it, which code writes as blocks."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        return False
    return any(isinstance(item, Mapping) for item in value)
