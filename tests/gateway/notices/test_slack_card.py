"""Approval cards, judged by Slack's own library."""

import json
from datetime import timedelta
from typing import Any

import pytest
from slack_sdk.models.blocks import ActionsBlock, Block

from gateway.model.record import Record
from gateway.notices.slack_card import card
from tests.kit.held import HELD, effect, held_record

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
    usual: Any = held_record().body["decision"]
    decision = {**usual, "needs": {"roles": [["approver", "security"], ["owner"]], "people": 2}}
    text = json.dumps(_card(held_record(effect(action="delete"), decision=decision)))
    assert "2 people with the role approver and security or owner" in text
    assert "delete aws_sqs_queue.jobs.delay_seconds" in text
