"""Those who wait are woken by what this process and others record, by one query for all, and never without end."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from gateway.core.errors import LedgerUnavailable, Overloaded
from gateway.line.wakeups import MOST_OF_AN_ACTOR, MOST_WAITING, Wakeups


@dataclass
class Changes:
    """A ledger to which other gateways append."""

    records: list[str] = field(default_factory=list)
    broken: bool = False

    async def changed_since(self, seq: int) -> tuple[int, Sequence[str]]:
        if self.broken:
            raise LedgerUnavailable("down")
        return len(self.records), self.records[seq:] if seq >= 0 else ()


async def _turns() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_only_who_waits_for_the_mutation_is_woken() -> None:
    wakeups = Wakeups()
    with wakeups.waiting("a", "x") as first, wakeups.waiting("a", "y") as second, wakeups.waiting("b", "x") as third:
        wakeups.wake("a")
        assert (first.is_set(), second.is_set(), third.is_set()) == (True, True, False)
        assert "b" in wakeups._waiting
        wakeups.wake_all()
        assert third.is_set()
    assert "a" not in wakeups._waiting
    wakeups.wake("a")


async def test_an_actor_and_all_together_wait_a_limited_number_of_times() -> None:
    wakeups = Wakeups()
    waits = [wakeups.waiting("m", "greedy") for _ in range(MOST_OF_AN_ACTOR)]
    for each in waits:
        each.__enter__()
    with pytest.raises(Overloaded), wakeups.waiting("m", "greedy"):
        pass
    with wakeups.waiting("m", "other"):
        pass
    for each in waits:
        each.__exit__(None, None, None)
    with wakeups.waiting("m", "greedy"):
        pass
    others = [wakeups.waiting("m", f"actor-{number % 100}") for number in range(MOST_WAITING)]
    for each in others:
        each.__enter__()
    with pytest.raises(Overloaded), wakeups.waiting("m", "last"):
        pass


async def test_what_others_record_wakes_and_the_number_of_queries_does_not_grow_with_who_waits() -> None:
    counts = []
    for waiting in (1, 40):
        wakeups, ledger = Wakeups(), Changes(["old"])
        follows = asyncio.ensure_future(wakeups.follow(ledger, seconds=0))
        await _turns()
        assert wakeups.polls == 0
        waits = [wakeups.waiting("m", f"actor-{number}") for number in range(waiting)]
        events = [each.__enter__() for each in waits]
        await asyncio.gather(*(event.wait() for event in events))  # everybody looks once more after the end was read
        for event in events:
            event.clear()
        before = wakeups.polls
        ledger.records += ["other", "m"]
        await asyncio.gather(*(event.wait() for event in events))
        counts.append(wakeups.polls - before)
        for each in waits:
            each.__exit__(None, None, None)
        follows.cancel()
    assert counts[1] <= counts[0] + 1


async def test_a_ledger_that_cannot_be_read_ends_nothing() -> None:
    wakeups, ledger = Wakeups(), Changes(broken=True)
    follows = asyncio.ensure_future(wakeups.follow(ledger, seconds=0))
    with wakeups.waiting("m", "x") as event:
        await _turns()
        assert wakeups.polls > 0
        event.clear()
        ledger.broken = False
        await _turns()
        ledger.records.append("m")
        await event.wait()
    assert not follows.done()
    follows.cancel()
