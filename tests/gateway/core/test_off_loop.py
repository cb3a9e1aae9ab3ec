"""Large work leaves the event loop, small work does not, and errors arrive where the result would."""

import asyncio
import threading

import pytest

from gateway.core.errors import Overloaded
from gateway.core.off_loop import (
    MOST_OF_A_STRANGER,
    SMALL,
    WORKERS,
    apart,
    off_loop,
    size_of,
    work_for,
    work_for_stranger,
)
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


async def test_who_sends_much_large_work_holds_up_others_by_one_piece_at_most() -> None:
    busy, go, order = threading.Semaphore(0), threading.Event(), list[str]()

    async def send(actor: str) -> None:
        work_for(actor)

        def piece() -> None:
            busy.release()
            go.wait(300)
            order.append(actor)

        await off_loop(SMALL + 1, piece)

    flood = [asyncio.ensure_future(send("flood")) for _ in range(24)]
    for _ in range(WORKERS):
        assert await asyncio.to_thread(busy.acquire, timeout=300)
    others = [asyncio.ensure_future(send(actor)) for actor in ("ada", "bob")]
    await asyncio.sleep(0)
    go.set()
    await asyncio.gather(*flood, *others)
    assert {"ada", "bob"} <= set(order[: WORKERS + 4]), order


async def test_strangers_occupy_one_thread_whatever_their_addresses() -> None:
    busy, go, order = threading.Semaphore(0), threading.Event(), list[str]()

    async def send(peer: str = "", actor: str = "") -> None:
        work_for(actor) if actor else work_for_stranger(peer)

        def piece() -> None:
            busy.release()
            if not actor:
                go.wait(300)
            order.append(actor or peer)

        await off_loop(SMALL + 1, piece)

    flood = [asyncio.ensure_future(send(peer=f"10.0.0.{number}")) for number in range(24)]
    assert await asyncio.to_thread(busy.acquire, timeout=300)
    known = [asyncio.ensure_future(send(actor="ada")) for _ in range(20)]
    await asyncio.gather(*known)  # while a stranger's piece is not done, and 23 wait
    assert order == ["ada"] * 20
    go.set()
    await asyncio.gather(*flood)
    assert len(order) == 44


async def test_a_stranger_does_not_hold_up_another_by_more_than_one_piece() -> None:
    busy, go, order = threading.Semaphore(0), threading.Event(), list[str]()

    async def send(peer: str) -> None:
        work_for_stranger(peer)

        def piece() -> None:
            busy.release()
            go.wait(300)
            order.append(peer)

        await off_loop(SMALL + 1, piece)

    flood = [asyncio.ensure_future(send("10.0.0.1")) for _ in range(24)]
    assert await asyncio.to_thread(busy.acquire, timeout=300)
    other = asyncio.ensure_future(send("10.0.0.2"))
    await asyncio.sleep(0)
    go.set()
    await asyncio.gather(*flood, other)
    assert order.index("10.0.0.2") <= 2


async def test_an_address_has_so_much_waiting_and_no_more() -> None:
    go = threading.Event()

    async def send(peer: str) -> None:
        work_for_stranger(peer)
        await off_loop(SMALL + 1, lambda: go.wait(300))

    flood = [asyncio.ensure_future(send("10.0.0.1")) for _ in range(MOST_OF_A_STRANGER + 10)]
    other = asyncio.ensure_future(send("10.0.0.2"))
    await asyncio.sleep(0)
    go.set()
    found = await asyncio.gather(*flood, other, return_exceptions=True)
    refused = [each for each in found if isinstance(each, Overloaded)]
    assert 0 < len(refused) <= 10
    assert found[-1] is None


async def test_what_nobody_waits_for_any_more_is_not_done() -> None:
    go, done = threading.Event(), list[int]()
    blocking = [asyncio.ensure_future(off_loop(SMALL + 1, lambda: go.wait(300))) for _ in range(WORKERS)]
    await asyncio.sleep(0)
    given_up = asyncio.ensure_future(off_loop(SMALL + 1, lambda: done.append(1)))
    await asyncio.sleep(0)
    given_up.cancel()
    await asyncio.sleep(0)
    go.set()
    await asyncio.gather(*blocking)
    await off_loop(SMALL + 1, lambda: None)
    assert done == []
