"""Decides when a failed task is tried again, and when a mutation that was left to a human is."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from gateway.core.model.json import Json

_LONGEST_WAIT = 600.0
_FIRST_WAIT = 600.0
_LONGEST_WAIT_OF_LEFT = 86_400.0


@dataclass(slots=True)
class Retry:
    """The number of failures of a task, and the time of its next attempt (monotonic seconds)."""

    count: int = 0
    again_at: float = 0.0

    @property
    def due(self) -> bool:
        """Whether it may be tried."""
        return self.again_at <= time.monotonic()

    def failed(self, at_least: float = 0.0) -> float:
        """Count a failure; returns the seconds to wait, doubled each time, and no fewer than `at_least`."""
        self.count += 1
        wait = max(min(2.0**self.count, _LONGEST_WAIT), at_least)
        self.again_at = time.monotonic() + wait
        return wait


@dataclass(slots=True, kw_only=True)
class _Attempt:
    circumstances: Mapping[str, Json]
    wait: float = _FIRST_WAIT
    again_at: float = field(default_factory=lambda: time.monotonic() + _FIRST_WAIT)


@dataclass(slots=True)
class LeftRetries:
    """In which circumstances each mutation was tried last.

    Not everything that a reason hangs on can be seen without a plan: a live value that somebody sets back, a permission. So each is
    also tried after ten minutes, then after twice the time and so on, at last once a day.
    """

    _tried: dict[str, _Attempt] = field(default_factory=dict)

    def due(self, mutation: str, recorded: Json, now: Mapping[str, Json]) -> bool:
        """Whether to try again; `recorded` are the circumstances in the record that left it, `now` those of now."""
        if mutation not in self._tried:
            self._tried[mutation] = _Attempt(circumstances=recorded if isinstance(recorded, Mapping) else {})
        tried = self._tried[mutation]
        return tried.circumstances != now or tried.again_at <= time.monotonic()

    def tried(self, mutation: str, circumstances: Mapping[str, Json]) -> None:
        """Note that it was tried in these circumstances."""
        before = self._tried.get(mutation)
        wait = _FIRST_WAIT
        if before is not None and before.circumstances == circumstances:
            wait = min(2 * before.wait, _LONGEST_WAIT_OF_LEFT)
        self._tried[mutation] = _Attempt(circumstances=circumstances, wait=wait, again_at=time.monotonic() + wait)

    def keep(self, mutations: frozenset[str]) -> None:
        """Forget all but these."""
        for mutation in self._tried.keys() - mutations:
            del self._tried[mutation]
