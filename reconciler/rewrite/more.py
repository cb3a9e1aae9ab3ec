"""Adds one instance to a `count` or `for_each`: an entry like that of a sibling, where the sibling's own entry is written.

Every place that decides which instances there are is tried. Our own evaluator is the judge: exactly the new instance must come, with
every attribute known that the sibling has, and nothing else may change. The values of the sibling are only copied; what differs is edited
afterwards as any other value.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from gateway.errors import CodeInvalid
from gateway.terraform.config.instance import attributes
from gateway.terraform.config.module import Module
from gateway.terraform.lang import expression as e
from gateway.terraform.lang.hcl import Document
from gateway.terraform.lang.values import Unknown
from reconciler.model import Wanted
from reconciler.rewrite.code import EditedCode, refuse_side_effects
from reconciler.rewrite.editors import item
from reconciler.rewrite.editors.splice import Splice, alone_on_lines, indent_at, line_end, newline
from reconciler.rewrite.editors.text import CannotEdit, key, quoted
from reconciler.rewrite.feeding import feeding


@dataclass(frozen=True, slots=True, kw_only=True)
class Like:
    """A new instance like a sibling."""

    sibling: str
    """The sibling's address."""
    key: str | int
    """The key of the sibling, in its own address or that of its module."""
    new: str
    """What stands for the new instance where the sibling's text stands: its key, or a part of its name."""
    old: str
    """The sibling's text."""


def more(code: EditedCode, like: Like, wanted: Wanted) -> EditedCode:
    """The code with the instance `wanted`. Raises `CannotEdit`."""
    before = code.addresses()
    for document, splice in _candidates(code, like):
        try:
            after = code.after(document, splice, wanted, (f"{wanted.address} is one of several, as {like.sibling}",))
            if after.addresses() - before == {wanted.address} and before <= after.addresses():
                _refuse_unknown(after, like, wanted)
                refuse_side_effects(code, after, frozenset({wanted.address}))
                return after
        except (CannotEdit, CodeInvalid, Unknown):
            continue
    raise CannotEdit(f"No single entry like that of {like.sibling} gives {wanted.address}.")


def _refuse_unknown(code: EditedCode, like: Like, wanted: Wanted) -> None:
    """Raise `CannotEdit` if the sibling has a known attribute that the new instance has not, e.g. from a second list."""
    old, new = code.module.instance(like.sibling), code.module.instance(wanted.address)
    if old is None or new is None or attributes(old).keys() - attributes(new).keys():
        raise CannotEdit("The new instance would lack an attribute that its sibling has.")


def _candidates(code: EditedCode, like: Like) -> Iterator[tuple[Document, Splice]]:
    for module, document, block in _levels(code, like.sibling):
        for place in feeding(module, document, block):
            try:
                splice = _added(*place, like)
            except CannotEdit:
                continue
            if splice is not None:
                yield place[0], splice


def _levels(code: EditedCode, address: str) -> Iterator[tuple[Module, Document, Node]]:
    """The block of the sibling, then the calls of the modules that it is in, from the inside."""
    instance = code.module.instance(address)
    if instance is None:
        return
    yield instance.module, instance.document, instance.block
    module = instance.module
    while module.parent is not None and module.call is not None and module.call_document is not None:
        yield module.parent, module.call_document, module.call
        module = module.parent


def _added(document: Document, node: e.Object | e.Tuple | e.LiteralValue, like: Like) -> Splice | None:
    match node:
        case e.Object(elements=elements):
            same = next((each for each in elements if _is(each.key, like.old)), None)
            return None if same is None else _entry(document, node, same, like.new)
        case e.Tuple(items=items):
            same_item = next((each for each in items if _is(each, like.old) or _holds(each, like.old)), None)
            if same_item is None:
                return None
            text = document.source[same_item.start : same_item.end].decode()
            return item.append(document, node, text.replace(quoted(like.old), quoted(like.new), 1))
        case e.LiteralValue(value=value) if isinstance(like.key, int) and re.fullmatch(r"\d+", str(value)):
            return Splice(node.start, node.end, str(int(str(value)) + 1))
    return None


def _is(node: e.Expression, text: str) -> bool:
    literal = e.bare(node)
    return isinstance(literal, e.LiteralValue) and literal.value == text


def _holds(node: e.Expression, text: str) -> bool:
    inner = e.bare(node)
    return isinstance(inner, e.Object) and any(_is(each.value, text) for each in inner.elements)


def _entry(document: Document, holder: e.Object, same: e.Element, name: str) -> Splice:
    """A new last entry with the value of another one."""
    last, value = holder.elements[-1], document.source[same.value.start : same.value.end].decode()
    between = document.source[same.key.end : same.value.start].decode().strip() or "="
    written = key(name, always_quoted=document.source[same.key.start : same.key.start + 1] == b'"')
    if b"\n" not in document.source[holder.start : holder.elements[0].start]:
        return Splice(last.end, last.end, f", {written} {between} {value}")
    if not alone_on_lines(document, last.start, last.end):
        raise CannotEdit("The map is not written with one entry on a line.")
    comma = "," if document.source[last.end :].lstrip(b" \t").startswith(b",") else ""
    end = line_end(document, last.end)
    return Splice(end, end, f"{newline(document)}{indent_at(document, last.start)}{written} {between} {value}{comma}")
