"""Cuts values for an answer: long texts and long lists, because anyone may have written the content of tags and names."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from gateway.core.model.caller import Caller
from gateway.core.model.json import Json, to_json
from gateway.core.model.masking import without_digests

LONGEST_TEXT: Final = 1_000
"""Characters of one text that are shown."""
MOST_ITEMS: Final = 100
"""Items of one list or map that are shown."""
_DEEPEST: Final = 12


def excerpt(value: Json, caller: Caller) -> Any:
    """The value as this caller is shown it. A cut text ends with how long it was, a cut list with how many more it has.

    Agents and services are not given the digests of secrets, and these are blanked first: a part of one would not be recognised.
    """
    plain = to_json(value)
    return _cut(plain if caller.sees_all else without_digests(plain), 0)


def _cut(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= LONGEST_TEXT else f"{value[:LONGEST_TEXT]}… ({len(value)} characters)"
    if depth >= _DEEPEST and isinstance(value, Mapping | Sequence):
        return "… (too deep to show)"
    if isinstance(value, Mapping):
        shown = {_cut(name, depth): _cut(item, depth + 1) for name, item in list(value.items())[:MOST_ITEMS]}
        return shown if len(value) <= MOST_ITEMS else {**shown, "…": f"({len(value) - MOST_ITEMS} more)"}
    if isinstance(value, Sequence):
        items = [_cut(item, depth + 1) for item in value[:MOST_ITEMS]]
        return items if len(value) <= MOST_ITEMS else [*items, f"… ({len(value) - MOST_ITEMS} more)"]
    return value
