"""A document is fetched once for many, again when it is old, and never in a rush."""

import asyncio
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest

from gateway.core.errors import IdentityProviderUnusable
from gateway.identity.kept_document import INTERVAL, LASTS, KeptDocument
from tests.kit.doubles import NOW

SECOND = timedelta(seconds=1)


@dataclass
class MovableClock:
    """A clock that tests set."""

    at: datetime = NOW

    def now(self) -> datetime:
        """The time it was set to."""
        return self.at


@dataclass
class Source:
    """Counts what it is asked."""

    fails: bool = False
    asked: int = 0
    entered: asyncio.Event = field(default_factory=asyncio.Event)
    going: asyncio.Event = field(default_factory=asyncio.Event)

    async def fetch(self) -> int:
        """How often it was asked."""
        self.asked += 1
        self.entered.set()
        await self.going.wait()
        if self.fails:
            raise IdentityProviderUnusable("It is down.")
        return self.asked


def kept(source: Source, clock: MovableClock) -> KeptDocument[int]:
    source.going.set()
    return KeptDocument(clock, source.fetch)


async def test_it_is_kept_for_a_while() -> None:
    clock, source = MovableClock(), Source()
    document = kept(source, clock)
    assert [await document.read(), await document.read()] == [1, 1]
    clock.at += LASTS
    assert await document.read() == 1
    clock.at += SECOND
    assert await document.read() == 2


async def test_a_newer_one_is_fetched_but_not_at_once() -> None:
    clock, source = MovableClock(), Source()
    document = kept(source, clock)
    assert [await document.read(), await document.read(newer=True)] == [1, 1]
    clock.at += INTERVAL + SECOND
    assert [await document.read(newer=True), await document.read(newer=True)] == [2, 2]


async def test_a_failure_is_not_repeated_at_once_and_keeps_nothing() -> None:
    clock, source = MovableClock(), Source()
    document = kept(source, clock)
    await document.read()
    source.fails = True
    clock.at += LASTS + SECOND
    for _ in range(3):
        with pytest.raises(IdentityProviderUnusable, match="down"):
            await document.read()
    assert source.asked == 2
    source.fails = False
    clock.at += INTERVAL + SECOND
    assert await document.read() == 3


async def test_a_clock_that_was_set_back_keeps_nothing_for_longer() -> None:
    clock, source = MovableClock(), Source()
    document = kept(source, clock)
    await document.read()
    clock.at -= timedelta(days=1)
    assert await document.read() == 2


async def test_many_who_wait_ask_once_even_if_it_fails() -> None:
    source = Source(fails=True)
    document = KeptDocument(MovableClock(), source.fetch)
    waiting = [asyncio.ensure_future(document.read()) for _ in range(20)]
    await source.entered.wait()
    source.going.set()
    found = await asyncio.gather(*waiting, return_exceptions=True)
    assert {type(each) for each in found} == {IdentityProviderUnusable}
    assert source.asked == 1


async def test_a_fetch_that_was_broken_off_says_nothing() -> None:
    source = Source()
    document = KeptDocument(MovableClock(), source.fetch)
    first = asyncio.ensure_future(document.read())
    await source.entered.wait()
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    source.going.set()
    assert await document.read() == 2
