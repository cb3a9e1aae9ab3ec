"""Approval cards, judged by Slack's own library."""

import json
from datetime import timedelta
from typing import Any

import pytest
from slack_sdk.models.blocks import ActionsBlock, Block

from gateway.core.records.record import Record, Stage
from gateway.notices.slack_card import card, closing_of, decides, no_buttons_reason
from tests.kit.hold_records import HELD, effect, held_record, record

LONGEST = timedelta(hours=8)


def _card(made: Record, **more: Any) -> dict[str, Any]:
    return card(made, longest_grant=LONGEST, **more)


def _valid(message: dict[str, Any]) -> list[Block]:
    """The blocks as Slack's library parses them; it checks their lengths and members."""
    blocks = Block.parse_all(message["blocks"])
    for block in blocks:
        block.validate_json()
    assert len(blocks) <= 50
    for each in message["blocks"]:
        text = each.get("text", {}).get("text", "")
        assert 0 < len(text) <= 3000 or not text
    return list(blocks)


def test_a_card_shows_the_exact_change_and_who_asks_in_whose_words() -> None:
    message = _card(held_record(), public_url="https://sentinel.example/")
    blocks = _valid(message)
    text = json.dumps(message, ensure_ascii=False)
    for shown in (
        "aws_sqs_queue.jobs.delay_seconds: 0 → 9",
        "QueueUrl",
        "agent-1 (agent) on behalf of alice",
        "The requester says: “lag grows” Evidence named: A-1",
        "guardrail.wide: A person must see it.",
        "aws_lambda_function.worker",
        "clm_1",
        "with the role approver",
        f"https://sentinel.example/console/mutations/{HELD}",
    ):
        assert shown in text
    [actions] = [block for block in blocks if isinstance(block, ActionsBlock)]
    buttons = [each.to_dict() for each in actions.elements]
    assert [each["action_id"] for each in buttons] == ["approve", "reject", "open"]
    assert [each.get("value") for each in buttons] == [HELD, HELD, None]
    assert not any("style" in each for each in buttons)  # none is preselected
    assert all("confirm" in each for each in buttons[:2])


def test_what_others_wrote_is_shown_and_never_interpreted() -> None:
    evil = "<!channel> *bold* <https://evil|here> `x` ``` \u202eslaw"
    made = held_record(effect(evil, "a", value=evil), motive={"text": evil, "evidence": [evil]})
    message = _card(made)
    _valid(message)
    for block in message["blocks"]:
        text = block.get("text", {})
        if text.get("type") == "mrkdwn":
            assert "<" not in text["text"]
            assert text["text"].count("```") == 2
        assert "\u202e" not in json.dumps(block, ensure_ascii=False)


def test_a_large_change_is_cut_to_what_slack_takes() -> None:
    many = held_record(
        *[effect(f"aws_sqs_queue.q{number}", value="&" * 5_000) for number in range(100)], motive={"text": "x" * 9_000}
    )
    message = _card(many)
    _valid(message)
    assert "the first of 100, not all of it shown" in json.dumps(message)


def test_secrets_are_not_shown() -> None:
    mask = {"hmac_sha256": "d" * 64}
    made = held_record(effect("aws_db_instance.a", "password", value=mask, sensitive=True), effect(value={"x": mask}))
    text = json.dumps(_card(made))
    assert "dddd" not in text
    assert "(secret)" in text


@pytest.mark.parametrize(
    ("made", "more"),
    [
        (held_record(effect("aws_iam_role.admin", "inline_policy")), {}),
        (held_record(), {"closing": "Approved by bob."}),
    ],
)
def test_rights_for_long_and_what_was_decided_have_no_buttons(made: Record, more: dict[str, Any]) -> None:
    message = _card(made, **more)
    assert not [block for block in _valid(message) if block.type in ("actions", "input")]


def test_several_people_and_a_deletion() -> None:
    usual: Any = held_record().body.members["decision"]
    decision = {**usual, "needs": {"roles": [["approver", "security"], ["owner"]], "people": 2}}
    text = json.dumps(_card(held_record(effect(action="delete"), decision=decision)))
    assert "2 people with the role approver and security or owner" in text
    assert "delete aws_sqs_queue.jobs.delay_seconds" in text


@pytest.mark.parametrize(
    ("stage", "body", "sentence"),
    [
        (Stage.REJECTED, {"reason": "not now", "door": "console"}, "Rejected by agent-1 in the console: not now"),
        (Stage.REJECTED, {}, "Rejected by agent-1."),
        (Stage.BROKE_GLASS, {"reason": "fire", "door": "api"}, "Passed in an emergency by agent-1 with the API or the command line: fire"),
        (Stage.APPROVED, {"until": "T", "others": ["bob"], "missing": 0, "door": "chat"}, "Approved by bob and agent-1 in the chat until T: the identical call passes once."),
        (Stage.APPROVED, {"until": "T"}, "Approved by agent-1 until T: the identical call passes once."),
    ],
)  # fmt: skip
def test_who_decided_what_where_and_why(stage: Stage, body: dict[str, Any], sentence: str) -> None:
    end = record(stage, body)
    assert closing_of(end) == sentence
    assert decides(end)


def test_the_consent_of_the_first_of_two_decides_nothing() -> None:
    assert not decides(record(Stage.APPROVED, {"missing": 1}))
    assert not decides(record(Stage.SETTLED, {}))


def test_a_reason_cannot_hide_anything() -> None:
    assert closing_of(record(Stage.REJECTED, {"reason": "a\u202eb" + "x" * 2000})).startswith(
        "Rejected by agent-1: a\\u202eb"
    )
    assert len(closing_of(record(Stage.REJECTED, {"reason": "x" * 2000}))) < 600


def _reason(*effects: dict[str, Any], **changes: Any) -> str:
    body: Any = held_record(*effects, **changes).body
    return no_buttons_reason(body, LONGEST)


def test_an_ordinary_change_has_buttons() -> None:
    assert not _reason()


@pytest.mark.parametrize(
    ("address", "attribute"),
    [
        ("aws_iam_role.admin", "max_session_duration"),
        ("aws_kms_key.a", "description"),
        ("aws_security_group.a", "ingress"),
        ("aws_sqs_queue_policy.a", "policy"),
        ("aws_lambda_permission.a", "*"),
        ("aws_sqs_queue.a", "policy"),
        ("aws_s3_bucket_policy.a", "policy"),
    ],
)
def test_rights_have_buttons_only_for_a_time(address: str, attribute: str) -> None:
    made = effect(address, attribute)
    assert "rights for longer than 8 hours" in _reason(made)
    assert "rights" in _reason(effect(), made, motive={"wanted_seconds": 8 * 3600 + 1})
    assert "rights" in _reason(made, motive={"wanted_seconds": 0})
    assert not _reason(made, motive={"wanted_seconds": 8 * 3600})


def test_what_nobody_can_see_has_no_buttons() -> None:
    assert "Not all of this call" in _reason(cut={"effects": 3})
    assert "Not all of this call" in _reason(*[effect()] * 11)
    assert "Not all of this call" in _reason(effect(value="x" * 301))
    assert "Not all of this call" in _reason(effect(value="x" * 250), *[effect("a" * 300, value="&" * 90)] * 9)
    assert "Not all of this call" in _reason(call={"service": "sqs", "whole": False})
    assert "Not all of this call" in _reason(call={"parameters": {"Document": "x" * 3_000}, "whole": True})
    assert "not known" in _reason(effects=[])
