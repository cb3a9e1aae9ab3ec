"""The shape of a provider's configuration: its attributes with their types and its nested blocks, and values brought into it.

A provider decodes its configuration by its schema, so every attribute must be present, null where it is not set.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from gateway.core.model.json import Json
from reconciler.errors import PluginUnavailable

_MANY: Final = {2, 3}
"""`NestedBlock.NestingMode`: LIST and SET."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockShape:
    """The attributes and nested blocks of one block."""

    attributes: Mapping[str, Any] = field(default_factory=dict)
    """Name → type, as JSON of Terraform's type system: `"string"`, `["list", "string"]`."""
    blocks: Mapping[str, "BlockShape"] = field(default_factory=dict)


def read_shape(block: Any) -> BlockShape:
    """The shape that a `Block` of a schema describes. Raises `errors.PluginUnavailable` for nesting that no list holds."""
    odd = [inner.type_name for inner in block.block_types if inner.nesting not in _MANY]
    if odd:
        raise PluginUnavailable.because(f"Its configuration nests {odd} in a way that is not known.")
    return BlockShape(
        attributes={each.name: json.loads(each.type) for each in block.attributes},
        blocks={inner.type_name: read_shape(inner.block) for inner in block.block_types},
    )


def dump(shape: BlockShape) -> bytes:
    """The shape as JSON, to be kept beside the provider it is of."""
    return msgspec.json.encode(shape)


def load(text: bytes) -> BlockShape:
    """What `dump` wrote. Raises `ValueError`."""
    return msgspec.json.decode(text, type=BlockShape)


def conform(values: Mapping[str, Json], shape: BlockShape) -> dict[str, Json]:
    """`values` with every attribute and block of the shape, each in its type.

    Raises `errors.PluginUnavailable` if there is a value that the shape does not have.
    """
    unknown = values.keys() - shape.attributes.keys() - shape.blocks.keys()
    if unknown:
        raise PluginUnavailable.because(f"Its schema does not have {sorted(unknown)}.")
    attributes = {name: convert(values.get(name), kind) for name, kind in shape.attributes.items()}
    blocks = {
        name: [conform(_row(row), inner) for row in _rows(values.get(name))] for name, inner in shape.blocks.items()
    }
    return {**attributes, **blocks}


def convert(value: Json, kind: Json) -> Json:
    """A value in one of Terraform's types; primitives are converted as Terraform does. Raises `errors.PluginUnavailable`."""
    match kind:
        case _ if value is None:
            return None
        case "string" if isinstance(value, bool):
            return str(value).lower()
        case "string":
            return value if isinstance(value, str) else str(value)
        case "bool" if value in ("true", "false"):
            return value == "true"
        case "number" if isinstance(value, str):
            return json.loads(value)  # type: ignore[no-any-return]  # JSON's numbers are HCL's
        case ["list" | "set", item]:
            return [convert(each, item) for each in _rows(value)]
        case ["map", item]:
            return {name: convert(each, item) for name, each in _row(value).items()}
    return value


def _rows(value: Json) -> Sequence[Json]:
    if value is None:
        return []
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise PluginUnavailable.because("Its configuration has one value where a list is needed.")
    return value


def _row(value: Json) -> Mapping[str, Json]:
    if not isinstance(value, Mapping):
        raise PluginUnavailable.because("Its configuration has a value where a block is needed.")
    return value
