"""A caller's work for a thread of the ledger, and the future in which its result comes back."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from gateway.core.records.record import Body

On = TypeVar("On")
T = TypeVar("T")


@dataclass(slots=True)
class Job(Generic[On, T]):
    """The work of one caller, on a connection or in a transaction."""

    work: Callable[[On], T]
    future: asyncio.Future[T]
    loop: asyncio.AbstractEventLoop
    result: T | None = None
    error: BaseException | None = None
    body: Body | None = None
    """Of a record that the work appends, as far as it is known before: it is written before the write lock is taken."""

    def resolve(self) -> None:
        """Tell who waits; on the event loop."""
        if self.future.done():
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)  # type: ignore[arg-type]  # T itself may be None


def new_job(work: Callable[[On], T], body: Body | None = None) -> Job[On, T]:
    """The job of the caller who runs on the event loop now."""
    loop = asyncio.get_running_loop()
    return Job(work=work, future=loop.create_future(), loop=loop, body=body)
