"""Tells the open feeds when there are new records: one small query four times a second for all of them, and none while nobody looks."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from typing import Final

import structlog

from gateway.core.errors import Overloaded, SentinelError
from gateway.line.wakeups import ChangedMutations

log = structlog.get_logger()

SECONDS: Final = 0.25
"""Between two looks at the ledger. One message for each record freezes a browser at 1,000 records a second; four a second do not."""
PING_SECONDS: Final = 15.0
"""Longest silence of a stream, so that no proxy ends it, and a session that ended is noticed."""
MOST_STREAMS: Final = 200
"""Open feeds of one process."""
MOST_OF_A_VISITOR: Final = 6
"""Of them, one actor's: a browser keeps no more connections to a host."""


class Pulse:
    """The open feeds of one process, on its event loop."""

    def __init__(self, ledger: ChangedMutations, *, seconds: float = SECONDS, ping: float = PING_SECONDS) -> None:
        self._ledger = ledger
        self._seconds = seconds
        self._ping = ping
        self._streams: dict[asyncio.Event, str] = {}
        self._following: asyncio.Task[None] | None = None
        self._ended = False
        self.last = 0
        """The number of the newest record, as of the last look."""
        self.looks = 0
        """How often the ledger was asked."""

    def require_room(self, actor: str) -> None:
        """Raise `errors.Overloaded` if this actor, or all together, have as many feeds open as there may be."""
        if not self._has_room(actor):
            raise Overloaded("Too many live feeds are open already. Close one, or read the feed without it.")

    def _has_room(self, actor: str) -> bool:
        return len(self._streams) < MOST_STREAMS and list(self._streams.values()).count(actor) < MOST_OF_A_VISITOR

    async def beats(self, actor: str, after: int) -> AsyncGenerator[int, None]:
        """The number of the newest record whenever there are new ones after that of the argument; 0 after each long silence.

        Ends at once if there is no room any more: many that came at the same moment were all told that there is.
        """
        if not self._has_room(actor):
            return
        with self._stream(actor) as event:
            seen = after
            while not self._ended:
                if self.last > seen:
                    seen = self.last
                    yield seen
                event.clear()
                if self.last <= seen and not await _within(event, self._ping):
                    yield 0

    async def newest(self) -> int:
        """The number of the newest record now. Raises `errors.LedgerUnavailable`."""
        last, _ = await self._ledger.changed_since(-1)
        return last

    def end(self) -> None:
        """End every stream: the gateway stops."""
        self._ended = True
        self._wake()

    @contextmanager
    def _stream(self, actor: str) -> Iterator[asyncio.Event]:
        event = asyncio.Event()
        self._streams[event] = actor
        if self._following is None:
            self._following = asyncio.ensure_future(self._follow())
        try:
            yield event
        finally:
            del self._streams[event]
            if not self._streams and self._following is not None:
                self._following.cancel()
                self._following = None

    async def _follow(self) -> None:
        while True:
            self.looks += 1
            try:
                last, _ = await self._ledger.changed_since(-1)
            except SentinelError as error:
                log.warning("feed_not_followed", reason=str(error))
            else:
                if last != self.last:
                    self.last = last
                    self._wake()
            await asyncio.sleep(self._seconds)

    def _wake(self) -> None:
        for event in self._streams:
            event.set()


async def _within(event: asyncio.Event, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True
