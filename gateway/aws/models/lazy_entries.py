"""Entries of a generated table, each made when it is first asked for: a gateway is asked about few of 400 services, and all of them take memory."""

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

import msgspec

T = TypeVar("T")


class LazyEntries(Mapping[str, T]):
    """A mapping whose values are made from their JSON at the first access to each, and kept."""

    def __init__(self, texts: Mapping[str, msgspec.Raw], made: Callable[[str, msgspec.Raw], T]) -> None:
        """`texts` is the JSON of each entry, read as far as it is JSON; `made` gives the value of a name and its JSON."""
        self._texts = texts
        self._make = made
        self._made: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        """The value. Raises `KeyError`."""
        found = self._made.get(name)
        if found is None:
            found = self._made[name] = self._make(name, self._texts[name])
        return found

    def __iter__(self) -> Iterator[str]:
        """The names, in the order of the table."""
        return iter(self._texts)

    def __len__(self) -> int:
        """The number of entries."""
        return len(self._texts)

    def __contains__(self, name: object) -> bool:
        """Whether there is such an entry; makes none."""
        return name in self._texts
