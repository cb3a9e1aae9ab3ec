"""Approvals in the chat through a running gateway: who may, what a second click does, and what an attacker gets."""

import asyncio
import hashlib
import hmac
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from slack_sdk.models.blocks import Block

from gateway.core.errors import NotFound, Overloaded
from gateway.core.model.caller import ActorKind
from gateway.core.model.inbound import Inbound
from gateway.core.records.record import Stage
from gateway.core.settings.notices import SlackSettings
from gateway.doors.chat.slack_chat import MOST_AT_ONCE, SlackChat
from tests.gateway.doors.api.test_waiting import mutation_of
from tests.kit.chat import SECRET, TEAM, USERS, Chat, SlackStub, chatting, signed
from tests.kit.doubles import FixedClock
from tests.kit.hold_records import HELD

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


@pytest.fixture(scope="module")
def chat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chat]:
    """One for the module."""
    with chatting(tmp_path_factory.mktemp("chat")) as made:
        yield made


def _buttons(message: dict[str, Any]) -> bool:
    for block in Block.parse_all(message["blocks"]):
        block.validate_json()
    return any(block["type"] == "actions" for block in message["blocks"])


def _stages(chat: Chat, mutation: str) -> list[Stage]:
    return [record.stage for record in chat.gate.records(mutation_id=mutation)]


def test_two_people_approve_and_the_message_shows_it(chat: Chat) -> None:
    held = chat.held(days=3)
    first = chat.click("alice", "approve", held)
    assert first["replace_original"] is True
    assert "Approved by alice; 1 more must." in json.dumps(first)
    assert _buttons(first)
    assert chat.state(held) == "open"
    second = chat.click("bob", "approve", held)
    assert "Approved by bob until" in json.dumps(second)
    assert not _buttons(second)
    assert chat.state(held) == "approved"
    approved = [record for record in chat.gate.records(mutation_id=held) if record.stage is Stage.APPROVED]
    assert [(record.actor, record.body.members["door"]) for record in approved] == [("alice", "chat"), ("bob", "chat")]


def test_a_rejection_needs_a_reason_and_the_first_decision_stays(chat: Chat) -> None:
    held = chat.held()
    for empty in (None, "", ".", "no ......"):
        asked = chat.click("alice", "reject", held, empty)
        assert (asked["response_type"], "Say why" in asked["text"]) == ("ephemeral", True)
    assert chat.state(held) == "open"
    done = chat.click("alice", "reject", held, "We keep this database")
    assert "Rejected by alice: We keep this database" in json.dumps(done)
    again = chat.click("bob", "approve", held)
    assert "Already rejected by alice: We keep this database." in json.dumps(again)
    assert not _buttons(again)
    assert (chat.state(held), _stages(chat, held)) == ("rejected", [Stage.DECIDED, Stage.REJECTED])
    assert chat.gate.records(mutation_id=held)[-1].body.members["door"] == "chat"


def test_a_click_that_is_sent_twice_decides_once(chat: Chat) -> None:
    held = chat.held(days=4)
    chat.click("alice", "approve", held)
    before = len(chat.gate.records(mutation_id=held))
    body = chat.slack.click(USERS["alice"], "approve", held)
    headers = signed(body)
    assert [chat.post(body, headers).status_code for _ in range(2)] == [200, 200]
    assert "1 more must" in json.dumps(chat.arrived(f"/actions/{TEAM}/1/approve"))
    chat.click("alice", "approve", held)
    assert len(chat.gate.records(mutation_id=held)) == before
    chat.click("bob", "approve", held)
    assert "Already approved by bob." in json.dumps(chat.click("alice", "approve", held))
    rejected = chat.click("bob", "reject", held, "I changed my mind about it")
    assert "Already approved by bob." in json.dumps(rejected)
    assert chat.state(held) == "approved"


def test_one_person_approves_and_exactly_this_call_passes_once(chat: Chat) -> None:
    held = mutation_of(chat.refresh(61))
    assert "Approved by alice until" in json.dumps(chat.click("alice", "approve", held))
    assert chat.refresh(62)["ResponseMetadata"]["HTTPStatusCode"] != 200
    assert chat.refresh(61)["ResponseMetadata"]["HTTPStatusCode"] == 200
    assert mutation_of(chat.refresh(61)) != held


def test_of_two_clicks_at_one_moment_the_first_stays(chat: Chat) -> None:
    held = mutation_of(chat.refresh(71))
    clicks = [("alice", "approve"), ("bob", "reject")] * 2
    with ThreadPoolExecutor(len(clicks)) as pool:
        said = list(pool.map(lambda click: chat.click(click[0], click[1], held, "It is not needed at all"), clicks))
    assert len(_stages(chat, held)) == 2
    assert sum("Already" in json.dumps(each) for each in said) == 3


