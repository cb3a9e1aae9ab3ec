"""Adds a nested block that the code leaves unset, after the other nested blocks and before `lifecycle`."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from tree_sitter import Node

from gateway.errors import CodeInvalid
from gateway.terraform.config.instance import ResourceInstance
from gateway.terraform.lang.hcl import Document
from reconciler.model import Edited, Left, Wanted
from reconciler.rewrite.code import Code, read_code, refuse_side_effects
from reconciler.rewrite.editors.splice import Splice, indent_at, line_end, newline
from reconciler.rewrite.editors.text import CannotEdit
from reconciler.rewrite.new_block import body_lines


def is_unset_block(root: Path, wanted: Sequence[Wanted]) -> list[Wanted]:
    """Those of the wanted values that are a block, of which the code of the resource has none. Raises `CodeInvalid`."""
    blocks = [each for each in wanted if _is_block(each)]
    module = read_code(root, {}).module if blocks else None
    found = [(each, module.instance(each.address)) for each in blocks] if module is not None else []
    return [each for each, instance in found if instance is not None and not _declares(instance, each.attribute)]


def add_blocks(root: Path, wanted: Sequence[Wanted], sources: Mapping[Path, bytes]) -> Edited:
    """The files with the blocks, the edits, and what is left because other instances would have the block too. Raises `CodeInvalid`."""
    first = code = read_code(root, sources)
    left: list[Left] = []
    for each in wanted:
        try:
            code = _with_block(code, each)
        except (CannotEdit, CodeInvalid) as error:
            left.append(Left(wanted=each, reason=f"Its block {each.attribute} was not added: {error}"))
    changed = {path: source for path, source in code.sources.items() if first.sources.get(path) != source}
    return Edited(files=changed, edits=code.edits, left=tuple(left))


def _is_block(wanted: Wanted) -> bool:
    value = wanted.value
    return (
        isinstance(value, Sequence)
        and len(value) == 1
        and isinstance(value[0], Mapping)
        and "." not in wanted.attribute
    )


def _declares(instance: ResourceInstance, name: str) -> bool:
    document, block = instance.document, instance.block
    blocks = {
        words[-1] if words[0] == "dynamic" else words[0] for words in map(document.header, document.blocks(block))
    }
    return name in blocks or name in document.attributes(block)


def _with_block(code: Code, wanted: Wanted) -> Code:
    instance = code.module.instance(wanted.address)
    if instance is None or not isinstance(wanted.value, Sequence) or isinstance(wanted.value, str):
        raise CannotEdit("the code does not declare the resource.")
    document, chain = instance.document, (f"{wanted.address} has no block {wanted.attribute}",)
    lines = body_lines({wanted.attribute: wanted.value}, indent_at(document, instance.block.start_byte) + "  ")
    after = code.after(document, _splice(document, instance.block, lines), wanted, chain)
    refuse_side_effects(code, after, frozenset({wanted.address}))
    return after


def _splice(document: Document, block: Node, lines: Sequence[str]) -> Splice:
    end_of_line = newline(document)
    text = end_of_line.join(lines)
    inner = [*document.attributes(block).values(), *document.blocks(block)]
    before = [
        each for each in inner if document.text(each.children[0]) not in {"lifecycle", "depends_on", "provisioner"}
    ]
    if not before or block.start_point.row == block.end_point.row:
        raise CannotEdit("the resource's block is written on one line, or is empty.")
    end = line_end(document, max(each.end_byte for each in before))
    return Splice(end, end, f"{end_of_line}{end_of_line}{text}")
