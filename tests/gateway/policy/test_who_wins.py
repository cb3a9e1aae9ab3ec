"""Who would win is asked of the arbitration policy in force, so its answers are those of real contests."""

import pytest

from gateway.core.errors import Malformed
from gateway.core.model.motive import Motivation
from gateway.policy.bundle import SHIPPED, read_bundle
from gateway.policy.embedded import Embedded
from gateway.policy.sources import shipped
from gateway.policy.who_wins import WhoWins, side_of
from tests.kit.doubles import FixedClock


@pytest.fixture(scope="module")
def who() -> WhoWins:
    engine = Embedded(read_bundle(shipped() / SHIPPED), deadline_ms=10_000, memory_mb=64)
    return WhoWins(engine=engine, clock=FixedClock())


async def test_a_score_is_the_sum_of_its_terms(who: WhoWins) -> None:
    asks, holds = side_of("human", "cost", "launch", proven=False), side_of("agent", "cost", "launch", proven=True)
    found = await who.between(asks, holds)
    assert found["asks"]["terms"] == {"intent": 200, "motivation": 600, "kind": 250, "unproven": -400}
    assert found["asks"]["score"] == 650
    assert (found["outcome"], found["verdict"], found["rule"]) == ("loses", "deny", "SEN-A001")
    assert found["needed"] == 900


async def test_what_is_close_is_a_person_s(who: WhoWins) -> None:
    side = side_of("agent", "security", "incident", proven=True)
    found = await who.between(side, side)
    assert (found["outcome"], found["verdict"], found["rule"]) == ("close", "hold", "SEN-A002")


async def test_the_table_says_of_each_pair_what_the_pair_alone_is_told(who: WhoWins) -> None:
    asks, holds = (
        side_of("human", "cost", "budget", proven=True),
        side_of("agent", "availability", "launch", proven=True),
    )
    table = {row["motivation"]: row["outcomes"] for row in (await who.between(asks, holds))["table"]}
    assert set(table) == {each.value for each in Motivation}
    for one in ("incident", "schedule", "experiment"):
        for other in ("incident", "launch", "routine"):
            alone = await who.between(
                side_of("human", "cost", one, proven=True), side_of("agent", "availability", other, proven=True)
            )
            assert table[one][other] == alone["outcome"], (one, other)


async def test_a_motive_is_not_needed(who: WhoWins) -> None:
    found = await who.between(side_of("agent", "", "", proven=True), side_of("agent", "cost", "routine", proven=True))
    assert found["asks"]["score"] == 0
    assert found["outcome"] == "loses"


def test_a_word_that_is_none_is_refused() -> None:
    with pytest.raises(Malformed, match="'robot' is not a valid ActorKind"):
        side_of("robot", "cost", "routine", proven=True)


async def test_a_name_that_no_stack_can_have_is_refused(who: WhoWins) -> None:
    side = side_of("agent", "cost", "routine", proven=True)
    with pytest.raises(Malformed, match="small letters"):
        await who.between(side, side, "<b>")
