"""Whether a resource that the provider read is the one that a call created: every name and id that the call says is its own too."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from gateway.core.model.json import Json
from reconciler.adoption.attribute_names import identifies, named_attributes
from reconciler.changes.event_values import EventValues, NamedValue
from reconciler.terraform.plugin.imports import ImportedResource
from reconciler.terraform.plugin.type_schemas import BlockSchema

_OWN: Final = ("id", "arn", "name", "url")
_NAMING: Final = ("name", "id", "arn", "identifier")
_SHORTEST: Final = 3
"""Shorter texts, in characters, name nothing for sure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """What speaks for a resource and against it."""

    names: frozenset[str] = frozenset()
    """The attributes whose values the call says."""
    given: frozenset[str] = frozenset()
    """All attributes that the call gave, whatever their values are now."""
    answered: bool = False
    """Whether the reply says its id or ARN."""
    against: str = ""
    """An attribute that tells it from others, and that the call says otherwise; empty if there is none."""

    @property
    def holds(self) -> bool:
        """Whether it is the resource that the call created."""
        return bool(self.names) and not self.against


def agreement(values: EventValues, resource: ImportedResource, schema: BlockSchema) -> Agreement:
    """How a resource agrees with a call."""
    names, given, against = set[str](), set[str](), ""
    live = resource.attributes
    for each in values.asked:
        meant = named_attributes(each.steps[-1], resource.resource_type, schema)
        given.update(meant)
        if len(each.steps) > 1:
            given.update(named_attributes(each.steps[0], resource.resource_type, schema))
        known = [name for name in meant if name in schema.attributes and live.get(name) not in (None, "", [], {})]
        agreeing = [name for name in known if says(live[name], each)]
        if any(_tells(name, each) for name in agreeing):
            names.update(agreeing)
        elif known and not agreeing and len(each.steps) <= 1 and _own_name(each, known, schema):
            against = against or known[0]
    against = against or _unexplained(values, live)
    own = {name for each in values.answered for name in _OWN if _tells(name, each) and says(live.get(name), each)}
    return Agreement(
        names=frozenset(names | own), given=frozenset(given), answered=bool(own & {"id", "arn"}), against=against
    )


def _unexplained(values: EventValues, live: Mapping[str, Json]) -> str:
    """A name or id in the call that stands nowhere in the resource: then the call made something else, of which the resource is a part."""
    texts: list[Json] = list(_texts(live))
    for each in values.asked:
        if (
            len(each.steps) == 1
            and isinstance(each.value, str)
            and each.name.endswith(_NAMING)
            and not says(texts, each)
        ):
            return each.steps[0]
    return ""


def _texts(value: Json) -> Iterator[str]:
    match value:
        case str():
            yield value
        case Mapping():
            for item in value.values():
                yield from _texts(item)
        case list():
            for item in value:
                yield from _texts(item)


def says(live: Json, each: NamedValue) -> bool:
    """Whether a live value is, or for a list holds, the value of the call: an ARN for a name, and letters of another case, count."""
    if isinstance(live, list):
        return any(says(item, each) for item in live)
    if isinstance(live, Mapping) or live is None:
        return False
    one = str(live).lower() if isinstance(live, bool) else str(live)
    other = each.text
    if one.casefold().rstrip(".") == other.casefold().rstrip("."):
        return True
    long, short = (one, other) if len(one) > len(other) else (other, one)
    return len(short) >= _SHORTEST and long.startswith(("arn:", "http", "/")) and long.endswith(_ends(short))


def _ends(short: str) -> tuple[str, ...]:
    return tuple(f"{separator}{short}" for separator in "/:")


def _tells(name: str, each: NamedValue) -> bool:
    """Whether the value of an attribute tells a resource from others."""
    return isinstance(each.value, str) and len(each.value) >= _SHORTEST and identifies(name)


def _own_name(each: NamedValue, known: list[str], schema: BlockSchema) -> bool:
    """Whether a parameter names the resource, or what it belongs to, and not what may be changed later."""
    return isinstance(each.value, str) and any(
        identifies(name) and (schema.attributes[name].required or name in _OWN) for name in known
    )


def has_own_arn(schema: BlockSchema) -> bool:
    """Whether `arn` is the ARN of the resource itself, and not an argument: that of an event's target is the target's."""
    return "arn" in schema.attributes and not schema.attributes["arn"].settable


def identity_of(attributes: Mapping[str, Json], schema: BlockSchema) -> Iterator[tuple[str, str]]:
    """What identifies a resource by itself: its ARN, or else its id."""
    for name in ("arn", "id") if has_own_arn(schema) else ("id",):
        if isinstance(value := attributes.get(name), str) and value:
            yield name, value
