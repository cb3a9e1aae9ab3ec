"""The blocks and attributes that JSON code declares, each with the place in the text where it stands."""

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from gateway.core.errors import CodeInvalid
from gateway.terraform.json_syntax.shapes import FILE, VARIABLE_VALUES, JsonBodyShape, StringForm, body_of
from gateway.terraform.json_syntax.tree import (
    JsonArray,
    JsonMember,
    JsonNode,
    JsonObject,
    JsonScalar,
    line_of,
    parse_tree,
)

_COMMENT = "//"
"""The name of a member that Terraform ignores."""
_NAME = re.compile(r"[^\W\d][\w-]*")
Holder = tuple[JsonObject | JsonArray, int]
"""An object or list, and the number of the member or item in it."""


@dataclass(frozen=True, slots=True)
class JsonAttribute:
    """One argument."""

    name: str
    value: JsonNode
    start: int
    form: StringForm
    index: int
    """The number of the member in the object of the body."""


@dataclass(frozen=True, slots=True)
class JsonBlock:
    """One block."""

    header: tuple[str, ...]
    body: "JsonBody"
    holders: tuple[Holder, ...] = field(repr=False)
    """Where the block's object stands, from the object of the body around it inwards."""


@dataclass(frozen=True, slots=True)
class JsonBody:
    """What is inside a block or a file, in the order of the text."""

    node: JsonObject
    shape: JsonBodyShape
    parts: tuple[JsonAttribute | JsonBlock, ...]

    @property
    def attributes(self) -> dict[str, JsonAttribute]:
        """The arguments by name."""
        return {part.name: part for part in self.parts if isinstance(part, JsonAttribute)}

    @property
    def blocks(self) -> tuple[JsonBlock, ...]:
        """The nested blocks."""
        return tuple(part for part in self.parts if isinstance(part, JsonBlock))


@functools.lru_cache(maxsize=8)
def read_body(path: Path, source: bytes) -> JsonBody:
    """What a `*.tf.json` or `*.tfvars.json` file declares. Raises `CodeInvalid`, with file and line."""
    node = parse_tree(path, source)
    values = path.name.endswith(".tfvars.json")
    if not isinstance(node, JsonObject):
        what = "A file of variable values" if values else "Code in JSON syntax"
        raise CodeInvalid(
            f"{path}:{line_of(source, node.start)}: {what} must be one JSON object; the file was not read."
        )
    return _Reader(path, source).body(node, VARIABLE_VALUES if values else FILE)


@dataclass(frozen=True, slots=True)
class _Reader:
    path: Path
    source: bytes

    def body(self, node: JsonObject, shape: JsonBodyShape) -> JsonBody:
        parts: list[JsonAttribute | JsonBlock] = []
        names: set[str] = set()
        for index, member in enumerate(node.members):
            if member.key == _COMMENT:
                continue
            if member.key in shape.blocks:
                parts += self._blocks((member.key,), member.value, ((node, index),), shape)
                continue
            self._check_name(member, names, shape)
            names.add(member.key)
            parts.append(JsonAttribute(member.key, member.value, member.start, shape.form(member.key), index))
        return JsonBody(node, shape, tuple(parts))

    def _check_name(self, member: JsonMember, before: set[str], shape: JsonBodyShape) -> None:
        if shape is FILE:
            raise self._wrong(member.start, f"{member.key!r} is no kind of block that Sentinel reads in JSON syntax")
        if not _NAME.fullmatch(member.key):
            raise self._wrong(member.start, f"{member.key!r} is not the name of an argument")
        if member.key in before:
            raise self._wrong(member.start, f"the argument {member.key} is set twice in one block")

    def _blocks(
        self, header: tuple[str, ...], node: JsonNode, holders: tuple[Holder, ...], shape: JsonBodyShape
    ) -> Iterator[JsonBlock]:
        """The blocks of one kind below a member, whose labels are the names of members; a list holds several."""
        missing = shape.blocks[header[0]].labels + 1 - len(header)
        if isinstance(node, JsonArray):
            for index, item in enumerate(node.items):
                yield from self._blocks(header, item, (*holders, (node, index)), shape)
        elif isinstance(node, JsonObject) and missing:
            for index, member in enumerate(node.members):
                yield from self._blocks((*header, member.key), member.value, (*holders, (node, index)), shape)
        elif isinstance(node, JsonObject):
            yield JsonBlock(header, self.body(node, body_of(header, shape)), holders)
        elif node != JsonScalar(node.start, node.end, None):
            raise self._wrong(node.start, f"the block {'.'.join(header)} must be an object")

    def _wrong(self, offset: int, what: str) -> CodeInvalid:
        return CodeInvalid(
            f"{self.path}:{line_of(self.source, offset)}: In this JSON code {what}; the file was not read."
        )
