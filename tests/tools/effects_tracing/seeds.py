"""The seeds: own-written knowledge of single resource types whose required values no diagnostic explains, read from `seeds.toml`."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tests.tools.effects_tracing.forms import hexadecimal, number, uuid

_FILE = Path(__file__).with_name("seeds.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Seed:
    """What is known about one type. Attributes are dotted paths without places in lists."""

    values: Mapping[str, Any] = field(default_factory=dict)
    """Attribute → its value; a text may have places for the marker: {t}, {hex8}, {hex17}, {hex32}, {uuid}, {n}."""
    same: Mapping[str, str] = field(default_factory=dict)
    """Attribute → the attribute that it has to equal."""
    off: tuple[str, ...] = ()
    """Attributes and blocks that are left out."""
    count: Mapping[str, int] = field(default_factory=dict)
    """Blocks and lists that need several members."""
    minimal: bool = False
    """Whether only what is required and seeded is set."""
    id: str = ""
    """How the provider makes the id, e.g. `{account_id}:{name}`, for a create that is broken off before it says so."""
    answers: Mapping[str, Any] = field(default_factory=dict)
    """Member of answers, in lower case without underscores → its value, where the provider takes no other."""
    status: str = ""
    """The status that the answers have from the beginning, where another lets the provider leave a call out."""


@cache
def seeds(variant: int = 1) -> Mapping[str, Seed]:
    """The seeds by type. What `second` says of a type is taken from the second variant on, beside the rest."""
    entries = tomllib.loads(_FILE.read_text())
    return {name: _seed(entry, entry.get("second", {}) if variant > 1 else {}) for name, entry in entries.items()}


def _seed(entry: Mapping[str, Any], second: Mapping[str, Any]) -> Seed:
    first = {name: each for name, each in entry.get("values", {}).items() if name not in second.get("off", ())}
    return Seed(
        values={**first, **second.get("values", {})},
        same=entry.get("same", {}),
        off=(*entry.get("off", ()), *second.get("off", ())),
        count=entry.get("count", {}),
        minimal=second.get("minimal", entry.get("minimal", False)),
        id=entry.get("id", ""),
        answers=entry.get("answers", {}),
        status=second.get("status", entry.get("status", "")),
    )


def filled_in(text: str, marker: str) -> str:
    """A seed's text with the marker in its places."""
    places = {
        "{t}": marker,
        "{hex8}": hexadecimal(marker, 8),
        "{hex17}": hexadecimal(marker, 17),
        "{hex32}": hexadecimal(marker, 32),
        "{uuid}": uuid(marker),
        "{n}": str(number(marker, 9000, 1000)),
    }
    for place, value in places.items():
        text = text.replace(place, value)
    return text
