"""The text of a new resource block: references where the stack owns what a value names, nested blocks, `jsonencode` for documents."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from gateway.core.model.json import Json
from gateway.terraform.lang.hcl import parse
from reconciler.adoption.links import members
from reconciler.rewrite.editors.alignment import align
from reconciler.rewrite.editors.hcl_text import Expression, to_hcl
from reconciler.rewrite.editors.nested_blocks import block_rows

Reference = Callable[[str, Json], str]
"""The expression that an attribute's value is written as; empty if it is written as it is."""


def block_text(
    resource_type: str, label: str, attributes: Mapping[str, Json], reference: Reference, inner: Reference | None = None
) -> str:
    """The block, formatted as `terraform fmt` does. Raises `CannotEdit` for a value that cannot be written.

    `inner` is asked about texts in maps, lists and documents, with the attribute or the key that says what they mean.
    """
    within = (
        attributes if inner is None else {name: _referring(value, name, inner) for name, value in attributes.items()}
    )
    lines = [f'resource "{resource_type}" "{label}" {{', *_body(within, reference, "  "), "}"]
    document = parse(Path("new.tf"), ("\n".join(lines) + "\n").encode())
    return align(document).decode().rstrip("\n")


def _referring(value: Json, key: str, inner: Reference) -> Json:
    """A value, in which the texts inside of it that `inner` knows are references. A text by itself stays."""
    match value:
        case Mapping():
            return {str(member): _leaf(item, keys, inner) for member, keys, item in members(value, key)}
        case list():
            return [_leaf(item, keys, inner) for _, keys, item in members(value, key)]
    return value


def _leaf(value: Json, keys: Sequence[str], inner: Reference) -> Json:
    if not isinstance(value, str):
        return _referring(value, keys[0], inner)
    found = next(filter(None, (inner(key, value) for key in keys)), "")
    return Expression(found) if found else value


def import_text(address: str, import_id: str) -> str:
    """The block that imports an existing resource to an address. Raises `CannotEdit`."""
    return f"import {{\n  to = {address}\n  id = {to_hcl(import_id)}\n}}"


def body_lines(attributes: Mapping[str, Json], indent: str) -> list[str]:
    """The lines of attributes and nested blocks as they stand inside a block. Raises `CannotEdit`."""
    return _body(attributes, lambda _, __: "", indent)


def _body(attributes: Mapping[str, Json], reference: Reference, indent: str) -> list[str]:
    plain = {name: value for name, value in attributes.items() if not _is_long(value)}
    width = max((len(name) for name in plain), default=0)
    lines = [
        f"{indent}{name.ljust(width)} = {reference(name, value) or to_hcl(value)}" for name, value in plain.items()
    ]
    for name, value in attributes.items():
        if name in plain:
            continue
        for part in _long(name, value, reference, indent):
            lines += ([""] if lines else []) + part
    return lines


def _is_long(value: Json) -> bool:
    return isinstance(value, Mapping) or bool(block_rows(value))


def _long(name: str, value: Json, reference: Reference, indent: str) -> list[list[str]]:
    """A map, a document, or one nested block for each item of a list, as lines."""
    if isinstance(value, Mapping):
        document = value.get("json") if value.keys() == {"json"} else None
        text = to_hcl(value, indent) if document is None else f"jsonencode({to_hcl(document, indent)})"
        return [f"{indent}{name} = {text}".split("\n")]
    return [[f"{indent}{name} {{", *_body(row, reference, indent + "  "), f"{indent}}}"] for row in block_rows(value)]
