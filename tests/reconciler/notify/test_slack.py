"""The chat as a receiver: what is posted, edited or answered."""

import ipaddress
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from slack_sdk.models.blocks import Block

from gateway.core.records.record import Record, Stage
from gateway.core.settings.notices import SlackSettings
from gateway.notices.content import notice_of
from reconciler.notify.posted_cards import PostedCard
from reconciler.notify.receivers import PostAnswer, Sending
from reconciler.notify.slack import SlackPost, SlackReceiver
from tests.kit.hold_records import HELD, effect, held_record, record
from tests.kit.hook import HookStub, receiving

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
SIGNED = {"signing_secret": "s" * 32, "team": "T1"}
BOT = {"bot_token": "xoxb-token", "channel": "C0001"}
HOOK = {"webhook_url": "https://hooks.slack.com/services/T/B/x"}
REJECTED = record(Stage.REJECTED, {"reason": "not now", "requester": "agent-1", "door": "console"})


def slack(**given: Any) -> SlackReceiver:
    settings = SlackSettings.model_validate({**SIGNED, **given})
    return SlackReceiver(settings=settings, public_url="https://s.example", schedule=(1.0,))


def sent(receiver: SlackReceiver, of: Record, *messages: str) -> list[Sending]:
    notice = notice_of(of)
    assert notice is not None
    shown = [PostedCard(held=held_record(), message=message) for message in messages]
    return list(receiver.sendings(notice, of, datetime.now(UTC), shown))


def document(sending: Sending) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(sending.body)
    for block in Block.parse_all(parsed["blocks"]):
        block.validate_json()
    return parsed


def kinds(sending: Sending) -> set[str]:
    return {block["type"] for block in document(sending)["blocks"]}


async def test_a_card_is_posted_to_the_chat_of_the_settings() -> None:
    with receiving(HookStub()) as stub:
        origin = f"http://127.0.0.1:{stub.port}"
        made = slack(host=origin, webhook_url=f"{origin}/services/T/B/x")
        held = held_record()
        notice = notice_of(held)
        assert notice is not None
        assert made.fits(notice)
        assert not made.fits(replace(notice, stack="", type=notice.type.SETTLED))
        post = made.open()
        [sending] = sent(made, held)
        assert await post.send(sending.body, sending.headers, sending.path) == PostAnswer(status=200)
        [received] = stub.received
        assert received.path == "/services/T/B/x"
        assert Block.parse_all(received.document["blocks"])
        assert not {"webhook-signature", "authorization"} & set(received.headers)


def test_rights_are_shown_without_buttons() -> None:
    made = slack()
    [sending] = sent(made, held_record(effect("aws_iam_role.a", "inline_policy")))
    assert "actions" not in kinds(sending)
    assert made.name == "chat-slack"


async def test_the_chat_may_be_on_this_machine_only_if_the_settings_say_so() -> None:
    for given in (
        {"host": "https://127.0.0.1", "webhook_url": "https://127.0.0.1/x"},
        {"api_host": "https://127.0.0.1", **BOT},
    ):
        post = slack(**given).open()
        assert "nothing was sent" in (await post.send(b"{}", {}, "/x")).error


def test_with_a_token_the_card_is_posted_by_the_bot_to_its_channel() -> None:
    [sending] = sent(slack(**BOT), held_record())
    assert sending.path == "/api/chat.postMessage"
    assert sending.headers["authorization"] == "Bearer xoxb-token"
    posted = document(sending)
    assert (posted["channel"], "ts" in posted, "actions" in kinds(sending)) == ("C0001", False, True)
    assert "xoxb" not in sending.body.decode()


def test_every_card_that_is_over_is_edited_to_ask_for_nothing() -> None:
    first, second = sent(slack(**BOT), REJECTED, "C0001/1.0", "C0002/2.5")
    assert [(each.path, document(each)["channel"], document(each)["ts"]) for each in (first, second)] == [
        ("/api/chat.update", "C0001", "1.0"),
        ("/api/chat.update", "C0002", "2.5"),
    ]
    assert not {"actions", "input"} & kinds(first)
    assert "Rejected by agent-1 in the console: not now" in first.body.decode()


def test_what_cannot_be_edited_is_answered_once() -> None:
    [answer] = sent(slack(**HOOK), REJECTED, "", "")
    assert (answer.path, "authorization" in answer.headers, kinds(answer)) == ("", False, {"section"})
    assert document(answer)["text"].startswith(f"{HELD} waits no longer. Rejected by agent-1 in the console: not now")
    edit, posted = sent(slack(**BOT), REJECTED, "C0001/1.0", "")
    assert (edit.path, posted.path, document(posted)["channel"]) == (
        "/api/chat.update",
        "/api/chat.postMessage",
        "C0001",
    )


