"""A deadline is reached when the time is over that was set last, and it makes few timers."""

import asyncio
from collections.abc import Callable
from unittest.mock import Mock

from gateway.core.deadline import Deadline


class Timers:
    """Timers whose time passes only when the test says so."""

    def __init__(self) -> None:
        self.now = 0.0
        self.made = 0
        self._due: list[tuple[float, Callable[[], object], Mock]] = []

    def time(self) -> float:
        """As of an event loop."""
        return self.now

    def call_later(self, delay: float, callback: Callable[[], object]) -> asyncio.TimerHandle:
        """As of an event loop."""
        self.made += 1
        handle = Mock(spec=["cancel"])
        self._due.append((self.now + delay, callback, handle))
        return handle

    @property
    def left(self) -> int:
        """Timers that were neither called nor cancelled."""
        return sum(not handle.cancel.called for _, _, handle in self._due)

    def advance(self, seconds: float) -> None:
        """Let time pass, and call what is due, in order."""
        end = self.now + seconds
        while due := sorted((each for each in self._due if each[0] <= end), key=lambda each: each[0]):
            self._due.remove(due[0])
            self.now = max(self.now, due[0][0])
            if not due[0][2].cancel.called:
                due[0][1]()
        self.now = end


def _deadline() -> tuple[Timers, Deadline, list[float]]:
    timers, reached = Timers(), list[float]()
    return timers, Deadline(timers, lambda: reached.append(timers.now)), reached


def test_it_is_reached_once_at_its_time() -> None:
    timers, deadline, reached = _deadline()
    deadline.set(10)
    timers.advance(9.9)
    assert reached == []
    timers.advance(100)
    assert reached == [10]


def test_what_was_set_last_counts_whether_it_is_later_or_sooner() -> None:
    timers, deadline, reached = _deadline()
    deadline.set(10)
    timers.advance(5)
    deadline.set(10)
    timers.advance(9)
    assert reached == []
    deadline.set(0.5)
    timers.advance(100)
    assert reached == [14.5]


def test_what_is_cleared_is_not_reached_and_can_be_set_again() -> None:
    timers, deadline, reached = _deadline()
    deadline.set(10)
    deadline.clear()
    timers.advance(100)
    assert (reached, timers.left) == ([], 0)
    deadline.set(10)
    timers.advance(10)
    assert reached == [110]


def test_many_limits_in_a_row_make_few_timers() -> None:
    timers, deadline, reached = _deadline()
    for _ in range(1000):
        deadline.set(10)
        timers.advance(0.01)
        deadline.clear()
    assert (reached, timers.made) == ([], 1)


def test_nothing_is_left_of_a_closed_one() -> None:
    timers, deadline, reached = _deadline()
    deadline.set(10)
    deadline.close()
    assert timers.left == 0
    timers.advance(100)
    assert reached == []
