"""The attributes and nested blocks of a resource type, as the provider's schema describes them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any


class Nesting(IntEnum):
    """How often a nested block may stand, by the protocol's numbers."""

    INVALID = 0
    SINGLE = 1
    LIST = 2
    SET = 3
    MAP = 4
    GROUP = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    """One attribute."""

    kind: Any
    """Its type, as JSON of Terraform's type system: `"string"`, `["list", "string"]`."""
    required: bool
    settable: bool
    """Whether code may set it."""
    computed: bool
    """Whether the provider fills it if the code does not set it."""
    avoided: bool
    """Whether it is deprecated or write-only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NestedBlock:
    """One nested block."""

    block: "BlockSchema"
    nesting: Nesting
    least: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockSchema:
    """The members of a block, by name."""

    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    blocks: Mapping[str, NestedBlock] = field(default_factory=dict)

    def has(self, path: tuple[str, ...]) -> bool:
        """Whether an attribute or block stands at this path."""
        block = self
        for step in path:
            if step in block.blocks:
                block = block.blocks[step].block
            else:
                return step in block.attributes
        return True


def read_block(block: Any) -> BlockSchema:
    """The schema that a `Block` of the protocol describes."""
    return BlockSchema(
        attributes={
            each.name: Attribute(
                kind=json.loads(each.type),
                required=each.required,
                settable=each.required or each.optional,
                computed=each.computed,
                avoided=each.deprecated or each.write_only,
            )
            for each in block.attributes
        },
        blocks={
            each.type_name: NestedBlock(
                block=read_block(each.block), nesting=Nesting(each.nesting), least=each.min_items
            )
            for each in block.block_types
        },
    )
