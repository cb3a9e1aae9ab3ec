"""Counts the failures of one task, and says when it may be tried again."""

import time
from dataclasses import dataclass

_LONGEST_WAIT = 600.0


@dataclass(slots=True)
class Retry:
    """How often a task failed, and when it may be tried again (monotonic seconds)."""

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
