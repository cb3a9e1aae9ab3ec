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

    def failed(self) -> float:
        """Count a failure; returns the seconds to wait, doubled each time."""
        self.count += 1
        wait = min(2.0**self.count, _LONGEST_WAIT)
        self.again_at = time.monotonic() + wait
        return wait
