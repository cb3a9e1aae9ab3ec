"""The schemas of a provider's resource types: which attributes and nested blocks code may or must write, and which only the provider decides."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from gateway.core.model.json import Json

_SINGLE: Final = frozenset({1, 4})
"""`NestedBlock.NestingMode`: SINGLE and GROUP."""
_SET: Final = 3
NOT_WRITTEN: Final = frozenset({"id", "tags_all", "timeouts"})
"""What is never written into a new block: its own id, what the provider derives from `tags`, and how long Terraform waits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeSchema:
    """One attribute."""

    kind: Json
    """Its type, as JSON of Terraform's type system: `"string"`, `["list", "string"]`."""
    required: bool = False
    optional: bool = False
    computed: bool = False
    hidden: bool = False
    """Whether the provider marks it as sensitive, or it is never read back."""
    deprecated: bool = False

    @property
    def settable(self) -> bool:
        """Whether code may set it."""
        return self.required or self.optional


@dataclass(frozen=True, slots=True, kw_only=True)
class NestedSchema:
    """The nested blocks of one name."""

    block: "BlockSchema"
    least: int = 0
    single: bool = False
    in_set: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockSchema:
    """What may stand in a block."""

    attributes: Mapping[str, AttributeSchema] = field(default_factory=dict)
    blocks: Mapping[str, NestedSchema] = field(default_factory=dict)


def read_block(block: Any) -> BlockSchema:
    """The schema in a `Block` message."""
    return BlockSchema(
        attributes={
            each.name: AttributeSchema(
                kind=json.loads(each.type),
                required=each.required,
                optional=each.optional,
                computed=each.computed,
                hidden=each.sensitive or each.write_only,
                deprecated=each.deprecated,
            )
            for each in block.attributes
        },
        blocks={
            each.type_name: NestedSchema(
                block=read_block(each.block),
                least=each.min_items,
                single=each.nesting in _SINGLE,
                in_set=each.nesting == _SET,
            )
            for each in block.block_types
        },
    )


def conformed(values: Mapping[str, Json], schema: BlockSchema) -> dict[str, Json]:
    """`values` with every attribute and block of the schema: null, or no block, for what is absent."""
    found: dict[str, Json] = {name: values.get(name) for name in schema.attributes}
    for name, nested in schema.blocks.items():
        given = values.get(name)
        if nested.single:
            found[name] = conformed(given, nested.block) if isinstance(given, Mapping) else None
        else:
            found[name] = [conformed(row, nested.block) for row in rows(given)]
    return found


def rows(value: Json) -> list[Mapping[str, Json]]:
    """The maps in a list; empty for anything else."""
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []


def proposed(config: Mapping[str, Json], prior: Mapping[str, Json], schema: BlockSchema) -> dict[str, Json]:
    """The new state that Terraform proposes to a provider: what code sets, and the prior value of what it leaves to the provider.

    Source: `ProposedNew` of Terraform's package `plans/objchange`. A block of a set is paired with the prior one that has all that it sets.
    """
    found: dict[str, Json] = {}
    for name, attribute in schema.attributes.items():
        value = config.get(name)
        found[name] = prior.get(name) if value is None and attribute.computed else value
    for name, nested in schema.blocks.items():
        given, before = config.get(name), prior.get(name)
        if nested.single:
            one = before if isinstance(before, Mapping) else {}
            found[name] = proposed(given, one, nested.block) if isinstance(given, Mapping) else None
            continue
        known = rows(before)
        found[name] = [
            proposed(row, _paired(row, index, known, nested), nested.block) for index, row in enumerate(rows(given))
        ]
    return found


def _paired(
    row: Mapping[str, Json], index: int, known: list[Mapping[str, Json]], nested: NestedSchema
) -> Mapping[str, Json]:
    if not nested.in_set:
        return known[index] if index < len(known) else {}
    set_here = {name: value for name, value in row.items() if value not in (None, [])}
    return next((each for each in known if all(each.get(name) == value for name, value in set_here.items())), {})
