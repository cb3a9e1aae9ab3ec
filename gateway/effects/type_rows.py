"""Says for each resource type in which directions rows know calls on it, and what only a call after its creation sets."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from gateway.core.derived_rows import DIRECTORY, Confidence
from gateway.core.model.mutation import EffectAction
from gateway.core.model.path import AttributePath
from gateway.effects.registry import SERVICES

_ROW: Final = re.compile(
    rb'^\{"operation": "[^"]*", "type": "(aws_[^"]*)", "actions": \[([^\]]*)\], "origin": "(\w+)", "confidence": "(\w+)"',
    re.MULTILINE,
)
Directions = Mapping[EffectAction, Confidence]
"""The confidence of the surest row in each direction."""
_ORDER: Final = (Confidence.ATTRIBUTES, Confidence.RESOURCE, Confidence.TYPE)


def directions_of_types(learned: Path | None = None) -> Mapping[str, Directions]:
    """Each Terraform type that any row names, with its directions. `learned` is the directory of accepted rows.

    The shipped rows are read once, which takes a tenth of a second. The rows of operations that have a hand-made one count too: a
    hand-made row may name its types in code only.
    """
    shipped = _shipped()
    if learned is None or not learned.is_dir():
        return shipped
    found = {name: dict(known) for name, known in shipped.items()}
    for path in sorted(learned.glob("*.json")):
        _read(path.read_bytes(), found)
    return found


@cache
def _shipped() -> Mapping[str, Directions]:
    found: dict[str, dict[EffectAction, Confidence]] = {}
    for path in DIRECTORY.iterdir():
        if path.name.endswith(".json"):
            _read(path.read_bytes(), found)
    for table in SERVICES.values():
        for row in table.values():
            actions = {row.action, EffectAction.CREATE} if row.upserts else {row.action}
            for name in {row.resource_type, *row.other_types}:
                _add(found, name, actions, Confidence.ATTRIBUTES)
    return found


@cache
def upserted_types() -> frozenset[str]:
    """The types that the call that creates one sets where there is one already: settings of another resource, and what is found by its name."""
    found = {
        name
        for table in SERVICES.values()
        for row in table.values()
        if row.upserts
        for name in (row.resource_type, *row.other_types)
    }
    both = {EffectAction.CREATE.value, EffectAction.SET.value}
    for path in DIRECTORY.iterdir():
        if path.name.endswith(".json"):
            for match in _ROW.finditer(path.read_bytes()):
                if both <= {name.strip(' "') for name in match[2].decode().split(",")}:
                    found.add(match[1].decode())
    return frozenset(found)


@cache
def set_after_creation() -> Mapping[str, frozenset[str]]:
    """The attributes that shipped rows set by other calls than those that create, by type.

    Such a call finds its resource only in the state, which does not have a new one yet. Types with hand-made rows are left out: these
    find a resource in the code too. Reading the rows takes a fifth of a second, once.
    """
    by_hand = {
        name for table in SERVICES.values() for row in table.values() for name in (row.resource_type, *row.other_types)
    }
    made: dict[str, set[str]] = {}
    later: dict[str, set[str]] = {}
    for path in DIRECTORY.iterdir():
        if path.name.endswith(".json"):
            for row in json.loads(path.read_bytes())["rows"]:
                creates = EffectAction.CREATE in row["actions"]
                own = {**row.get("attributes", {}), **(row.get("identity", {}) if creates else {})}
                (made if creates else later).setdefault(row["type"], set()).update(_tops(own.values()))
    return {
        name: frozenset(attributes)
        for name, known in made.items()
        if name not in by_hand and (attributes := later.get(name, set()) - known)
    }


def _tops(sources: Iterable[object]) -> Iterator[str]:
    """The top attributes that a row's sources name, in each form in which a row writes them."""
    for source in sources:
        if isinstance(source, str):
            yield AttributePath(source).top
        elif isinstance(source, list):
            yield from _tops(source)
        elif isinstance(source, dict):
            yield from _tops([source.get("attribute", "")])


def _read(text: bytes, found: dict[str, dict[EffectAction, Confidence]]) -> None:
    for match in _ROW.finditer(text):
        actions = (EffectAction(name.strip(' "')) for name in match[2].decode().split(","))
        _add(found, match[1].decode(), actions, Confidence(match[4].decode()))


def _add(
    found: dict[str, dict[EffectAction, Confidence]],
    name: str,
    actions: Iterable[EffectAction],
    confidence: Confidence,
) -> None:
    known = found.setdefault(name, {})
    for action in actions:
        known[action] = min(known.get(action, Confidence.TYPE), confidence, key=_ORDER.index)