def test_an_answer_places_no_link_and_mentions_nobody() -> None:
    evil = record(Stage.REJECTED, {"reason": "<!channel> <https://evil.example|ours>", "requester": "agent-1"})
    [answer] = sent(slack(**HOOK), evil, "")
    assert "<" not in document(answer)["text"]
    assert document(answer)["blocks"][0]["text"]["type"] == "plain_text"


@pytest.mark.parametrize("given", [BOT, HOOK])
def test_where_no_card_was_shown_nothing_is_said(given: dict[str, str]) -> None:
    assert sent(slack(**given), REJECTED) == []


@pytest.mark.parametrize(
    ("end", "told"),
    [
        (REJECTED, True),
        (record(Stage.BROKE_GLASS, {"requester": "agent-1", "reason": "fire"}), True),
        (record(Stage.APPROVED, {"requester": "agent-1", "missing": 0}), True),
        (record(Stage.APPROVED, {"requester": "agent-1", "missing": 1}), False),
        (record(Stage.SETTLED, {"outcome": "applied"}), False),
    ],
)
def test_a_decision_is_told_once_it_is_one(end: Record, *, told: bool) -> None:
    notice = notice_of(end)
    assert notice is not None
    assert slack(**HOOK).fits(notice) is told
    assert slack(**HOOK).ends_cards(end) is told
    assert not slack(**HOOK, stacks=["other"]).fits(notice)


METHOD = "/api/chat.postMessage"


@pytest.fixture
def stub() -> Iterator[HookStub]:
    with receiving(HookStub()) as made:
        yield made


async def said(stub: HookStub, body: object) -> PostAnswer:
    stub.bodies[METHOD] = body if isinstance(body, bytes) else json.dumps(body).encode()
    post = SlackPost(f"http://127.0.0.1:{stub.port}", networks=[ipaddress.ip_network("127.0.0.0/8")], seconds=300.0)
    return await post.send(b"{}", {}, METHOD)


async def test_where_a_message_is_is_kept(stub: HookStub) -> None:
    took = {"ok": True, "channel": "C0001", "ts": "1763820000.000100", "message": {"text": "…"}}
    assert await said(stub, took) == PostAnswer(status=200, message="C0001/1763820000.000100")
    assert stub.received[0].path == METHOD


@pytest.mark.parametrize(
    "place", [{}, {"channel": "C1", "ts": 5}, {"channel": "<b>", "ts": "1.0"}, {"channel": "C1", "ts": "1.0; drop"}]
)
async def test_a_place_in_another_form_is_none(stub: HookStub, place: dict[str, Any]) -> None:
    assert await said(stub, {"ok": True, **place}) == PostAnswer(status=200)


@pytest.mark.parametrize(
    ("code", "status"), [("channel_not_found", 200), ("invalid_auth", 200), ("internal_error", 0), ("ratelimited", 0)]
)
async def test_a_refusal_has_the_status_200_and_a_code(stub: HookStub, code: str, status: int) -> None:
    answer = await said(stub, {"ok": False, "error": code})
    assert answer == PostAnswer(status=status, error=f"The chat refused it: {code}.")


@pytest.mark.parametrize("body", [b"", b"\xff", b"[]", b"[" * 100_000, {"ok": "true"}, {"ok": False, "error": "<a> b"}])
async def test_what_is_no_answer_of_slack_is_a_failure_and_not_shown(stub: HookStub, body: object) -> None:
    assert await said(stub, body) == PostAnswer(status=200, error="The chat refused it: no known code.")


async def test_a_card_that_was_deleted_asks_nothing_any_more(stub: HookStub) -> None:
    assert await said(stub, {"ok": False, "error": "message_not_found"}) == PostAnswer(status=200)


async def test_an_answer_without_an_end_is_left_after_its_beginning(stub: HookStub) -> None:
    stub.behaviour = "endless"
    assert (await said(stub, b"")).error == "The chat refused it: no known code."


async def test_a_status_that_is_none_of_success_is_a_failure_as_everywhere(stub: HookStub) -> None:
    stub.behaviour = "429 Retry-After: 30"
    assert await said(stub, {"ok": True}) == PostAnswer(status=429, error="It answered 429.", retry_after=30)


def test_cards_are_posted_of_held_changes_only() -> None:
    held = notice_of(held_record())
    denied = notice_of(held_record(decision={"verdict": "deny", "carried_out": False, "findings": []}))
    settled = notice_of(record(Stage.SETTLED, {"outcome": "applied"}))
    assert held is not None
    assert denied is not None
    assert settled is not None
    receiver = slack(**HOOK, stacks=["shop"])
    assert [receiver.fits(each) for each in (held, denied, settled)] == [True, False, False]
