"""A time limit that is set again for each of many requests and seldom reached: one timer of the event loop serves many of them.

A timer that is made and cancelled takes 2 to 3 µs, moving a deadline a tenth of that; a read has five such limits.
"""

import asyncio
from collections.abc import Callable
from typing import Protocol


class Timers(Protocol):
    """What is used of an event loop."""

    def time(self) -> float:
        """The loop's time in seconds."""
        ...

    def call_later(self, delay: float, callback: Callable[[], object], /) -> asyncio.TimerHandle:
        """Call it after so many seconds."""
        ...


class Deadline:
    """Calls `reached` when the time is over that was set last. Its timer is left alone while the deadline moves on: it looks again then."""

    __slots__ = ("_at", "_loop", "_reached", "_timer", "_timer_at")

    def __init__(self, loop: Timers, reached: Callable[[], None]) -> None:
        self._loop = loop
        self._reached = reached
        self._at: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0.0

    def set(self, seconds: float) -> None:
        """Let the time be over in so many seconds from now, whatever was set before."""
        self._at = at = self._loop.time() + seconds
        if self._timer is None or at < self._timer_at:
            self._arm(seconds, at)

    def clear(self) -> None:
        """There is no limit now."""
        self._at = None

    def close(self) -> None:
        """There is no limit any more: nothing is left that the event loop keeps."""
        self._at = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _arm(self, seconds: float, at: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(seconds, self._look)
        self._timer_at = at

    def _look(self) -> None:
        self._timer = None
        if self._at is None:
            return
        left = self._at - self._loop.time()
        if left > 0:
            self._arm(left, self._at)
        else:
            self._at = None
            self._reached()
