"""Every setting in Terraform code: attributes, arguments, values of variables and entries of objects, with what they belong to."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from tree_sitter import Node

from gateway.terraform.lang.hcl import Document

_TYPED: Final = {"resource": "", "data": "data.", "ephemeral": "ephemeral."}
"""Kinds of blocks that have a resource type, with the prefix of references to them."""
_NAMED: Final = {"variable": "var.", "output": "output."}
_REFERENCE: Final = re.compile(
    r"\b(?:var|local)\.[\w-]+|\bmodule\.[\w-]+(?:\[[^\]]*\])?\.(?P<output>[\w-]+)"
    r"|\b(?P<block>(?:(?:data|ephemeral)\.)?[a-z]\w*_\w+\.[\w-]+)(?:\[[^\]]*\])?(?:\.(?P<top>[\w-]+))?"
)
_PLAIN: Final = re.compile(r'"?(?P<name>[\w.-]+)"?')


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingPlace:
    """Where a setting stands."""

    document: Document
    resource_type: str = ""
    path: str = ""
    """The steps to it from its resource, without indexes."""
    key: str = ""
    """What other code calls the value: `var.a`, `local.a`, `output.a`, `aws_x.y.top`; empty if nothing can name it."""
    repeats: tuple[Node, ...] = ()
    """The expressions of `for_each` of the blocks around it."""
    sensitive: bool = False
    """Whether the code marks it as sensitive."""
    members: tuple[tuple[str, str], ...] = ()
    """Name and text of everything beside it in the same block or object."""

    def step(self, name: str) -> "SettingPlace":
        """The place one step further in."""
        return replace(self, path=f"{self.path}.{name}" if self.path else name)


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeSetting:
    """A name that is given a value."""

    name: str
    value: Node
    place: SettingPlace

    @property
    def text(self) -> str:
        """The value as it is written."""
        return self.place.document.text(self.value)

    @property
    def references(self) -> frozenset[str]:
        """The keys of what the value may come from. A name in a text counts too."""
        return frozenset(
            f"output.{found['output']}" if found["output"] else f"{found['block']}.{found['top'] or '*'}" if found["block"] else found[0]
            for found in _REFERENCE.finditer(self.text)
        )  # fmt: skip


def settings_in(document: Document, *, of_variables: bool) -> Iterator[CodeSetting]:
    """The settings of a file; `of_variables`: the file gives values to variables."""
    for name, attribute in document.attributes(document.root).items():
        key = f"var.{name}" if of_variables else ""
        yield from _setting(name, document.expression(attribute), SettingPlace(document=document, path=name, key=key))
    for block in document.blocks(document.root):
        yield from _of_top(document, block)


def descendants(node: Node) -> Iterator[Node]:
    """The node and everything in it, in order."""
    yield node
    for child in node.children:
        yield from descendants(child)


def marked_sensitive(document: Document, block: Node) -> bool:
    """Whether a block says `sensitive` or `ephemeral`, in any form other than false."""
    attributes = document.attributes(block)
    said = [
        document.text(document.expression(attributes[name]))
        for name in ("sensitive", "ephemeral")
        if name in attributes
    ]
    return any(text != "false" for text in said)


def _of_top(document: Document, block: Node) -> Iterator[CodeSetting]:
    kind, *labels = document.header(block)
    place = SettingPlace(document=document, sensitive=marked_sensitive(document, block))
    if kind in _TYPED and len(labels) > 1:
        # Its parts are named after their first step, so the key is completed there.
        place = replace(place, resource_type=labels[0], key=f"{_TYPED[kind]}{labels[0]}.{labels[1]}.")
        yield from _of_body(block, place, keyed="top")
    elif kind in _NAMED and labels:
        yield from _of_body(block, replace(place, key=f"{_NAMED[kind]}{labels[0]}"), keyed="whole")
    else:
        prefix = {"locals": "local.", "module": "var."}.get(kind, "")
        yield from _of_body(block, replace(place, key=prefix), keyed="top" if prefix else "")


def _of_body(block: Node, place: SettingPlace, *, keyed: str) -> Iterator[CodeSetting]:
    """The settings in a block and the blocks in it. `keyed`: whether the key of each is that of `place` or goes on with its name."""
    document = place.document
    attributes = document.attributes(block)
    repeated = [document.expression(node) for name, node in attributes.items() if name == "for_each"]
    members = tuple((name, document.text(document.expression(node))) for name, node in attributes.items())
    place = replace(place, repeats=(*place.repeats, *repeated), members=members)
    for name, node in attributes.items():
        here = _keyed(place, name, keyed).step(name) if name != "for_each" else place
        yield from _setting(name, document.expression(node), here)
    for inner in document.blocks(block):
        header = document.header(inner)
        name = header[1] if header[0] == "dynamic" and len(header) > 1 else header[0]
        here = place if header[0] == "content" else _keyed(place, name, keyed).step(name)
        yield from _of_body(inner, here, keyed="whole" if keyed else "")


def _keyed(place: SettingPlace, name: str, keyed: str) -> SettingPlace:
    return replace(place, key=f"{place.key}{name}") if keyed == "top" else place


def _setting(name: str, value: Node, place: SettingPlace) -> Iterator[CodeSetting]:
    """A setting, and those inside its value."""
    yield CodeSetting(name=name, value=value, place=place)
    yield from _within(value, replace(place, key="", members=()))


def _within(node: Node, place: SettingPlace) -> Iterator[CodeSetting]:
    document = place.document
    if node.type == "function_call" and document.text(node.children[0]) == "sensitive":
        yield CodeSetting(name="sensitive", value=node, place=replace(place, sensitive=True))
    if node.type != "object":
        for child in node.children:
            yield from _within(child, place)
        return
    entries = [(_entry_name(document, child), child) for child in node.children if child.type == "object_elem"]
    members = tuple((name, document.text(child.children[-1])) for name, child in entries)
    for name, child in entries:
        yield from _setting(name, child.children[-1], replace(place.step(name), members=members))


def _entry_name(document: Document, entry: Node) -> str:
    """The name of an entry as one step of a path; `_` if it is calculated."""
    plain = _PLAIN.fullmatch(document.text(entry.children[0]))
    return plain["name"].replace(".", "_") if plain else "_"
