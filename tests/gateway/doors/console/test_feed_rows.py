"""Each record in one line, whatever its stage."""

from typing import Any

import pytest

from gateway.core.records.record import Stage
from gateway.doors.console.feed import feed_row

EFFECT = {"address": "aws_sqs_queue.a", "attribute": "delay_seconds"}
DECIDED: dict[str, Any] = {
    "caller": {"kind": "agent"},
    "call": {"service": "sqs", "operation": "SetQueueAttributes"},
    "motive": {"intent": "cost", "motivation": "budget"},
    "effects": [EFFECT, EFFECT, *({"address": f"aws_sqs_queue.q{n}", "attribute": "*"} for n in range(4))],
    "decision": {"verdict": "deny"},
}


def row(stage: str, body: dict[str, Any]) -> Any:
    return feed_row(
        {"seq": 3, "at": "2026-11-22T00:00:00Z", "stage": stage, "actor": "bot", "mutation_id": "mut_1", "stack": "s", "body": body}
    )  # fmt: skip


def test_a_decision_says_who_what_and_why() -> None:
    found = row("decided", DECIDED)
    assert (found.kind, found.motive, found.what, found.result) == (
        "agent",
        "cost / budget",
        "sqs:SetQueueAttributes",
        "deny",
    )
    assert (found.resources[0], len(found.resources), found.more) == ("aws_sqs_queue.a.delay_seconds", 3, 2)


@pytest.mark.parametrize(
    ("stage", "body", "what", "result"),
    [
        ("settled", {"outcome": "applied"}, "settled", "applied"),
        ("rejected", {"reason": "no"}, "no", ""),
        ("turned_away", {"about": "POST /x"}, "POST /x", ""),
        ("passed", {"call": {"service": "s3", "operation": "GetObject"}, "count": 7}, "s3:GetObject, 7 calls", ""),
        ("drift_decided", {"action": "revert", **EFFECT}, "drift decided", "revert"),
        ("signalled", {"state": "open", "key": "K"}, "K", "open"),
        ("drift_settled", {"outcome": "gone"}, "drift settled", "gone"),
    ],
)
def test_other_stages_say_what_they_are_about(stage: str, body: dict[str, Any], what: str, result: str) -> None:
    found = row(stage, body)
    assert (found.what, found.result) == (what, result)


@pytest.mark.parametrize("stage", list(Stage))
def test_every_stage_has_a_row(stage: Stage) -> None:
    assert row(stage, {"motive": None, "caller": None, "call": None, "decision": None}).stage == stage
