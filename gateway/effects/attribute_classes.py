"""What each attribute of the provider's resources means for danger: it is code, hands out a role, grants, sends away, may be a stranger's.

`attribute_classes.json` is a review of the whole schema by the names of attributes, with the places where a name means something else.
What it does not name is unclassified: policy holds it for callers that act alone. `python -m tests.tools.attribute_classes` prints what is new.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from importlib.resources import files
from typing import Final

from gateway.effects.schema import TypeSchema

FILE: Final = "attribute_classes.json"


class AttributeClass(StrEnum):
    """The classes. A value may be of several; the reviewed class is the most dangerous one that its rule does not see elsewhere."""

    RUNS_CODE = "runs_code"
    """Code, or what names the code, image, command, template or version that something runs."""
    ENVIRONMENT = "environment"
    """A map of environment variables: interpreters and loaders take code from some of them."""
    HANDS_ROLE = "hands_role"
    """A role or an instance profile, whose rights something gets."""
    GRANTS = "grants"
    """Who may call, log in, join or be trusted."""
    POLICY = "policy"
    """A policy document. Rules read it, so that its class alone decides nothing."""
    SENDS_TO = "sends_to"
    """Where data, messages or traffic go."""
    OWNED_ELSEWHERE = "owned_elsewhere"
    """A key, bucket, image, snapshot, queue, file system or other thing that may be somebody else's."""
    REACH = "reach"
    """The place in the network: groups, subnets, ranges, ports."""
    LABEL = "label"
    """Text that AWS gives no meaning to: tags, descriptions."""
    HARMLESS = "harmless"


EXPOSING: Final = frozenset({
    AttributeClass.RUNS_CODE, AttributeClass.ENVIRONMENT, AttributeClass.HANDS_ROLE, AttributeClass.REACH,
})  # fmt: skip
"""The classes by which a type has a role or a place in a network."""
JUDGED: Final = frozenset({
    AttributeClass.RUNS_CODE, AttributeClass.ENVIRONMENT, AttributeClass.HANDS_ROLE, AttributeClass.SENDS_TO, AttributeClass.OWNED_ELSEWHERE,
})  # fmt: skip
"""The classes that guardrails judge for every caller."""


def class_of(resource_type: str, path: str) -> AttributeClass | None:
    """The class of an attribute by its path in the provider's schema; None if nobody classified it, or its type is new."""
    table = _table()
    if resource_type not in table.types:
        return None
    exact = table.places.get(f"{resource_type}:{path}")
    if exact is not None:
        return exact
    name = path.rpartition(".")[2]
    for place, found in table.suffixes.get(name, ()):
        if path == place or path.endswith(f".{place}"):
            return found
    return table.names.get(name)


def is_map(resource_type: str, path: str) -> bool:
    """Whether the attribute is a map, whose keys are no attributes."""
    maps = _table().maps
    return path.rpartition(".")[2] in maps or f"{resource_type}:{path}" in maps


def has_role_or_network(resource_type: str) -> bool:
    """Whether resources of the type run, have a role or a place in a network. True for a type that nobody reviewed."""
    return _table().types.get(resource_type, True)


@lru_cache(maxsize=256)
def classes_of(names: Sequence[str]) -> frozenset[AttributeClass]:
    """The classes of attributes of which only the names are known."""
    table = _table().names
    return frozenset(found for name in names if (found := table.get(name)) is not None)


def judged_paths(schema: TypeSchema) -> Iterator[str]:
    """The attributes that themselves have a value that a rule could judge: no numbers, and no blocks that consist of attributes."""
    blocks = {path.rpartition(".")[0] for path in schema.kinds}
    for path, kind in schema.kinds.items():
        if kind not in _NUMBERS and not ("block" in kind and path in blocks):
            yield path


_NUMBERS: Final = frozenset({"number", "list(number)", "set(number)"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    names: Mapping[str, AttributeClass]
    places: Mapping[str, AttributeClass]
    """By `type:path`."""
    suffixes: Mapping[str, Sequence[tuple[str, AttributeClass]]]
    """Last step → the ends of paths with it, the longest first."""
    types: Mapping[str, bool]
    """Whether a reviewed type has a role or a network."""
    maps: frozenset[str]


@lru_cache(maxsize=1)
def _table() -> _Table:
    review = json.loads((files(__package__) / FILE).read_bytes())
    places: dict[str, AttributeClass] = {}
    suffixes: dict[str, list[tuple[str, AttributeClass]]] = {}
    for name, entries in review["places"].items():
        for place in entries:
            if ":" in place:
                places[place] = AttributeClass(name)
            else:
                suffixes.setdefault(place.rpartition(".")[2], []).append((place, AttributeClass(name)))
    exposed, others = _words(review["types"]["with_role_or_network"]), _words(review["types"]["others"])
    return _Table(
        names={each: AttributeClass(name) for name, lines in review["names"].items() for each in _words(lines)},
        places=places,
        suffixes={name: sorted(found, key=lambda each: -len(each[0])) for name, found in suffixes.items()},
        types=dict.fromkeys(exposed, True) | dict.fromkeys(others, False),
        maps=frozenset(_words(review["maps"])),
    )


def _words(lines: Iterable[str]) -> Iterator[str]:
    return (word for line in lines for word in line.split())
