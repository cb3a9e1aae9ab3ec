"""Counts how often an attribute changed hands. A claim on a part of it, or on what it is a part of, is one on it."""

from collections.abc import Iterable, Sequence
from typing import Final

from gateway.core.model.path import WHOLE, AttributePath, Overlaps
from gateway.ledger.store.rows import HolderRow

_ROOT: Final = ""
"""What every attribute of a resource is a part of."""


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
    count = 0
    for number, claim in enumerate(claims):
        inside = () if claim.attribute == WHOLE else AttributePath(claim.attribute).enclosing
        own, *around = (*inside, _ROOT)
        earlier = [within.get(own), *(on.get(each) for each in around)]
        before = max((each for each in earlier if each is not None), default=None)
        count += before is not None and before[1] != claim.actor
        on[own] = number, claim.actor
        for each in (own, *around):
            within[each] = number, claim.actor
    return count
