"""What a mutation changes, as text for lists."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

_LISTED = 3
"""How many changes of one mutation a list shows."""
_LONGEST = 120
"""How many characters of a text a list shows. The commands for one mutation show all."""


def change(effect: Mapping[str, Any]) -> str:
    """One effect with the value before and after it; only the action if that says all."""
    if effect["attribute"] == "*":
        return f"{effect['action']} {effect['address']}"
    if effect["action"] != "set":
        return f"{effect['address']}.{effect['attribute']}: {effect['action']}"
    if effect.get("sensitive"):
        return f"{effect['address']}.{effect['attribute']}: a secret"
    return f"{effect['address']}.{effect['attribute']}: {json.dumps(effect['before'])} → {json.dumps(effect['value'])}"


def few_changes(effects: Sequence[Mapping[str, Any]]) -> str:
    """The first effects, each shortened, and the number of the others."""
    more = len(effects) - _LISTED
    return ", ".join(shortened(change(effect)) for effect in effects[:_LISTED]) + (
        f" and {more} more" if more > 0 else ""
    )


def shortened(text: str) -> str:
    """The beginning of a long text."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
