"""Large work leaves the event loop, small work does not, and errors arrive where the result would."""

import asyncio
import threading

import pytest

from gateway.core.off_loop import SMALL, WORKERS, apart, off_loop, size_of
from tests.kit.growth import work


async def test_small_work_is_done_on_the_loop() -> None:
    assert await off_loop(SMALL, threading.get_ident) == threading.get_ident()


async def test_large_work_is_done_in_a_thread() -> None:
    assert await off_loop(SMALL + 1, threading.get_ident) != threading.get_ident()


async def test_the_loop_runs_while_large_work_is_done() -> None:
    ticked = threading.Event()
    waiting = asyncio.ensure_future(off_loop(SMALL + 1, lambda: ticked.wait(300)))
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


async def _where() -> tuple[int, int]:
    """The thread and the event loop that run this."""
    await asyncio.sleep(0)
    return threading.get_ident(), id(asyncio.get_running_loop())


async def test_a_small_coroutine_runs_where_it_is_awaited() -> None:
    assert await apart(SMALL, _where()) == (threading.get_ident(), id(asyncio.get_running_loop()))


async def test_a_large_coroutine_has_a_thread_and_a_loop_of_its_own() -> None:
    thread, loop = await apart(SMALL + 1, _where())
    assert thread != threading.get_ident()
    assert loop != id(asyncio.get_running_loop())


async def test_the_error_of_a_coroutine_is_raised_to_the_caller() -> None:
    async def broken() -> None:
        await asyncio.sleep(0)
        raise LookupError("Not here.")

    with pytest.raises(LookupError):
        await apart(SMALL + 1, broken())


@pytest.mark.parametrize(
    ("parameters", "large"),
    [
        ({"A": "x"}, False),
        ({"A": ["x"] * 100}, False),
        ({"A": ["x"] * 1000}, True),
        ({"A": b"x" * 10_000}, True),
        ({"A": {"B": [{"C": "x" * 10_000}]}}, True),
        ({}, False),
    ],
)
def test_large_parameters_are_told_from_small_ones(parameters: dict[str, object], *, large: bool) -> None:
    assert (size_of(parameters) > SMALL) is large


def test_counting_stops_early() -> None:
    assert work(lambda: size_of({"A": ["x"] * 1_000_000})) < 5_000
