"""Traces the nested blocks of one type as a whole: blocks in place, and the collection that a dynamic block is made from."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tree_sitter import Node

from gateway.model.json import Json
from gateway.terraform.config.instance import Nested, body, iterate
from gateway.terraform.lang import expression as e
from gateway.terraform.lang import values
from gateway.terraform.lang.evaluate import value_of
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import Document
from gateway.terraform.lang.values import SetOf, Unknown
from reconciler.rewrite.follow import Follow
from reconciler.rewrite.inverse import Inverse, then
from reconciler.rewrite.made_by import Content
from reconciler.rewrite.parts import alike
from reconciler.rewrite.place import Cursor, Place, source_of


def all_blocks(cursor: Cursor, block: Node, block_type: str, rows: Sequence[Nested], follow: Follow) -> Iterator[Place]:
    """Places that add or remove blocks: the collection of each dynamic block, then the blocks in place."""
    yield from collections(cursor, block, block_type, rows, follow)
    yield cursor.step(f"{cursor.document.at(block)} blocks of {block_type}").blocks(block, block_type)


def collections(
    cursor: Cursor, block: Node, block_type: str, rows: Sequence[Nested], follow: Follow
) -> Iterator[Place]:
    """Places in the collection of each dynamic block of a type, as it must be for the blocks to be the wanted ones."""
    for dynamic in cursor.document.blocks(block, "dynamic", block_type):
        source = read_attribute(cursor.document, cursor.document.attributes(dynamic)["for_each"])
        try:
            convert = _collection(cursor, dynamic, block_type, rows)
        except Unknown as error:
            yield cursor.refuse(f"The dynamic block {block_type} cannot be inverted: {error}.", dynamic)
            continue
        line = f"{cursor.document.at(dynamic)} for_each = {source_of(cursor.document, source)}"
        yield from follow(replace(cursor.step(line), convert=then(convert, cursor.convert), entry=None), source, ())


def _collection(cursor: Cursor, dynamic: Node, block_type: str, rows: Sequence[Nested]) -> Inverse:
    """From all wanted blocks to the collection that makes those of one dynamic block. Raises `Unknown`."""
    document = cursor.document
    fixed = [_row(document, row) for row in rows if row.dynamic is None or row.dynamic.id != dynamic.id]
    own = [_row(document, row) for row in rows if row.dynamic is not None and row.dynamic.id == dynamic.id]
    arguments = document.attributes(dynamic)
    source = value_of(read_attribute(document, arguments["for_each"]), cursor.scope)
    pairs = iterate(source)
    content = _content(cursor, dynamic, block_type)

    def convert(value: Json) -> Json:
        rest = [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []
        _take(rest, fixed)
        kept = [pair for pair, row in zip(pairs, own, strict=True) if _taken(rest, row)]
        new = [content.item_of(row) for row in rest]
        if isinstance(values.known(source), Mapping):
            table = {values.text(key): values.to_json(each) for key, each in kept}
            for key, each in new:
                if not isinstance(key, str) or key in table:
                    raise Unknown("the key of a new entry is not certain")
                table[key] = each
            return table
        if isinstance(source, SetOf):
            return [values.to_json(each) for _, each in kept] + [key if each is None else each for key, each in new]
        return [values.to_json(each) for _, each in kept] + [each for _, each in new]

    return convert


def _row(document: Document, row: Nested) -> dict[str, Json]:
    return {name: values.to_json(value) for name, value in body(document, row.block, row.scope).items()}


def _take(rest: list[Mapping[str, Json]], rows: Sequence[Mapping[str, Json]]) -> None:
    for row in rows:
        if not _taken(rest, row):
            raise Unknown("a block beside the dynamic one is not wanted any more")


def _taken(rest: list[Mapping[str, Json]], row: Mapping[str, Json]) -> bool:
    """Whether the row is wanted; it is removed from the rows that are left."""
    place = next((place for place, each in enumerate(rest) if alike(dict(row), dict(each))), None)
    if place is None:
        return False
    del rest[place]
    return True


def _content(cursor: Cursor, dynamic: Node, block_type: str) -> Content:
    """What the blocks of a dynamic block are made of. Raises `Unknown` if not all of it can be solved for the item."""
    document = cursor.document
    given = document.attributes(dynamic)
    iterator = read_attribute(document, given["iterator"]) if "iterator" in given else None
    (content,) = document.blocks(dynamic, "content")
    if document.blocks(content):
        raise Unknown("its content has blocks of its own")
    written = {name: read_attribute(document, node) for name, node in document.attributes(content).items()}
    return Content(iterator.name if isinstance(iterator, e.Name) else block_type, written, cursor.scope)
