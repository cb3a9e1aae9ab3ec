"""The page of contests shows who wanted what another one held, with both scores and the result."""

from datetime import UTC, datetime, timedelta

import pytest

from gateway.doors.console.pictures import contest_picture
from tests.gateway.doors.console.test_approvals import propose
from tests.kit.console import text_of, visitor
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_a_contest_is_shown_to_people_with_its_scores(gate: Gate) -> None:
    assert propose(gate, "agent", 6).status_code == 200
    propose(gate, "rival", 5)
    shown = text_of(visitor(gate, "human").get("/console/contests"))
    assert "aws_autoscaling_group.kafka_consumer.desired_capacity" in shown
    row = shown.partition("Result")[2]
    assert "rival" in row
    assert "agent availability / incident" in row
    assert "Nobody wanted what another one held." in text_of(visitor(gate, "rival").get("/console/contests"))
    gate.release_all()


def test_the_picture_has_a_lane_for_each_actor() -> None:
    hour = timedelta(hours=1)
    picture = contest_picture(
        held=[("ana", NOON, NOON + 4 * hour), ("ana", NOON, NOON + 4 * hour)],
        wished=[("bot", NOON + 2 * hour, "deny"), ("cron", NOON + 3 * hour, "hold")],
        now=NOON + 4 * hour,
    )
    assert [(lane.actor, len(lane.held), [each[1] for each in lane.wished]) for lane in picture.lanes] == [
        ("bot", 0, ["deny"]),
        ("cron", 0, ["hold"]),
        ("ana", 1, []),
    ]
    [(start, end)] = picture.lanes[2].held
    [(middle, _, _)] = picture.lanes[0].wished
    assert middle == pytest.approx((start + end) / 2)
    assert picture.left_out == 0


def test_a_picture_of_many_actors_is_cut() -> None:
    wished = [(f"bot-{number}", NOON, "deny") for number in range(30)]
    picture = contest_picture(held=[], wished=wished, now=NOON)
    assert (len(picture.lanes), picture.left_out) == (8, 22)
