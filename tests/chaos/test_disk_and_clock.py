"""The disk takes no more, and somebody sets the clock, in the middle of a change: nothing is sent unlogged, nothing twice, and it goes on afterwards."""

from collections.abc import Iterator

import pytest

from tests.chaos.aws import carried_out
from tests.chaos.cycle import compare
from tests.chaos.world import World, world
from tests.kit.fork_server import ForkServer

pytestmark = [pytest.mark.slow, pytest.mark.system, pytest.mark.allow_hosts(["127.0.0.1"])]

HOUR, DAY = 3_600.0, 86_400.0


@pytest.fixture(scope="module")
def one(servers: ForkServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """One ledger for all changes."""
    with world(tmp_path_factory.mktemp("chaos") / "world", servers) as made:
        yield made


def _change(number: int) -> dict[str, object]:
    return {"queue": number, "value": 1_000 + number, "door": "aws", "idempotency_key": f"change-{number}"}


def _sent(one: World, number: int) -> int:
    return sum(each.value == 1_000 + number for each in carried_out(one.aws.log))


@pytest.mark.parametrize("room", [0, 4_096, 40_960], ids=["read-only", "one page", "ten pages"])
def test_a_disk_that_is_full_before_the_decision_stops_the_change(one: World, room: int) -> None:
    number = 1 + [0, 4_096, 40_960].index(room)
    assert one.run(full_at="DECIDED", room=room, **_change(number)) == 0
    first, again = one.seen["answer"]["status"], one.seen["again"]["status"]
    # With some room the decision may have been written, and even the outcome.
    assert first in ((503,) if room == 0 else (200, 409, 503))
    assert _sent(one, number) == 1 if again == 200 else _sent(one, number) == 0
    assert again in (200, 409, 502, 503)


def test_a_disk_that_is_full_after_the_answer_of_aws_leaves_it_in_doubt_until_there_is_room(one: World) -> None:
    assert one.run(full_at="BODY_READ", **_change(5)) == 0
    assert one.seen["answer"]["status"] == 409
    assert (one.seen["again"]["status"], one.seen["again"]["replayed"]) == (200, True)
    assert _sent(one, 5) == 1


@pytest.mark.parametrize("jump", [HOUR, -HOUR, DAY, -DAY], ids=["+1 h", "-1 h", "+1 d", "-1 d"])
@pytest.mark.parametrize("point", ["AUTHENTICATED", "BODY_READ"])
def test_a_clock_that_is_set_does_no_harm(one: World, point: str, jump: float) -> None:
    number = 6 + 4 * (point == "BODY_READ") + [HOUR, -HOUR, DAY, -DAY].index(jump)
    assert one.run(jump_at=point, jump=jump, **_change(number)) == 0
    assert one.seen["answer"]["status"] in (200, 403, 429, 503)
    assert _sent(one, number) == (one.seen["answer"]["status"] == 200)
    one.wait()
    assert one.run(settle=True, **_change(number)) == 0
    assert _sent(one, number) <= 1


async def test_everything_agrees_in_the_end(one: World) -> None:
    one.ahead += 2 * DAY
    assert one.run(settle=True, queue=20, value=2_000, door="api", idempotency_key="last") == 0
    assert one.run(write_back=True) == 0
    assert await compare(one) == []
