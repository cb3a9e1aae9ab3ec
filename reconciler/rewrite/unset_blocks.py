"""Adds a nested block that the code leaves unset, where `editors.blocks` puts the first of a type."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from gateway.core.errors import CodeInvalid
from gateway.terraform.address import parse_address
from gateway.terraform.config.module import ResourceInstance
from reconciler.model import Edited, Left, Wanted
from reconciler.rewrite.block_text import body_lines
from reconciler.rewrite.edited_code import EditedCode, read_code, refuse_side_effects
from reconciler.rewrite.editors.hcl_text import CannotEdit, quoted
from reconciler.rewrite.editors.nested_blocks import first_of_its_type
from reconciler.rewrite.editors.splice import indent_at, newline
from reconciler.rewrite.surroundings import Surroundings


def is_unset_block(root: Path, wanted: Sequence[Wanted]) -> list[Wanted]:
    """Those of the wanted values that are a block, of which the code of the resource has none. Raises `CodeInvalid`."""
    blocks = [each for each in wanted if _is_block(each)]
    module = read_code(root, {}).module if blocks else None
    found = [(each, module.instance(each.address)) for each in blocks] if module is not None else []
    return [each for each, instance in found if instance is not None and each.attribute not in instance.names]


def add_blocks(
    root: Path, wanted: Sequence[Wanted], sources: Mapping[Path, bytes], around: Surroundings | None = None
) -> Edited:
    """The files with the blocks, the edits, and what is left because other instances would have the block too. Raises `CodeInvalid`."""
    first = code = read_code(root, sources, around)
    left: list[Left] = []
    for each in wanted:
        try:
            code = _with_block(code, each)
        except (CannotEdit, CodeInvalid) as error:
            left.append(Left(wanted=each, reason=f"Its block {each.attribute} was not added: {error}"))
    return code.edited_since(first, left)


def _is_block(wanted: Wanted) -> bool:
    value = wanted.value
    return (
        isinstance(value, Sequence)
        and len(value) == 1
        and isinstance(value[0], Mapping)
        and "." not in wanted.attribute
    )


def _with_block(code: EditedCode, wanted: Wanted) -> EditedCode:
    instance = code.module.instance(wanted.address)
    if instance is None or not isinstance(wanted.value, Sequence) or isinstance(wanted.value, str):
        raise CannotEdit("the code does not declare the resource.")
    document, chain = instance.document, (f"{wanted.address} has no block {wanted.attribute}",)
    indent = indent_at(document, instance.block.start_byte) + "  "
    lines = body_lines({wanted.attribute: wanted.value}, indent)
    if instance.scope.each is not None and len(instance.module.instances_of(_name(instance))) > 1:
        lines = _for_one(instance, wanted, indent)
    after = code.after(
        document, first_of_its_type(document, instance.block, newline(document).join(lines)), wanted, chain
    )
    refuse_side_effects(code, after, frozenset({wanted.address}))
    return after


def _name(instance: ResourceInstance) -> str:
    return f"{instance.resource_type}.{instance.name}"


def _for_one(instance: ResourceInstance, wanted: Wanted, indent: str) -> list[str]:
    """A dynamic block that only one instance of a `for_each` has. Raises `CannotEdit`."""
    parsed = parse_address(instance.address)
    if parsed is None or not isinstance(parsed.key, str):
        raise CannotEdit("other instances of its block would have it too.")
    value = wanted.value if isinstance(wanted.value, Sequence) else ()
    return [
        f'{indent}dynamic "{wanted.attribute}" {{',
        f"{indent}  for_each = each.key == {quoted(parsed.key)} ? [true] : []",
        "",
        *body_lines({"content": value}, indent + "  "),
        f"{indent}}}",
    ]
