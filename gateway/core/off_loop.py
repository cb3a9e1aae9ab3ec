"""Runs work that may take longer than a few milliseconds in a thread, so that the event loop keeps answering other requests."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

from gateway.core.model.mutation import Mutation

T = TypeVar("T")

SMALL: Final = 8 * 1024
"""Up to this many bytes work is done on the event loop: parsing them takes well under 50 ms in every format, and a thread costs 0.1 ms."""
WORKERS: Final = 2
"""Threads for large inputs. Few on purpose: they share one interpreter lock with the event loop, and further large inputs wait in line."""
BYTES_OF_AN_EFFECT: Final = 160
"""Size that an effect counts as, to decide whether work on it is done in a thread."""

_BYTES_OF_A_VALUE: Final = 40

_POOL: Final = ThreadPoolExecutor(max_workers=WORKERS, thread_name_prefix="off-loop")


async def off_loop(size: int, work: Callable[[], T]) -> T:
    """The result of `work`, which handles `size` bytes: done at once if they are few, otherwise in a thread. Raises what `work` raises."""
    if size <= SMALL:
        return work()
    return await asyncio.get_running_loop().run_in_executor(_POOL, work)


def apart(size: int, work: Coroutine[Any, Any, T]) -> Awaitable[T]:
    """As `off_loop`, for a coroutine: a large one runs in a thread with an event loop of its own.

    So what it awaits must not belong to the caller's loop, and it must not call `off_loop` itself.
    """
    if size <= SMALL:
        return work
    return asyncio.get_running_loop().run_in_executor(_POOL, asyncio.run, work)


def mutation_size(mutation: Mutation) -> int:
    """About how many bytes must be handled to decide or record a mutation."""
    return size_of(mutation.call.parameters) + BYTES_OF_AN_EFFECT * len(mutation.effects)


def size_of(parameters: Mapping[str, object]) -> int:
    """About how many bytes the parameters of a call are on the wire, to tell whether it takes long to handle them. Stops when it is large."""
    size = 0
    waiting: list[object] = [parameters]
    while waiting and size <= SMALL:
        value = waiting.pop()
        size += _BYTES_OF_A_VALUE
        if isinstance(value, Mapping):
            waiting.extend(value.values())
        elif isinstance(value, str | bytes):
            size += len(value)
        elif isinstance(value, Sequence):
            waiting.extend(value)
    return size
