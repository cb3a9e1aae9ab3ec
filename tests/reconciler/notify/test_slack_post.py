"""What Slack's Web API says in its bodies, and what is kept of it."""

import ipaddress
import json
from collections.abc import Iterator
from typing import Any

import pytest

from reconciler.notify.post import PostAnswer
from reconciler.notify.slack_post import SlackPost
from tests.kit.hook import HookStub, receiving

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
METHOD = "/api/chat.postMessage"


@pytest.fixture
def stub() -> Iterator[HookStub]:
    with receiving(HookStub()) as made:
        yield made


async def said(stub: HookStub, body: object) -> PostAnswer:
    stub.bodies[METHOD] = body if isinstance(body, bytes) else json.dumps(body).encode()
    post = SlackPost(f"http://127.0.0.1:{stub.port}", networks=[ipaddress.ip_network("127.0.0.0/8")], seconds=300.0)
    try:
        return await post.send(b"{}", {}, METHOD)
    finally:
        await post.close()


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
