"""Runs work that may take longer than a few milliseconds in a thread, so that the event loop keeps answering other requests.

The threads serve the actors in turn: who sends much large work waits for its own, and holds up that of others by one piece at most.
Callers that are not authenticated yet are served in turn by address, by one thread at a time.
"""

import asyncio
import sys
import threading
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any, Final, TypeVar

from gateway.core.errors import Overloaded
from gateway.core.model.mutation import Mutation

T = TypeVar("T")

SMALL: Final = 8 * 1024
"""Up to this many bytes work is done on the event loop: parsing them takes well under 50 ms in every format, and a thread costs 0.1 ms."""
WORKERS: Final = 2
"""Threads for large inputs. Few on purpose: they share one interpreter lock with the event loop, and further large inputs wait in line."""
BYTES_OF_AN_EFFECT: Final = 160
"""Size that an effect counts as, to decide whether work on it is done in a thread."""

HAND_OVER_SECONDS: Final = 0.0005
"""How long a thread keeps the interpreter's lock while another waits for it. Python's own 5 ms are as long as a whole mutation."""
MOST_OF_A_STRANGER: Final = 64
"""Pieces of work that wait at once for one address of which nobody has proven who they are."""
_BYTES_OF_A_VALUE: Final = 40
_WITHOUT_PARTS: Final = frozenset({int, bool, float, type(None)})
_STRANGER: Final = "?"
"""Begins what stands for the actor before the caller is authenticated."""

_ACTOR: Final[ContextVar[str]] = ContextVar("actor", default="")
"""Whose work the task does; empty for the gateway's own."""


def hand_over_soon() -> None:
    """Let the threads of this process wait for each other for `HAND_OVER_SECONDS` at most; for processes that are theirs alone."""
    sys.setswitchinterval(HAND_OVER_SECONDS)


def work_for(actor: str) -> None:
    """Say whose work this task does from now on."""
    _ACTOR.set(actor)


def work_for_stranger(peer: str) -> None:
    """Say that the task works for an address of which nobody has proven yet who they are."""
    _ACTOR.set(f"{_STRANGER}{peer}")


class _FairPool:
    """A few threads, which take the oldest work of one actor after another. All but one leave that of strangers."""

    def __init__(self, workers: int) -> None:
        self._threads = ThreadPoolExecutor(max_workers=workers, thread_name_prefix="off-loop")
        self._idle = workers
        self._stranger_served = False
        self._lock = threading.Lock()
        self._waiting: OrderedDict[str, deque[tuple[Future[Any], Callable[[], Any]]]] = OrderedDict()

    def submit(self, actor: str, work: Callable[[], T]) -> Future[T]:
        """The future of the result. Raises `errors.Overloaded` if too much waits for a stranger."""
        future: Future[T] = Future()
        stranger = actor.startswith(_STRANGER)
        with self._lock:
            if stranger and len(self._waiting.get(actor, ())) >= MOST_OF_A_STRANGER:
                raise Overloaded(
                    "Too many large requests of this address wait to be authenticated. Nothing was sent; try again in a second."
                )
            self._waiting.setdefault(actor, deque()).append((future, work))
            start = self._idle > 0 and not (stranger and self._stranger_served)
            self._idle -= start
        if start:
            self._threads.submit(self._serve)
        return future

    def _serve(self) -> None:
        stranger = False
        while (task := self._next(after_stranger=stranger)) is not None:
            stranger, future, work = task
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(work())
            except BaseException as error:  # noqa: BLE001  whatever it is, who waits for the result gets it
                future.set_exception(error)
            del task, future, work  # not kept alive while this thread waits

    def _next(self, *, after_stranger: bool) -> tuple[bool, Future[Any], Callable[[], Any]] | None:
        """The next piece of work, and whether it is a stranger's; None if there is none for this thread."""
        with self._lock:
            if after_stranger:
                self._stranger_served = False
            served = self._stranger_served
            actor = next((each for each in self._waiting if not (served and each.startswith(_STRANGER))), None)
            if actor is None:
                self._idle += 1
                return None
            own = self._waiting.pop(actor)
            stranger = actor.startswith(_STRANGER)
            self._stranger_served = served or stranger
            future, work = own.popleft()
            if own:
                self._waiting[actor] = own  # behind the others
            return stranger, future, work


_POOL: Final = _FairPool(WORKERS)


async def off_loop(size: int, work: Callable[[], T]) -> T:
    """The result of `work`, which handles `size` bytes: done at once if they are few, otherwise in a thread. Raises what `work` raises,
    and `errors.Overloaded`.
    """
    if size <= SMALL:
        return work()
    return await asyncio.wrap_future(_POOL.submit(_ACTOR.get(), work))


def apart(size: int, work: Coroutine[Any, Any, T]) -> Awaitable[T]:
    """As `off_loop`, for a coroutine: a large one runs in a thread with an event loop of its own.

    So what it awaits must not belong to the caller's loop, and it must not call `off_loop` itself.
    """
    if size <= SMALL:
        return work
    return asyncio.wrap_future(_POOL.submit(_ACTOR.get(), lambda: asyncio.run(work)))


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
        kind = type(value)
        if kind is str:
            size += len(value)  # type: ignore[arg-type]  # it is a text
        elif kind in _WITHOUT_PARTS:
            pass
        elif isinstance(value, Mapping):
            waiting.extend(value.values())
        elif isinstance(value, str | bytes):
            size += len(value)
        elif isinstance(value, Sequence):
            waiting.extend(value)
    return size
