"""Traces a block that a `dynamic` block could make and does not: what its content would read decides whether it is made."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tree_sitter import Node

from gateway.model.json import Json
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.values import Unknown
from reconciler.rewrite.follow import Follow
from reconciler.rewrite.inverse import Inverse
from reconciler.rewrite.place import Cursor, Place


def unmade(cursor: Cursor, block: Node, kind: str, follow: Follow) -> Iterator[Place]:
    """Places of each value in the content of the dynamic blocks of this kind: `mode = var.mode` with `for_each = var.mode == null ? [] : [1]`."""
    document = cursor.document
    for dynamic in document.blocks(block, "dynamic", kind):
        for content in document.blocks(dynamic, "content"):
            for name, node in document.attributes(content).items():
                line = f"{document.at(dynamic)} makes no {kind}; its {name} would be"
                there = replace(cursor.step(line), convert=_part(name), entry=None)
                yield from follow(there, read_attribute(document, node), ())


def _part(name: str) -> Inverse:
    """From the wanted list of one block to an attribute in it. Raises `Unknown` for any other list."""

    def convert(value: Json) -> Json:
        rows = value if isinstance(value, Sequence) and not isinstance(value, str) else ()
        if len(rows) != 1 or not isinstance(rows[0], Mapping) or rows[0].get(name) is None:
            raise Unknown(f"the wanted value is not one block with {name}")
        return rows[0][name]

    return convert
