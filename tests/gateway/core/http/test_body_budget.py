"""Bodies of all requests together have a limit, small ones keep room, and what an answered request held is free again."""

import pytest

from gateway.core.errors import Overloaded
from gateway.core.http.asgi import Message, RequestBody
from gateway.core.http.body_budget import SMALL_BODY, BodyBudget, MeteredReceive

TOTAL = 1024 * 1024


def _sends(*sizes: int) -> list[Message]:
    return [
        {"type": "http.request", "body": b"x" * size, "more_body": place < len(sizes) - 1}
        for place, size in enumerate(sizes)
    ]


def _channel(budget: BodyBudget, *sizes: int) -> MeteredReceive:
    messages = _sends(*sizes)

    async def receive() -> Message:
        return messages.pop(0)

    return budget.metered(receive)


async def _read(channel: MeteredReceive) -> bytes:
    return await RequestBody(channel, 10 * TOTAL).read()


async def test_what_is_held_is_counted_and_given_back() -> None:
    budget = BodyBudget(TOTAL)
    channel = _channel(budget, 100, 200)
    await _read(channel)
    assert budget.used == 300
    channel.release()
    channel.release()
    assert budget.used == 0


async def _held(budget: BodyBudget, *sizes: int) -> bool:
    """Whether a request got room; one that did not is answered, and gives back what it held."""
    channel = _channel(budget, *sizes)
    try:
        await _read(channel)
    except Overloaded:
        channel.release()
        return False
    return True


async def test_a_hundred_large_bodies_hold_no_more_than_the_budget() -> None:
    budget = BodyBudget(TOTAL)
    held = [await _held(budget, *[32 * 1024] * 8) for _ in range(100)]
    assert held.count(True) == 3
    assert budget.used == 3 * 256 * 1024


async def test_a_flood_of_large_bodies_leaves_room_for_small_ones() -> None:
    budget = BodyBudget(TOTAL)
    for _ in range(100):
        await _held(budget, 70_000)
    assert await _held(budget, 4000)
    assert await _held(budget, SMALL_BODY)
    assert not await _held(budget, SMALL_BODY + 1)


async def test_small_bodies_have_a_limit_too() -> None:
    budget = BodyBudget(TOTAL)
    held = [await _held(budget, 4000) for _ in range(1000)]
    assert held.count(True) == TOTAL // 4000
    assert budget.used <= TOTAL


async def test_the_part_that_does_not_fit_is_not_counted() -> None:
    budget = BodyBudget(TOTAL)
    channel = _channel(budget, 100, 2 * TOTAL)
    with pytest.raises(Overloaded, match="try again"):
        await _read(channel)
    assert budget.used == 100
    channel.release()
    assert budget.used == 0


async def test_messages_without_a_body_cost_nothing() -> None:
    budget = BodyBudget(0)

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    assert (await budget.metered(receive)())["type"] == "http.disconnect"
    assert budget.used == 0
