"""The parts of a file that no suggestion may change, since values and plans do not show all of what they do.

Open are the attributes and nested blocks of resources, arguments of modules, locals, defaults of variables and given values of variables.
"""

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from gateway.terraform.config.instance import META
from gateway.terraform.lang.hcl import Document
from reconciler.rewrite.editors.text import CannotEdit
from reconciler.suggest.settings_in_code import descendants

_MODULE_META: Final = frozenset({"source", "version", "providers", "count", "for_each", "depends_on"})


def check_frozen_parts(before: Document, after: Document) -> None:
    """Raise `CannotEdit` if two versions of a file differ in a part that no suggestion may change."""
    old, new = list(_parts(before)), list(_parts(after))
    if old != new:
        # What was added or removed; otherwise only their order changed.
        named = next((part for part in (*new, *old) if new.count(part) != old.count(part)), ("the order of blocks",))
        raise CannotEdit(f"The suggestion would also change {named[0]} in {before.path}, which is not a value.")


def open_attributes(document: Document) -> Iterator[tuple[tuple[str, ...], Node]]:
    """Every attribute of a file that a suggestion may change, with the header of its block and its name."""
    for name, attribute in document.attributes(document.root).items():
        yield (name,), attribute
    for block in document.blocks(document.root):
        header = document.header(block)
        for name, attribute in document.attributes(block).items():
            if _is_open(header[0], name):
                yield (*header, name), attribute


def _parts(document: Document) -> Iterator[tuple[str, ...]]:
    """Where each such part is, and its text."""
    for block in document.blocks(document.root):
        header = document.header(block)
        name = " ".join(header)
        yield name, *header
        if not _has_open_parts(header[0]):
            yield name, document.text(block)
            continue
        for inner_name, attribute in document.attributes(block).items():
            if not _is_open(header[0], inner_name):
                yield f"{inner_name} of {name}", document.text(attribute)
        for inner in document.blocks(block):
            inner_name = document.header(inner)[0]
            if not _is_open(header[0], inner_name, nested=True):
                yield f"{inner_name} of {name}", document.text(inner)
    for node in descendants(document.tree.root_node):
        if node.type == "comment":
            yield "a comment", document.text(node).rstrip()


def _has_open_parts(kind: str) -> bool:
    return kind in ("resource", "module", "locals", "variable")


def _is_open(kind: str, name: str, *, nested: bool = False) -> bool:
    match kind:
        case "resource":
            return name not in META
        case "module":
            return not nested and name not in _MODULE_META
        case "locals":
            return not nested
        case "variable":
            return not nested and name == "default"
        case _:
            return False
