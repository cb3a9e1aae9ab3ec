"""How many connections each of several workers has, in memory that all of them share. Where it is read: `shared_listener.py`."""

import mmap
import os
import time
from collections.abc import Callable
from typing import Final

MOST: Final = 64
"""More processes than any machine of this kind has use for."""
FRESH_SECONDS: Final = 1.0
"""A worker that has said nothing for so long is not waited for: it was stopped, or computes for long."""
_WORD: Final = 8
_WORDS: Final = 2
"""Of each worker: how many connections it has, and when it said so, on the system's monotonic clock in nanoseconds; 0 for one that takes none."""


class Places:
    """The connections of each worker, in shared memory."""

    def __init__(self, descriptor: int, clock: Callable[[], int] = time.monotonic_ns) -> None:
        """Maps the memory of a descriptor, which stays the caller's. Raises OSError and ValueError if it is none."""
        self.descriptor = descriptor
        self._clock = clock
        size = os.fstat(descriptor).st_size
        self._words = memoryview(mmap.mmap(descriptor, size)).cast("q")
        self.count = size // (_WORD * _WORDS)

    @classmethod
    def of(cls, count: int) -> "Places":
        """New memory for so many workers."""
        descriptor = os.memfd_create("sentinel-workers")
        os.ftruncate(descriptor, count * _WORD * _WORDS)
        return cls(descriptor)

    def say(self, number: int, connections: int) -> None:
        """A worker has so many connections now."""
        self._words[number * _WORDS] = connections
        self._words[number * _WORDS + 1] = self._clock()

    def leave(self, number: int) -> None:
        """A worker takes no connections any more, or has died."""
        self._words[number * _WORDS + 1] = 0

    def fewest_besides(self, number: int) -> int | None:
        """The fewest connections that another worker has; None if there is none that takes any now."""
        oldest = self._clock() - int(FRESH_SECONDS * 1e9)
        found = (
            self._words[other * _WORDS]
            for other in range(self.count)
            if other != number and self._words[other * _WORDS + 1] > oldest
        )
        return min(found, default=None)
