"""Each stage of a record as one line, which says what was asked, what was decided by which rule, and what came of it."""

from typing import Any

import pytest

from gateway.cli.investigate import COLUMNS, record_row

EFFECT = {"address": "aws_sqs_queue.q", "attribute": "delay", "action": "set", "before": 1, "value": 2}
CALL = {"service": "sqs", "operation": "SetQueueAttributes"}
FINDINGS = [
    {"verdict": "allow", "rule": "ok", "reason": "Fine."},
    {"verdict": "deny", "rule": "bounds.max", "reason": "Over 1."},
]
LEFT = {"address": "aws_sqs_queue.q", "attribute": "delay", "value": 2, "reason": "A function computes it."}


def cells(stage: str, **body: Any) -> dict[str, str]:
    record = {"seq": 7, "at": "2026-11-21T09:00:00.1Z", "stage": stage, "actor": "ann", "mutation_id": "mut_1"}
    return dict(zip(COLUMNS, record_row({**record, "body": body}), strict=True))


@pytest.mark.parametrize(
    ("stage", "body", "what"),
    [
        ("stopped", {"scope": "stack", "name": "shop", "reason": "No."}, "stack shop"),
        ("resumed", {"scope": "all", "name": "", "reason": ""}, "all"),
        ("breaker", {"of": "bot", "state": "half_open", "reason": ""}, "breaker of bot: half_open"),
    ],
)
def test_stops_and_breakers_say_what_they_are_about(stage: str, body: dict[str, str], what: str) -> None:
    assert cells(stage, **body)["what"] == what


@pytest.mark.parametrize("stage", ["rescheduled", "approved", "broke_glass"])
def test_what_ends_later_says_when(stage: str) -> None:
    row = cells(stage, until="2026-11-21T12:09:08.5Z", reason="It still burns.")
    assert (row["verdict"], row["rule: reason"]) == ("until 2026-11-21 12:09:08", "It still burns.")


def test_a_decision_names_operation_value_rule_and_reason() -> None:
    row = cells(
        "decided",
        call=CALL,
        effects=[EFFECT],
        decision={"verdict": "deny", "findings": FINDINGS},
        motive={"intent": "cost", "motivation": "budget"},
    )
    assert row == {
        "seq": "7",
        "at": "2026-11-21 09:00:00",
        "stage": "decided",
        "actor": "ann",
        "what": "sqs:SetQueueAttributes aws_sqs_queue.q.delay: 1 → 2",
        "verdict": "deny",
        "rule: reason": "bounds.max: Over 1.",
        "motive": "cost/budget",
        "mutation": "mut_1",
    }


@pytest.mark.parametrize(
    ("stage", "body", "column", "says"),
    [
        ("turned_away", {"code": "malformed", "reason": "No.", "about": "POST /x"}, "rule: reason", "malformed: No."),
        ("turned_away", {"code": "malformed", "about": "POST /x"}, "what", "POST /x"),
        ("settled", {"outcome": "failed", "code": "Throttled", "message": "Slow down."}, "rule: reason", "Throttled: Slow down."),
        ("settled", {"outcome": "applied"}, "verdict", "applied"),
        ("reconciled", {"commit": "0123456789abcdef", "branch": "sentinel/a", "edits": [LEFT]}, "rule: reason", "commit 0123456789ab on sentinel/a"),
        ("reconciled", {"edits": [LEFT]}, "what", "aws_sqs_queue.q.delay = 2"),
        ("reconciled", {"left": [LEFT, LEFT]}, "rule: reason", "A function computes it."),
        ("reconciled", {"nothing_to_do": "In code already."}, "rule: reason", "In code already."),
        ("proposed", {"state": "open", "url": "https://h/pull/1"}, "rule: reason", "open https://h/pull/1"),
        ("key_issued", {"key": "SNTL1"}, "what", "SNTL1"),
        ("notified", {"receiver": "ops", "results": [{"state": "given_up"}, {"state": "given_up"}]}, "what", "ops: 2 given up"),
        ("notified", {"receiver": "ops", "results": []}, "what", "ops: read on"),
        ("resend_asked", {"receiver": "ops", "id": "rec_7_ab"}, "what", "ops: rec_7_ab"),
        ("chat_linked", {"user": "U1", "actor": "ann", "linked": True}, "what", "chat user U1 is ann now"),
        ("chat_linked", {"user": "U1", "actor": "ann", "linked": False}, "what", "chat user U1 is nobody now"),
    ],
)  # fmt: skip
def test_the_other_stages_say_what_came_of_it(stage: str, body: dict[str, Any], column: str, says: str) -> None:
    assert cells(stage, **body)[column] == says
