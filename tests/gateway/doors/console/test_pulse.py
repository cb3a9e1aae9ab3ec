"""Feeds are told of new records by one look at the ledger for all of them, and nobody looks while no feed is open."""

import asyncio
from collections.abc import Sequence

import pytest

from gateway.core.errors import LedgerUnavailable, Overloaded
from gateway.doors.console.pulse import MOST_OF_A_VISITOR, Pulse


class Records:
    """A ledger that grows."""

    def __init__(self) -> None:
        self.last = 7
        self.fails = False

    async def changed_since(self, seq: int) -> tuple[int, Sequence[str]]:
        """The number of the last record."""
        assert seq == -1
        if self.fails:
            raise LedgerUnavailable("It is away.")
        return self.last, ()


def test_each_feed_hears_of_what_is_new_once() -> None:
    async def play() -> None:
        records = Records()
        pulse = Pulse(records, seconds=0.001, ping=300)
        first, second = pulse.beats("ana", 0), pulse.beats("bo", 7)
        assert await anext(first) == 7
        records.last = 9
        assert (await anext(first), await anext(second)) == (9, 9)
        records.fails = True
        await asyncio.sleep(0.01)
        records.fails, records.last = False, 10
        assert (await anext(first), await anext(second)) == (10, 10)
        await first.aclose()
        await second.aclose()
        looks = pulse.looks
        await asyncio.sleep(0.02)
        assert pulse.looks == looks

    asyncio.run(play())


def test_a_silent_feed_pings() -> None:
    async def play() -> None:
        beats = Pulse(Records(), seconds=0.001, ping=0.01).beats("ana", 7)
        assert await anext(beats) == 0
        await beats.aclose()

    asyncio.run(play())


def test_the_end_ends_them_all() -> None:
    async def play() -> None:
        pulse = Pulse(Records(), seconds=0.001, ping=300)
        beats = pulse.beats("ana", 0)
        await anext(beats)
        waiting = asyncio.ensure_future(anext(beats))
        await asyncio.sleep(0)
        pulse.end()
        with pytest.raises(StopAsyncIteration):
            await waiting

    asyncio.run(play())


def test_one_visitor_does_not_take_every_place() -> None:
    async def play() -> None:
        pulse = Pulse(Records(), seconds=0.001, ping=300)
        opened = [pulse.beats("ana", 0) for _ in range(MOST_OF_A_VISITOR)]
        for each in opened:
            pulse.require_room("ana")
            await anext(each)
        with pytest.raises(Overloaded):
            pulse.require_room("ana")
        pulse.require_room("bo")
        for each in opened:
            await each.aclose()
        pulse.require_room("ana")

    asyncio.run(play())


def test_many_at_the_same_moment_do_not_all_find_room() -> None:
    async def play() -> None:
        pulse = Pulse(Records(), seconds=0.001, ping=300)
        pulse.require_room("ana")  # every request asks before any stream is open
        opened = [pulse.beats("ana", 0) for _ in range(3 * MOST_OF_A_VISITOR)]
        first = await asyncio.gather(*(anext(each, None) for each in opened))
        assert [each for each in first if each is not None] == [7] * MOST_OF_A_VISITOR
        for each in opened:
            await each.aclose()

    asyncio.run(play())
