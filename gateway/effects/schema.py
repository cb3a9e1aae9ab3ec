"""The provider's schema in its slim form: which attributes a resource type has, of which kind, and which are secret."""

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from gateway.effects.spelling import folded

_FILE = "schema_aws_5.json.gz"
"""Written by tests/tools/generate_schema.py from the provider's own answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeSchema:
    """The settable attributes of one resource type, blocks and objects taken apart into dotted paths."""

    kinds: Mapping[str, str]
    """Path → `string`, `number`, `bool`, `list(string)`, `map(string)`, …; `block` (at most one), `list(block)`, `set(block)`."""
    sensitive: frozenset[str]
    """Paths whose value the provider calls secret."""
    folds: Mapping[tuple[str, ...], tuple[str, ...]] = field(repr=False)
    """Paths by their folded words, see `words.folded`."""

    def knows(self, path: str) -> bool:
        """Whether there is such an attribute, or a map that may have such a key."""
        head, _, key = path.partition(".")
        return path in self.kinds or (bool(key) and self.kinds.get(head, "").startswith("map("))

    def is_sensitive(self, path: str) -> bool:
        """Whether the attribute or what it stands in is secret."""
        return any(path == secret or path.startswith(f"{secret}.") for secret in self.sensitive)


def read_schemas(types: Iterable[str]) -> Mapping[str, TypeSchema]:
    """The schemas of these resource types, from the file that ships with the gateway. Raises KeyError for an unknown type."""
    wanted = set(types)
    found: dict[str, TypeSchema] = {}
    with (files(__package__) / _FILE).open("rb") as packed:
        for line in gzip.decompress(packed.read()).splitlines():
            name = line[2 : line.index(b'"', 2)].decode()
            if name in wanted:
                found[name] = _type_schema(json.loads(line)[1])
    if missing := wanted - set(found):
        message = f"the provider's schema has no {', '.join(sorted(missing))}"
        raise KeyError(message)
    return found


def _type_schema(members: Mapping[str, Any]) -> TypeSchema:
    entries = list(_flattened(members, ""))
    folds: dict[tuple[str, ...], tuple[str, ...]] = {}
    for path, _, _ in entries:
        fold = tuple(folded(step) for step in path.split("."))
        folds[fold] = (*folds.get(fold, ()), path)
    return TypeSchema(
        kinds={path: kind for path, kind, _ in entries},
        sensitive=frozenset(path for path, _, secret in entries if secret),
        folds=folds,
    )


def _flattened(members: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, str, bool]]:
    for name, member in members.items():
        kind, inner = member if isinstance(member, list) else (member, {})
        yield prefix + name, kind.removesuffix("!"), kind.endswith("!")
        yield from _flattened(inner, f"{prefix}{name}.")
