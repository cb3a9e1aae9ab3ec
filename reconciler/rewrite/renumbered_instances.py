"""Offers the edit for an instance of a `count` that is gone and is not the last: its item goes, and `moved` blocks say which others get its number.

Terraform moves instances before it reads what is live. So the state has to forget what is gone before that, and the edit is only offered.
"""

from collections.abc import Mapping

from tree_sitter import Node

from gateway.core.errors import CodeInvalid
from gateway.core.model.equality import equal
from gateway.core.model.json import Json
from gateway.terraform.address import Address, parse_address
from gateway.terraform.config.module import Module, attributes
from gateway.terraform.lang.hcl import Document
from gateway.terraform.lang.values import Unknown
from reconciler.model import Wanted
from reconciler.rewrite.edited_code import EditedCode, refuse_side_effects
from reconciler.rewrite.editors.hcl_text import CannotEdit
from reconciler.rewrite.editors.top_level_block import append_block
from reconciler.rewrite.gone_instances import plain_texts, removal_sets, removed
from reconciler.rewrite.instance_sources import instance_sources

REFRESH = (
    "`count` gives the instances after it other numbers, so the state has to forget it first: run `terraform apply -refresh-only`. Then "
    "`moved` blocks keep the others."
)
_MOST = 50
"""Instances that are moved."""


def renumber(
    code: EditedCode, module: Module, block: tuple[Document, Node], gone: frozenset[str], wanted: Wanted
) -> EditedCode:
    """The code of the root module without the item of `wanted`, and with a `moved` block for each instance after it. Raises `CannotEdit`."""
    number = _number(wanted.address)
    if module.parent is not None or number is None:
        raise CannotEdit("Only instances of a `count` in the root module are moved.")
    before = _values(code)
    for removals in removal_sets(instance_sources(module, *block), number, frozenset(plain_texts(wanted.before))):
        try:
            after = code
            for each in removals:
                after = removed(after, each, wanted)
            blocks = _shrunk(code.addresses(), after.addresses())
            if not blocks or not _is_shifted(before, _values(after), blocks, number):
                continue
            if any(f"{name}[{number}]" not in gone for name in blocks) or max(blocks.values()) - number > _MOST:
                continue
            own = {f"{name}[{each}]" for name, count in blocks.items() for each in range(number, count)}
            refuse_side_effects(code, after, frozenset(own))
            return _moved(after, blocks, number, wanted)
        except (CannotEdit, CodeInvalid, Unknown):
            continue
    raise CannotEdit("No item of a list was found that makes exactly this instance.")


def _number(address: str) -> int | None:
    parsed = parse_address(address)
    return parsed.key if parsed is not None and isinstance(parsed.key, int) else None


def _values(code: EditedCode) -> Mapping[str, Mapping[str, Json]]:
    return {instance.address: attributes(instance) for instance in code.module.instances()}


def _shrunk(before: frozenset[str], after: frozenset[str]) -> Mapping[str, int]:
    """The blocks that lost their last instance, each with the number of instances that it had; none if anything else differs."""
    lost = [parse_address(each) for each in before - after]
    if after - before or not all(each is not None and isinstance(each.key, int) for each in lost):
        return {}
    found = {str(each.bare): each.key + 1 for each in lost if isinstance(each, Address) and isinstance(each.key, int)}
    return found if len(found) == len(lost) else {}


def _is_shifted(
    before: Mapping[str, Mapping[str, Json]],
    after: Mapping[str, Mapping[str, Json]],
    blocks: Mapping[str, int],
    number: int,
) -> bool:
    """Whether each instance after the one that goes is what the next was, and the others stay."""
    return all(
        equal(dict(after[f"{name}[{each}]"]), dict(before[f"{name}[{each + (each >= number)}]"]))
        for name, count in blocks.items()
        for each in range(count - 1)
    )


def _moved(code: EditedCode, blocks: Mapping[str, int], number: int, wanted: Wanted) -> EditedCode:
    for name, count in blocks.items():
        document, block = code.module.source.resources[name]
        texts = [_moved_text(f"{name}[{each + 1}]", f"{name}[{each}]") for each in range(number, count - 1)]
        code = code.after(document, append_block(document, "\n\n".join(texts), block), wanted)
    return code


def _moved_text(old: str, new: str) -> str:
    return f"moved {{\n  from = {old}\n  to   = {new}\n}}"
