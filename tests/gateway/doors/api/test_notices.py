"""The routes about the chat: linking, and where the chat sends what people do."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.kit.chat import TEAM, USERS, Chat, SlackStub, chatting, signed
from tests.kit.gate import Gate
from tests.kit.hold_records import HELD

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


@pytest.fixture(scope="module")
def chat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chat]:
    """One for the module."""
    with chatting(tmp_path_factory.mktemp("chat")) as made:
        yield made


def _links(chat: Chat, actor: str, method: str = "GET", path: str = "", **body: Any) -> httpx.Response:
    return httpx.request(
        method, f"{chat.gate.url}/v1/chat/links{path}", json=body or None, headers=chat.gate.bearer(actor)
    )


def test_people_link_themselves(chat: Chat) -> None:
    listed = _links(chat, "human").json()
    assert listed["team"] == TEAM
    assert {each["user"]: each["actor"] for each in listed["links"]} == {USERS["alice"]: "alice", USERS["bob"]: "bob"}
    assert _links(chat, "chief", "DELETE", f"/{USERS['bob']}").json()["linked"] is False
    assert [each["actor"] for each in _links(chat, "human").json()["links"]] == ["alice"]
    asked = _links(chat, "bob", "POST", user=USERS["bob"]).json()
    assert (asked["actor"], asked["code"].startswith("lnk_")) == ("bob", True)
    assert [each["actor"] for each in _links(chat, "human").json()["links"]] == ["alice"]
    chat.link("bob")
    assert {each["actor"] for each in _links(chat, "human").json()["links"]} == {"alice", "bob"}


def test_who_may_not(chat: Chat) -> None:
    assert _links(chat, "agent").status_code == 403
    assert _links(chat, "agent", "POST", user="UAGENT").status_code == 403
    assert _links(chat, "bob", "POST", user=USERS["alice"]).status_code == 403
    assert _links(chat, "bob", "DELETE", f"/{USERS['alice']}").status_code == 403
    assert _links(chat, "bob", "DELETE", "/UNOTHERE").status_code == 404
    assert _links(chat, "bob", "POST", user="not a user").status_code == 400
    assert _links(chat, "bob", "POST").status_code == 400


def test_a_click_is_acknowledged_with_an_empty_answer(chat: Chat) -> None:
    body = chat.slack.click(USERS["alice"], "open", HELD)
    reply = chat.post(body)
    assert (reply.status_code, reply.content) == (200, b"")


def test_without_settings_there_is_no_chat(gate: Gate) -> None:
    body = SlackStub().click("U1", "approve", HELD)
    reply = httpx.post(f"{gate.url}/v1/chat/slack", content=body, headers=signed(body))
    assert (reply.status_code, reply.json()["code"]) == (404, "not_found")
    assert httpx.get(f"{gate.url}/v1/chat/links", headers=gate.bearer("human")).status_code == 404
    assert httpx.post(f"{gate.url}/v1/chat/links", json={"user": "U1"}, headers=gate.bearer("human")).status_code == 404
