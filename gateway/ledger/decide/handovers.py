"""Counts how often an attribute changed hands. A claim on a part of it, or on what it is a part of, is one on it."""

from collections.abc import Iterable, Sequence
from typing import Final

from gateway.core.model.path import WHOLE, AttributePath, Overlaps
from gateway.ledger.store.rows import HolderRow

_ROOT: Final = ""
"""What every attribute of a resource is a part of."""

_NONE: Final = -1, ""
"""What was before the first claim."""


class Handovers:
    """The latest claims on some resources, in the order in which they were taken."""

    def __init__(self, holders: Iterable[HolderRow]) -> None:
        """The claims of all attributes, in any order."""
        self._on = Overlaps((each.address, each.attribute, each) for each in holders)

    def flips(self, address: str, attribute: str) -> int:
        """How many claims on the attribute followed that of another actor: one that they overlap with, and the latest such."""
        return _flips(self._claims(address, attribute))

    def had(self, actor: str, address: str, attribute: str) -> bool:
        """Whether the actor held the attribute, now or before."""
        return any(each.actor == actor for each in self._on.of(address, attribute))

    def _claims(self, address: str, attribute: str) -> Sequence[HolderRow]:
        return sorted(self._on.of(address, attribute), key=lambda each: (each.since, each.id))


def _flips(claims: Sequence[HolderRow]) -> int:
    """In time that is linear in the claims: for each attribute are kept the last claim on it, and the last one on it or a part of it."""
    on: dict[str, tuple[int, str]] = {}
    within: dict[str, tuple[int, str]] = {}
    paths: dict[str, tuple[str, ...]] = {}
    count = 0
    for number, claim in enumerate(claims):
        attribute = claim.attribute
        path = paths.get(attribute)
        if path is None:
            inside = () if attribute == WHOLE else AttributePath(attribute).enclosing
            path = paths[attribute] = (*inside, _ROOT)
        own = path[0]
        before = within.get(own, _NONE)
        for each in path[1:]:
            before = max(before, on.get(each, _NONE))
        count += before is not _NONE and before[1] != claim.actor
        on[own] = latest = number, claim.actor
        for each in path:
            within[each] = latest
    return count
