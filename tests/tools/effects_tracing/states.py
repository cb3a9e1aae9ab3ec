"""The states that a plan starts from and proposes, made as Terraform makes them."""

from collections.abc import Mapping
from typing import Any

from tests.tools.effects_tracing.answers import ACCOUNT
from tests.tools.effects_tracing.block_schema import BlockSchema, Nesting
from tests.tools.effects_tracing.forms import token
from tests.tools.effects_tracing.provider import UNKNOWN

Values = Mapping[str, Any]


def proposed(config: Values, prior: Values | None, schema: BlockSchema) -> dict[str, Any]:
    """The proposed new state: what the configuration sets, else what the prior state has for an attribute that the provider computes.

    Source: "Planning Resource Changes" in Terraform's documentation of resource instance changes.
    """
    made: dict[str, Any] = {}
    for name, attribute in schema.attributes.items():
        value = config.get(name)
        keeps = value is None and attribute.computed and prior is not None
        made[name] = prior.get(name) if keeps and prior is not None else value
    for name, nested in schema.blocks.items():
        before = prior.get(name) if prior is not None else None
        made[name] = _proposed_blocks(config.get(name), before, nested.block)
    return made


def _proposed_blocks(config: Any, prior: Any, schema: BlockSchema) -> Any:
    match config:
        case list():
            before = prior if isinstance(prior, list) else []
            olds = [*before, *[None] * len(config)]
            return [proposed(item, old, schema) for item, old in zip(config, olds, strict=False)]
        case dict() if schema.attributes.keys() | schema.blocks.keys() >= config.keys():
            return proposed(config, prior if isinstance(prior, dict) else None, schema)
        case dict():
            by_key = prior if isinstance(prior, dict) else {}
            return {key: proposed(item, by_key.get(key), schema) for key, item in config.items()}
    return config


def completed(planned: Values, schema: BlockSchema, path: tuple[str, ...] = ()) -> dict[str, Any]:
    """A state whose unknown parts are made up."""
    made: dict[str, Any] = {}
    for name, item in planned.items():
        here = (*path, name)
        if name in schema.attributes:
            made[name] = _known(item, schema.attributes[name].kind, here)
            continue
        nested = schema.blocks[name]
        if isinstance(item, list):
            made[name] = [completed(each, nested.block, here) for each in item if isinstance(each, dict)]
        elif isinstance(item, dict) and nested.nesting is not Nesting.MAP:
            made[name] = completed(item, nested.block, here)
        else:
            made[name] = None if isinstance(item, UNKNOWN) else item
    return made


def _known(value: Any, kind: Any, path: tuple[str, ...]) -> Any:
    if isinstance(value, UNKNOWN):
        return _made_up(kind, path)
    if isinstance(value, list):
        return [_known(each, kind[1], path) for each in value]
    if isinstance(value, dict):
        kinds = kind[1]
        return {
            name: _known(each, kinds[name] if isinstance(kinds, dict) else kinds, (*path, name))
            for name, each in value.items()
        }
    return value


def _made_up(kind: Any, path: tuple[str, ...]) -> Any:
    marker = token(("computed", *path), 0)
    match kind:
        case "string":
            return f"arn:aws:stub:us-east-1:{ACCOUNT}:x/{marker}" if path[-1].endswith("arn") else marker
        case "number":
            return 1
        case "bool":
            return False
        case ["list" | "set", _]:
            return []
        case ["map", _]:
            return {}
    return None
