"""Finds which of many attributes overlap with one: it is the same attribute, one is a part of the other, or one is the whole resource."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

from gateway.model.mutation import WHOLE
from gateway.model.path import AttributePath

T = TypeVar("T")


class Overlaps(Generic[T]):
    """Items, each on one attribute of one resource. A look-up costs as much as the attribute is deep and as it finds."""

    def __init__(self, items: Iterable[tuple[str, str, T]]) -> None:
        """Each item with its address and attribute."""
        self._on: dict[tuple[str, str], list[T]] = defaultdict(list)
        self._within: dict[tuple[str, str], list[T]] = defaultdict(list)
        for address, attribute, item in items:
            self._on[address, attribute].append(item)
            inside = () if attribute == WHOLE else (*AttributePath(attribute).enclosing, WHOLE)
            for around in inside:
                self._within[address, around].append(item)

    def of(self, address: str, attribute: str) -> Sequence[T]:
        """The items that overlap with this attribute, each once."""
        if attribute == WHOLE:
            return (*self._within.get((address, WHOLE), ()), *self._on.get((address, WHOLE), ()))
        around = (*AttributePath(attribute).enclosing[1:], WHOLE)
        outer = (item for each in around for item in self._on.get((address, each), ()))
        return (*self._within.get((address, attribute), ()), *outer)
