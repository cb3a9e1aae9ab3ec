"""Large work leaves the event loop, small work does not, and errors arrive where the result would."""

import asyncio
import threading

import pytest

from gateway.off_loop import SMALL, WORKERS, off_loop


async def test_small_work_is_done_on_the_loop() -> None:
    assert await off_loop(SMALL, threading.get_ident) == threading.get_ident()


async def test_large_work_is_done_in_a_thread() -> None:
    assert await off_loop(SMALL + 1, threading.get_ident) != threading.get_ident()


async def test_the_loop_runs_while_large_work_is_done() -> None:
    ticked = threading.Event()
    waiting = asyncio.ensure_future(off_loop(SMALL + 1, lambda: ticked.wait(30)))
    await asyncio.sleep(0)
    ticked.set()  # the work waits for this line, which only runs if the loop does
    assert await waiting


async def test_an_error_is_raised_to_the_caller() -> None:
    with pytest.raises(ZeroDivisionError):
        await off_loop(SMALL + 1, lambda: 1 // 0)


async def test_only_a_few_threads_work_at_once() -> None:
    seen = {await off_loop(SMALL + 1, threading.get_ident) for _ in range(20)}
    seen |= set(await asyncio.gather(*(off_loop(SMALL + 1, threading.get_ident) for _ in range(20))))
    assert len(seen) <= WORKERS
