"""Runs work that may take longer than a few milliseconds in a thread, so that the event loop keeps answering other requests."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

T = TypeVar("T")

SMALL: Final = 8 * 1024
"""Up to this many bytes work is done on the event loop: parsing them takes well under 50 ms in every format, and a thread costs 0.1 ms."""
WORKERS: Final = 2
"""Threads for large inputs. Few on purpose: they share one interpreter lock with the event loop, and further large inputs wait in line."""

_POOL: Final = ThreadPoolExecutor(max_workers=WORKERS, thread_name_prefix="off-loop")


async def off_loop(size: int, work: Callable[[], T]) -> T:
    """The result of `work`, which handles `size` bytes: done at once if they are few, otherwise in a thread. Raises what `work` raises."""
    if size <= SMALL:
        return work()
    return await asyncio.get_running_loop().run_in_executor(_POOL, work)
