"""A document of an identity provider: fetched when it is needed, kept for a while, and never asked for by many at once."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Generic, TypeVar

from gateway.core.errors import IdentityProviderUnusable
from gateway.core.ports import Clock

LASTS: Final = timedelta(minutes=10)
"""How long a document is kept. A key that the provider withdrew counts for no longer."""
INTERVAL: Final = timedelta(seconds=10)
"""Least time between two fetches, also after a failure, however many ask."""
T = TypeVar("T")


@dataclass(slots=True)
class KeptDocument(Generic[T]):
    """The document, and when it was fetched."""

    clock: Clock
    fetch: Callable[[], Awaitable[T]]
    """Raises `errors.IdentityProviderUnusable`."""
    _value: T | None = None
    _problem: str = ""
    _at: datetime | None = None
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def read(self, *, newer: bool = False) -> T:
        """The document; with `newer` one that was fetched after the last answer, unless that was just now.

        Raises `errors.IdentityProviderUnusable`, also if the last fetch failed just now.
        """
        async with self._turn:
            if self._age_over(INTERVAL if newer or self._value is None else LASTS):
                await self._renew()
            if self._value is None:
                raise IdentityProviderUnusable(self._problem)
            return self._value

    def _age_over(self, most: timedelta) -> bool:
        """A clock that was set back makes it old, never young for longer."""
        return self._at is None or not timedelta() <= self.clock.now() - self._at <= most

    async def _renew(self) -> None:
        """Only an answer and a failure of the provider are kept: a fetch that was broken off says nothing."""
        self._value, self._at = None, None
        try:
            self._value = await self.fetch()
        except IdentityProviderUnusable as error:
            self._problem = str(error)
        self._at = self.clock.now()
