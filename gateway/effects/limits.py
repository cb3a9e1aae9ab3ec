"""Limits on the size of a call that is interpreted. Each is at or over AWS's own for one call; a larger call is refused with a sentence.

Without limits one small request could keep the gateway busy: the effects of a call are as many as its names times its values.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from gateway.core.errors import CallTooLarge
from gateway.core.model.json import SCALARS

MOST_EFFECTS = 1_000
"""Effects of one call; also the resources that one call may name."""
MOST_ITEMS = 1_000
"""Items of one list or map in a call."""
MOST_MEMBERS = 10_000
"""Items of all lists and maps of a call together."""
LONGEST_NAME = 256
"""Characters of a key that names an attribute."""
MOST_INNER_CALLS = 200
"""Calls that one call may make AWS carry out, at every depth."""
DEEPEST_INNER_CALL = 3
"""How deep such calls may be nested: a schedule that creates a stack that has a schedule is 2."""


@dataclass(slots=True)
class EffectBudget:
    """The number of effects, or of named resources, that a call may still have."""

    left: int = MOST_EFFECTS

    def spend(self) -> None:
        """Count one. Raises `errors.CallTooLarge`."""
        self.left -= 1
        if self.left < 0:
            raise CallTooLarge(f"changes more than {MOST_EFFECTS} attributes or resources")


def refuse_too_large(parameters: Mapping[str, object], without: Collection[str]) -> None:
    """Raise `errors.CallTooLarge` for a list, or a sum of lists, over the limit. `without` names parameters that nobody interprets."""
    members = 0
    todo = [value for name, value in parameters.items() if name not in without]
    while todo:
        value = todo.pop()
        if type(value) in SCALARS:
            continue
        if isinstance(value, Mapping):
            inner: Collection[object] = value.values()
        elif isinstance(value, list | tuple):
            inner = value
        else:
            continue
        refuse_long_list(inner)
        members += len(inner)
        if members > MOST_MEMBERS:
            raise CallTooLarge(f"has more than {MOST_MEMBERS} items in all its lists")
        todo.extend(inner)


def refuse_long_list(items: Collection[object]) -> None:
    """Raise `errors.CallTooLarge` for a list over the limit."""
    if len(items) > MOST_ITEMS:
        raise CallTooLarge(f"has a list of {len(items)} items, and {MOST_ITEMS} are the most")
