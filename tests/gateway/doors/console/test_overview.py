"""The first page tells each visitor what they may see: what waits for them, what was refused and why, and whether all is well."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from gateway.core.model.caller import ActorKind
from gateway.doors.console.overview import _unwritten, active_in
from gateway.doors.console.pictures import day_picture
from tests.kit.console import held, text_of, visitor
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


def test_what_waits_is_told_to_who_may_decide(gate: Gate) -> None:
    gate.issue("chief", kind=ActorKind.HUMAN, roles=("approver",))
    held(gate)
    own = text_of(visitor(gate, "chief").get("/console"))
    assert re.search(r"[1-9]\d* wait for you", own)
    assert "run events:CancelReplay" in own
    gate.issue("clerk", kind=ActorKind.HUMAN)
    others = text_of(visitor(gate, "clerk").get("/console"))
    assert re.search(r"\b0 wait for you", others)


def test_a_refusal_is_shown_with_its_reason(gate: Gate) -> None:
    body = {
        "service": "autoscaling",
        "operation": "SetDesiredCapacity",
        "parameters": {"AutoScalingGroupName": "kafka-consumer-processor-asg", "DesiredCapacity": 99},
        "motive": {"intent": "availability", "motivation": "incident", "text": "", "evidence": []},
    }
    reply = httpx.post(f"{gate.url}/v1/mutations", headers=gate.bearer("agent"), json=body)
    assert reply.status_code == 403, reply.text
    shown = text_of(visitor(gate, "human").get("/console"))
    assert "is over max" in shown
    assert "bounds.max" in shown


def test_an_agent_is_told_why_it_does_not_see_more(gate: Gate) -> None:
    shown = text_of(visitor(gate, "rival").get("/console"))
    assert "Only people and pipelines may list the signals." in shown


def rows(*states: str) -> list[dict[str, Any]]:
    at = datetime(2026, 3, 1, tzinfo=UTC).isoformat()
    return [
        {
            "actor": "ana",
            "kind": "human",
            "state": state,
            "at": at,
            "path": [
                {"name": "applied", "state": "done" if state == "applied" else "waits", "at": at},
                {"name": "in code", "state": "waits", "at": None},
            ],
        }
        for state in states
    ]


def test_actors_and_write_back_are_counted() -> None:
    given = rows("applied", "denied", "held", "applied")
    active = active_in(given)
    assert [(each.actor, each.asked, each.applied, each.refused) for each in active] == [("ana", 4, 2, 1)]
    assert _unwritten(given) == (2, datetime(2026, 3, 1, tzinfo=UTC))
    assert _unwritten([]) == (0, None)


def test_the_picture_of_a_day() -> None:
    start = datetime(2026, 3, 1, tzinfo=UTC)
    counts: list[dict[str, int]] = [{}, {"allow": 998, "deny": 2}, {"hold": 1}]
    hours = [
        {"start": (start + timedelta(hours=place)).isoformat(), "counts": count} for place, count in enumerate(counts)
    ]
    picture = day_picture(hours)
    assert picture.most == 1000
    assert picture.totals == {"allow": 998, "hold": 1, "deny": 2}
    assert [bar.verdict for bar in picture.bars] == ["allow", "deny", "hold"]
    assert all(bar.height >= 2 for bar in picture.bars), "one of many is still seen"
    assert picture.hours[1][2] == "01:00: 998 allowed, 0 held, 2 denied"
    assert day_picture([]).bars == ()