def test_what_another_wrote_places_no_link_and_mentions_nobody(chat: Chat) -> None:
    held = chat.held()
    chat.say("alice", f"reject {held} see <https://evil.example|the console> <!channel>")
    again = chat.say("bob", f"approve {held}")
    assert "<" not in again["text"]
    assert "&lt;!channel&gt;" in again["text"]


def test_typing_does_the_same(chat: Chat) -> None:
    held = chat.held()
    helped = chat.post(chat.slack.command(USERS["alice"], "what?")).json()
    assert (helped["response_type"], "approve mut_" in helped["text"]) == ("ephemeral", True)
    said = chat.say("alice", f"reject {held} this is not the week for it")
    assert said == {"response_type": "ephemeral", "text": "Rejected by alice: this is not the week for it"}
    assert chat.state(held) == "rejected"


@pytest.mark.parametrize(
    ("actor", "sentence"),
    [("mallory", "is not linked to a person"), ("nobody", "with the role"), ("pipeline", "is not linked to a person")],
)
def test_others_may_not_and_are_told_why(chat: Chat, actor: str, sentence: str) -> None:
    if actor == "nobody":
        chat.link("nobody")
    held = chat.held()
    said = chat.click(actor, "approve", held)
    assert (said["response_type"], said["replace_original"]) == ("ephemeral", False)
    assert sentence in said["text"]
    assert _stages(chat, held) == [Stage.DECIDED]


def test_a_code_links_only_the_user_it_was_asked_for_and_only_once(chat: Chat) -> None:
    chat.gate.issue("erin", kind=ActorKind.HUMAN, roles=("approver",))
    USERS["erin"] = "UERIN"
    code = chat.ask("erin").json()["code"]
    held = chat.held()
    assert "is not yours" in chat.say("mallory", f"link {code}")["text"]
    assert "is not linked" in chat.click("erin", "approve", held)["text"]
    assert chat.say("erin", f"link {code}")["text"].startswith("You are erin now")
    assert "was used" in chat.say("erin", f"link {code}")["text"]
    chat.click("erin", "reject", held, "Not in this week")
    assert chat.gate.records(mutation_id=held)[-1].actor == "erin"
    records = chat.gate.records(stage=Stage.CHAT_LINK_ASKED) + chat.gate.records(stage=Stage.CHAT_LINKED)
    assert code not in str(records)


def test_nobody_approves_their_own_call(chat: Chat) -> None:
    chat.gate.issue("carol", kind=ActorKind.HUMAN, roles=("approver",))
    USERS["carol"] = "UCAROL"
    chat.link("carol")
    held = chat.held(actor="carol")
    assert "your own" in chat.click("carol", "approve", held)["text"]
    assert chat.state(held) == "open"


def test_a_link_ends_with_its_key(chat: Chat) -> None:
    chat.gate.issue("dave", kind=ActorKind.HUMAN, roles=("approver",))
    USERS["dave"] = "UDAVE"
    chat.link("dave")
    held = chat.held()
    chat.gate.revoke("dave")
    end = time.monotonic() + 300
    while httpx.get(f"{chat.gate.url}/v1/holds", headers=chat.gate.bearer("dave")).status_code != 401:
        assert time.monotonic() < end, "the key does not end"
    assert "has ended" in chat.click("dave", "approve", held)["text"]
    assert chat.state(held) == "open"


def test_what_cannot_be_shown_whole_is_not_approved_from_here(chat: Chat) -> None:
    client = chat.gate.client("events", "agent")
    with pytest.raises(client.exceptions.ClientError) as refused:
        client.cancel_replay(ReplayName="nightly")
    held = str(refused.value.response["ResponseMetadata"]["HTTPHeaders"]["x-sentinel-mutation"])
    for said in (chat.click("alice", "approve", held), chat.say("alice", f"approve {held}")):
        assert "sentinel approve" in said["text"]
    assert chat.state(held) == "open"
    chat.click("alice", "reject", held, "Not from an agent, please")
    assert chat.state(held) == "rejected"


def test_there_is_no_such_hold(chat: Chat) -> None:
    assert "is held" in chat.click("alice", "approve", HELD)["text"]


