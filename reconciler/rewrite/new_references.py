"""Refers to a new resource where a changed value names it: the topic that an alarm now calls is written as the topic, not as its ARN."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from tree_sitter import Node

from gateway.terraform.address import Address, parse_address, type_of_named
from gateway.terraform.lang import expression as e
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import Document
from reconciler.adoption.links import Texts, members, naming_attribute
from reconciler.model import NAMES, Edited, Wanted
from reconciler.rewrite.edited_code import EditedCode, read_code
from reconciler.rewrite.editors.splice import Splice
from reconciler.rewrite.surroundings import Surroundings

_NOT_REFERRING: Final = frozenset({"import", "moved", "removed", "terraform", "variable"})
"""Blocks in which Terraform allows no reference to a resource, or where one would not mean a value."""


def names_of(new: Wanted) -> Mapping[str, str]:
    """The attributes by which others name a new resource, with their values; empty if they are not known."""
    names = new.value.get(NAMES) if isinstance(new.value, Mapping) else None
    return {str(key): str(value) for key, value in names.items()} if isinstance(names, Mapping) else {}


def is_named_in(wanted: Wanted, new: Wanted) -> bool:
    """Whether a wanted value names a new resource."""
    return names_resource(wanted, type_of_named(new.address), names_of(new))


def names_resource(wanted: Wanted, resource_type: str, named_by: Mapping[str, str]) -> bool:
    """Whether a wanted value names a resource: `named_by` has the attributes by which others do."""
    return Texts({wanted.path.steps[-1]: wanted.value}).name_resource(resource_type, named_by)


def with_references(root: Path, new: Sequence[Wanted], edited: Edited, around: Surroundings | None) -> Edited:
    """The edits, and after them those that write a reference where the others wrote the name of a new resource.

    A name that a file had before any of them stays. Raises `gateway.core.errors.CodeInvalid`.
    """
    values = [made for made in edited.edits if not any(made.wanted is each for each in new)]
    wants = {made.wanted.key: made.wanted for made in values}.values()
    pairs = [(each, wanted) for each in new for wanted in wants if is_named_in(wanted, each)]
    if not pairs:
        return edited
    first = code = read_code(root, edited.files, around)
    for each, wanted in pairs:
        code = _referring(code, each, wanted)
    return Edited(
        files={**edited.files, **code.changed_since(first)},
        edits=(*edited.edits, *code.edits),
        left=edited.left,
        proposed=edited.proposed,
    )


def _referring(code: EditedCode, new: Wanted, wanted: Wanted) -> EditedCode:
    """The code in which a wanted value refers to the new resource, wherever it stands in the module of that one."""
    while (found := next(_places(code, new), None)) is not None:
        document, splice = found
        code = code.after(document, splice, wanted)
    return code


def _places(code: EditedCode, new: Wanted) -> Iterator[tuple[Document, Splice]]:
    address = parse_address(new.address)
    module = next((each for each in code.module.modules() if address and each.address == address.module), None)
    if address is None or module is None:
        return
    block, names = module.source.resources.get(f"{address.resource_type}.{address.name}"), names_of(new)
    local = Address(resource_type=address.resource_type, name=address.name, key=address.key)
    for document in module.source.documents.values():
        before = _on_disk(code.root, document.path)
        if document.written is not None or any(document.around):
            continue
        for block_here in document.blocks(document.root):
            header = document.header(block_here)
            if header[0] in _NOT_REFERRING or _is_used_by(block, header):
                continue
            for key, literal in _literals(document, block_here):
                attribute = naming_attribute(key, str(literal.value), address.resource_type, names)
                text = document.source[literal.start : literal.end]
                if attribute and text not in before:
                    yield document, Splice(literal.start, literal.end, f"{local}.{attribute}")


def _on_disk(root: Path, path: Path) -> bytes:
    file = root / path
    return file.read_bytes() if file.is_file() else b""


def _is_used_by(declared: tuple[Document, Node] | None, header: tuple[str, ...]) -> bool:
    """Whether a block is the new resource's own, or one that it refers to: a reference back would be a circle."""
    if declared is None:
        return True
    document, block = declared
    if document.header(block) == header:
        return True
    if header[0] != "resource":
        return False
    return any(
        steps[0] == header[1] and list(steps[1])[:1] == [header[2]]
        for attribute in _attributes(document, block)
        for part in e.walk(read_attribute(document, attribute))
        if (steps := e.steps_of(part)) is not None
    )


def _literals(document: Document, block: Node) -> Iterator[tuple[str, e.LiteralValue]]:
    """The texts of a block and of the blocks in it, each with the attribute or key that says what it means."""
    for name, attribute in document.attributes(block).items():
        yield from _texts(read_attribute(document, attribute), name)
    for inner in document.blocks(block):
        yield from _literals(document, inner)


def _texts(expression: e.Expression, key: str) -> Iterator[tuple[str, e.LiteralValue]]:
    match expression:
        case e.LiteralValue(value=str() as text) if text:
            yield key, expression
        case e.Object(elements=elements):
            said = {_text(each.key): _text(each.value) or None for each in elements}
            meant = {member: keys for member, keys, _ in members(said, key)}
            for each in elements:
                for meaning in meant[_text(each.key)]:
                    yield from _texts(each.value, meaning)
        case _:
            for child in e.children(expression):
                yield from _texts(child, key)


def _text(expression: e.Expression) -> str:
    plain = e.bare(expression)
    return plain.value if isinstance(plain, e.LiteralValue) and isinstance(plain.value, str) else ""


def _attributes(document: Document, block: Node) -> Iterator[Node]:
    yield from document.attributes(block).values()
    for inner in document.blocks(block):
        yield from _attributes(document, inner)
