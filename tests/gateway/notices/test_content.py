"""What each type of notice says, and what it never says."""

import json
from typing import Any

import pytest

from gateway.core.records.notice import NoticeType
from gateway.core.records.record import Stage
from gateway.notices.content import notice_of
from tests.kit.hold_records import HELD, effect, held_record, record

DIGEST = "d" * 64


def _told(found: Any) -> dict[str, Any]:
    assert found is not None
    document: dict[str, Any] = json.loads(found.body())
    return document


def test_a_held_change_says_who_wants_what_and_why_it_waits() -> None:
    document = _told(notice_of(held_record()))
    data = document["data"]
    assert document["type"] == "mutation.held"
    assert (data["actor"], data["on_behalf_of"], data["stack"], data["mutation_id"]) == (
        "agent-1",
        "alice",
        "shop",
        HELD,
    )
    assert data["call"]["operation"] == "SetQueueAttributes"
    assert data["requester_says"]["text"] == "lag grows"
    assert data["effects"] == [
        {"address": "aws_sqs_queue.jobs", "attribute": "delay_seconds", "action": "set", "resource_type": "aws_sqs_queue", "before": 0, "value": 9}
    ]  # fmt: skip
    assert data["reasons"][0]["rule"] == "guardrail.wide"
    assert (data["ends_claims"], data["dependants"]) == (["clm_1"], ["aws_lambda_function.worker"])


def test_a_held_call_that_is_repeated_is_told_once() -> None:
    decision = {"verdict": "hold", "carried_out": False, "findings": [], "attached": "mut_first"}
    assert notice_of(held_record(decision=decision)) is None


@pytest.mark.parametrize("verdict", ["allow", "deny", "hold"])
def test_what_waits_for_nobody_is_decided(verdict: str) -> None:
    decision = {"verdict": verdict, "carried_out": verdict != "deny", "findings": []}
    found = notice_of(held_record(decision=decision))
    assert found is not None
    assert (found.type, found.verdict) == (NoticeType.DECIDED, verdict)


def test_secrets_and_their_digests_are_not_told() -> None:
    mask = {"hmac_sha256": DIGEST}
    secret = effect("aws_db_instance.a", "password", value=mask, sensitive=True)
    nested = effect("aws_lambda_function.a", "environment", value={"TOKEN": mask, "NOTE": f"hmac_sha256:{DIGEST}"})
    text = json.dumps(_told(notice_of(held_record(secret, nested))))
    assert DIGEST not in text
    assert "parameters" not in text


@pytest.mark.parametrize(
    ("stage", "body", "kind", "told"),
    [
        (Stage.SETTLED, {"outcome": "failed", "code": "Throttling", "message": "slow", "claims_ended": ["c"]}, "mutation.settled",
         {"outcome": "failed", "code": "Throttling", "message": "slow", "actor": "agent-1"}),
        (Stage.APPROVED, {"approval": "apr_1", "requester": "agent-9", "others": ["bob"], "missing": 0, "until": "x", "digest": DIGEST, "door": "console"},
         "approval.given", {"approver": "agent-1", "approvers": ["bob", "agent-1"], "actor": "agent-9", "broke_glass": False, "door": "console"}),
        (Stage.BROKE_GLASS, {"approval": "apr_1", "requester": "agent-9", "reason": "fire"}, "approval.given",
         {"broke_glass": True, "reason": "fire"}),
        (Stage.REJECTED, {"reason": "no", "requester": "agent-9"}, "mutation.decided", {"verdict": "deny", "rejected_by": "agent-1", "actor": "agent-9", "door": None}),
        (Stage.EXPIRED, {"claim": "clm_1", "address": "a.b", "attribute": "c", "until": "x"}, "claim.expired", {"claim": "clm_1"}),
        (Stage.DRIFTED, {"address": "a.b", "attribute": "c", "live": None, "declared": None, "sensitive": True, "origin": None}, "drift.found",
         {"address": "a.b", "live": None}),
    ],
)  # fmt: skip
def test_the_other_types(stage: Stage, body: dict[str, Any], kind: str, told: dict[str, Any]) -> None:
    document = _told(notice_of(record(stage, body)))
    assert document["type"] == kind
    assert document["data"].items() >= told.items()
    assert DIGEST not in json.dumps(document)


@pytest.mark.parametrize(
    "stage",
    [
        Stage.TURNED_AWAY,
        Stage.PASSED,
        Stage.NOTIFIED,
        Stage.RESEND_ASKED,
        Stage.KEY_ISSUED,
        Stage.CHAT_LINKED,
        Stage.CHAT_LINK_ASKED,
    ],
)
def test_other_records_are_not_told(stage: Stage) -> None:
    assert notice_of(record(stage, {})) is None


def test_every_type_is_made_of_some_record() -> None:
    stages = {stage: notice_of(record(stage, {})) for stage in Stage if stage is not Stage.DECIDED}
    assert {NoticeType.HELD, *(found.type for found in stages.values() if found)} == set(NoticeType)


def test_a_long_text_and_many_effects_are_cut() -> None:
    many = held_record(*[effect()] * 50, motive={"text": "x" * 9_000})
    data = _told(notice_of(many))["data"]
    assert (len(data["effects"]), data["effects_in_all"], len(data["requester_says"]["text"])) == (20, 50, 501)
