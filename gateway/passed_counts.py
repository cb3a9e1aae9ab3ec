"""Counts the calls that pass without a decision, for one record of each key, stack and operation at every `flush`."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

import structlog

from gateway.errors import LedgerUnavailable, SentinelError
from gateway.model.data_plane import Passage, PassedCalls
from gateway.ports import Clock

log = structlog.get_logger()

MOST_RESOURCES = 100
"""The most resources that one record names; the others are counted together."""
MOST_COUNTERS = 10_000
"""The most counters between two flushes. Keys are issued and operations are few, so only a mistake comes near it."""


class PassedLedger(Protocol):
    """Records calls that passed without a decision."""

    async def record_passed(self, passed: Sequence[PassedCalls], at: datetime) -> None:
        """Append one PASSED record for each. Raises `errors.LedgerUnavailable`; then none was stored."""
        ...


class PassedCounts:
    """The counts since the last flush. A crash loses them; an orderly shutdown flushes them."""

    def __init__(self, ledger: PassedLedger, clock: Clock) -> None:
        self._ledger = ledger
        self._clock = clock
        self._counters: dict[tuple[str, ...], _Counter] = {}
        self.problem = ""
        """Why the last counts could not be recorded, as a sentence; empty if they were. Then no call passes."""

    def add(self, passage: Passage) -> None:
        """Count a call that is about to be sent. Raises `errors.LedgerUnavailable` if the ledger does not take the counts: send nothing."""
        if self.problem:
            raise LedgerUnavailable(f"Calls that pass cannot be recorded, so nothing was sent. {self.problem}")
        if len(self._counters) >= MOST_COUNTERS:
            raise LedgerUnavailable(
                "Too many different calls pass at once to be counted. Nothing was sent; try again in a minute."
            )
        self._counter(passage).add(passage, self._clock.now())

    def add_error(self, passage: Passage) -> None:
        """Count that AWS answered a counted call with an error, or not at all."""
        self._counter(passage).errors += 1

    async def flush(self) -> None:
        """Record the counts. If that fails they are kept, and nothing passes until a later flush succeeds. Raises nothing.

        A cancelled flush loses nothing either: what the ledger was given it stores.
        """
        taken, self._counters = self._counters, {}
        try:
            if taken:
                await self._ledger.record_passed([counter.passed() for counter in taken.values()], self._clock.now())
        except Exception as error:
            self._put_back(taken)
            self.problem = str(error) if isinstance(error, SentinelError) else "The ledger failed; the log says how."
            log.exception("passed_calls_not_recorded")
        else:
            self.problem = ""

    def _put_back(self, taken: "dict[tuple[str, ...], _Counter]") -> None:
        for key, counter in taken.items():
            if (later := self._counters.get(key)) is not None:
                counter.include(later)
            self._counters[key] = counter

    def _counter(self, passage: Passage) -> "_Counter":
        key = (
            passage.caller.key_id,
            passage.stack,
            passage.service,
            passage.operation,
            passage.treatment,
            passage.door,
        )
        counter = self._counters.get(key)
        if counter is None:
            now = self._clock.now()
            counter = self._counters[key] = _Counter(passage, since=now, until=now)
        return counter


@dataclass(slots=True)
class _Counter:
    """The calls of one key to one operation in one stack."""

    first: Passage
    since: datetime
    until: datetime
    count: int = 0
    errors: int = 0
    resources: dict[str, int] = field(default_factory=dict)
    others: int = 0

    def add(self, passage: Passage, at: datetime) -> None:
        self.count += 1
        self.until = at
        for address in passage.addresses:
            self._name(address, 1)

    def include(self, later: "_Counter") -> None:
        """Add the counts of another counter, which was started later."""
        self.until = later.until
        self.count += later.count
        self.others += later.others
        self.errors += later.errors
        for address, number in later.resources.items():
            self._name(address, number)

    def passed(self) -> PassedCalls:
        first = self.first
        return PassedCalls(
            caller=first.caller,
            service=first.service,
            operation=first.operation,
            stack=first.stack,
            treatment=first.treatment,
            count=self.count,
            errors=self.errors,
            since=self.since,
            until=self.until,
            resources=dict(self.resources),
            others=self.others,
            call_class=first.call_class,
            door=first.door,
        )

    def _name(self, address: str, number: int) -> None:
        if address in self.resources or len(self.resources) < MOST_RESOURCES:
            self.resources[address] = self.resources.get(address, 0) + number
        else:
            self.others += number
