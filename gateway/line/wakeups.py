"""Wakes those who wait for a mutation, once for each record about it, so that nobody asks the database again and again.

What this process records wakes at once. What other gateways on the same ledger record is found by one query a second for all who wait.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

import structlog

from gateway.core.errors import Overloaded, SentinelError

log = structlog.get_logger()

MOST_WAITING = 1_000
"""Most requests that wait at once in one process."""
MOST_OF_AN_ACTOR = 50
"""Most of them that are one actor's."""


class ChangedMutations(Protocol):
    """Says which mutations have new records."""

    async def changed_since(self, seq: int) -> tuple[int, Sequence[str]]:
        """The number of the last record looked at, and the mutations of those after `seq`; for -1 only the number of the last record."""
        ...


class Wakeups:
    """The waiting requests of one process, on its event loop."""

    def __init__(self) -> None:
        self._waiting: dict[str, set[asyncio.Event]] = {}
        self._by_actor: dict[str, int] = {}
        self._somebody = asyncio.Event()
        self.polls = 0
        """How often the ledger was asked for the records of other gateways."""

    @contextmanager
    def waiting(self, mutation_id: str, actor: str) -> Iterator[asyncio.Event]:
        """An event that is set whenever something about the mutation is recorded. Raises `errors.Overloaded`."""
        if sum(self._by_actor.values()) >= MOST_WAITING or self._by_actor.get(actor, 0) >= MOST_OF_AN_ACTOR:
            raise Overloaded(
                "Too many requests wait for mutations already. Nothing was changed; ask without `wait`, or again in some seconds."
            )
        event = asyncio.Event()
        self._waiting.setdefault(mutation_id, set()).add(event)
        self._by_actor[actor] = self._by_actor.get(actor, 0) + 1
        self._somebody.set()
        try:
            yield event
        finally:
            self._leave(mutation_id, actor, event)

    def _leave(self, mutation_id: str, actor: str, event: asyncio.Event) -> None:
        self._waiting[mutation_id].discard(event)
        if not self._waiting[mutation_id]:
            del self._waiting[mutation_id]
        self._by_actor[actor] -= 1
        if not self._by_actor[actor]:
            del self._by_actor[actor]
        if not self._waiting:
            self._somebody.clear()

    def wake(self, mutation_id: str) -> None:
        """Wake the requests that wait for this mutation."""
        for event in self._waiting.get(mutation_id, ()):
            event.set()

    def wake_all(self) -> None:
        """Wake every request that waits."""
        for mutation_id in list(self._waiting):
            self.wake(mutation_id)

    async def follow(self, ledger: ChangedMutations, *, seconds: float = 1.0) -> None:
        """Wake for the records of other gateways too, until cancelled. Asks the ledger only while somebody waits."""
        while True:
            await self._somebody.wait()
            seq = -1
            while self._waiting:
                before, seq = seq, await self._poll(ledger, seq)
                if before < 0 <= seq:
                    # Only the end was read: what was recorded since the requests began to wait is seen by looking once more.
                    self.wake_all()
                await asyncio.sleep(seconds)

    async def _poll(self, ledger: ChangedMutations, seq: int) -> int:
        self.polls += 1
        try:
            end, changed = await ledger.changed_since(seq)
        except SentinelError as error:
            log.warning("waiting_not_followed", reason=str(error))
            return seq
        for mutation_id in set(changed):
            self.wake(mutation_id)
        return end
