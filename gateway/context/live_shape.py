"""Brings AWS's description of a resource to the provider's attributes, by the names of its schema; what leaves a doubt is left out."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final

from gateway.context.live_calls import LIVE_CALLS, LiveCall
from gateway.effects.matcher import match
from gateway.effects.schema import TypeSchema, known_schemas
from gateway.effects.tags import tag_map
from gateway.effects.values import NotUnderstood
from gateway.model.json import Json, to_json

_TAGS: Final = frozenset({"Tags", "TagList", "tags"})
_DEEPEST: Final = 4
_LISTS: Final = ("list(string)", "set(string)", "list(number)", "set(number)")


def live_attributes(resource_type: str, call: LiveCall, reply: Mapping[str, object]) -> Mapping[str, Json] | None:
    """Attribute path → live value, of all that is known by its name; None if the reply does not have the resource."""
    described = _found(reply, call.found)
    schema = _schemas().get(resource_type)
    if described is None or schema is None:
        return None
    return dict(_attributes(schema, call, described, ()))


@cache
def _schemas() -> Mapping[str, TypeSchema]:
    """The schemas of the resource types that can be read, from the file that ships with the gateway: read at the first live read."""
    return known_schemas(frozenset(LIVE_CALLS))


def _found(reply: object, steps: Sequence[str]) -> Mapping[str, object] | None:
    """What the steps lead to. Of a list that has several items, none is the one that was asked for."""
    for step in steps:
        if step == "*":
            reply = reply[0] if isinstance(reply, list) and len(reply) == 1 else None
        else:
            reply = reply.get(step) if isinstance(reply, Mapping) else None
    return reply if isinstance(reply, Mapping) else None


def _attributes(
    schema: TypeSchema, call: LiveCall, described: Mapping[str, object], above: tuple[str, ...]
) -> Iterator[tuple[str, Json]]:
    for name, value in described.items():
        steps = (*above, name)
        if name in _TAGS and not above:
            yield from _tags(schema, value)
        elif isinstance(value, Mapping) and len(steps) < _DEEPEST:
            yield from _attributes(schema, call, value, steps)
        else:
            path = _attribute(schema, call, steps)
            if path and (typed := _typed(schema.kinds[path], value)) is not None:
                yield path, typed


def _attribute(schema: TypeSchema, call: LiveCall, steps: tuple[str, ...]) -> str | None:
    """The attribute of a member of the reply; None if the call leaves it out, or no name fits."""
    named = call.names.get(".".join(steps))
    path = match(schema, steps) if named is None else named
    return path if path and path in schema.kinds else None


def _tags(schema: TypeSchema, value: object) -> Iterator[tuple[str, Json]]:
    if schema.kinds.get("tags") == "map(string)":
        try:
            yield "tags", dict(tag_map(value))
        except NotUnderstood:
            return


def _typed(kind: str, value: Any) -> Json:
    """The value in the provider's form; None if it has another form than the schema says."""
    match kind:
        case "number" if not isinstance(value, bool):
            return _number(value)
        case "bool" if isinstance(value, bool) or value in ("true", "false"):
            return value is True or value == "true"
        case "string" if not isinstance(value, Mapping | list | bool):
            return str(to_json(value))
        case _ if kind in _LISTS and isinstance(value, list):
            items = [each for each in value if isinstance(each, str | int)]
            return items if len(items) == len(value) else None
        case _:
            return None


def _number(value: Any) -> Json:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return int(number) if number.is_integer() else number