@pytest.mark.parametrize(
    ("status", "forge"),
    [
        (401, lambda body: {**signed(body), "x-slack-signature": "v0=" + "0" * 64}),
        (401, lambda body: {**signed(body), "x-slack-request-timestamp": "soon"}),
        (401, lambda body: signed(body, secret="x" * 32)),
        (401, lambda body: signed(body, at=1_000_000)),
        (401, lambda body: signed(body + b"&")),
        (401, lambda _: {}),
    ],
)
def test_forged_requests_do_nothing_and_are_recorded(chat: Chat, status: int, forge: Any) -> None:
    held = chat.held()
    body = chat.slack.click(USERS["alice"], "approve", held)
    before, sent = len(chat.gate.records(stage=Stage.TURNED_AWAY)), len(chat.host.received)
    reply = chat.post(body, forge(body) or {"content-type": "text/plain"})
    assert (reply.status_code, reply.headers["content-type"]) == (status, "application/problem+json")
    assert len(chat.gate.records(stage=Stage.TURNED_AWAY)) == before + 1
    assert _stages(chat, held) == [Stage.DECIDED]
    assert len(chat.host.received) == sent


def test_bytes_that_are_not_utf_8_and_other_hosts_get_no_answer(chat: Chat) -> None:
    held = chat.held()
    seconds, odd = str(int(time.time())), b"payload=\xff"
    mark = hmac.new(SECRET.encode(), f"v0:{seconds}:".encode() + odd, hashlib.sha256).hexdigest()
    assert chat.post(odd, {"x-slack-request-timestamp": seconds, "x-slack-signature": f"v0={mark}"}).status_code == 401
    away = chat.slack.click(USERS["alice"], "approve", held, response_url="http://127.0.0.1:9/x")
    assert chat.post(away).status_code == 403
    other = chat.slack.click(USERS["alice"], "approve", held, home="T0002")
    assert chat.post(other).status_code == 403
    assert chat.post(b"payload=" + b"x" * 300_000).status_code == 413
    assert _stages(chat, held) == [Stage.DECIDED]


def test_a_chat_that_takes_no_answer_changes_nothing_about_the_decision(chat: Chat) -> None:
    held = chat.held()
    chat.host.behaviour = "500"
    try:
        chat.click("alice", "reject", held, "The chat is down, the change stays out")
    finally:
        chat.host.behaviour = "200"
    assert chat.state(held) == "rejected"


def test_who_waits_for_the_mutation_is_woken(chat: Chat) -> None:
    held = chat.held()
    chat.click("alice", "reject", held, "Not now, thank you")
    reply = httpx.get(f"{chat.gate.url}/v1/mutations/{held}?wait=60s", headers=chat.gate.bearer("human")).json()
    assert reply["state"] == "rejected"


def test_the_ledger_is_intact_after_all_of_it(chat: Chat) -> None:
    assert chat.gate.run(chat.gate.ledger.verify())


def _chat(**settings: Any) -> SlackChat:
    unused: Any = SimpleNamespace()
    return SlackChat(
        settings=SlackSettings.model_validate(settings),
        public_url="",
        links=unused,
        queries=unused,
        commands=unused,
        wakeups=unused,
        host=unused,
        clock=FixedClock(),
    )


def _inbound() -> Inbound:
    body = SlackStub().click("U1", "approve", HELD)
    headers = signed(body, at=FixedClock().now().timestamp())

    async def read() -> bytes:
        return body

    return Inbound(
        method="POST",
        target="/v1/chat/slack",
        headers=tuple(headers.items()),
        read_body=read,
        received_at=FixedClock().now(),
    )


async def test_it_is_off_unless_it_is_configured() -> None:
    with pytest.raises(NotFound, match="signing_secret"):
        await _chat().take(_inbound())


async def test_only_so_much_is_worked_on_at_once_and_unexpected_errors_are_answered() -> None:
    made = _chat(signing_secret=SECRET, team=TEAM)
    said: list[dict[str, Any]] = []
    go = asyncio.Event()

    async def answer(path: str, document: dict[str, Any]) -> None:
        said.append(document)

    async def person(user: str) -> None:
        await go.wait()
        raise RuntimeError(f"hunter2 of {user}")

    parts: Any = (SimpleNamespace(answer=answer), SimpleNamespace(person=person))
    made.host, made.links = parts
    for _ in range(MOST_AT_ONCE):
        assert await made.take(_inbound()) == ""
    with pytest.raises(Overloaded, match="click again"):
        await made.take(_inbound())
    go.set()
    await made.close()
    assert len(said) == MOST_AT_ONCE
    assert "internal error" in said[0]["text"]
    assert "hunter2" not in str(said)
