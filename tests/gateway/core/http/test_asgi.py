"""Converting an ASGI scope: the target stays as sent, and the body is read once, up to a limit."""

from datetime import UTC, datetime

import pytest

from gateway.core.errors import BodyTooLarge, Malformed
from gateway.core.http.asgi import (
    BODY_FOLLOWS,
    Message,
    RequestBody,
    Scope,
    declared_length,
    door_of_scope,
    from_door,
    inbound_of,
    send_response,
)
from gateway.core.model.mutation import Door


class FixedClock:
    """Always the same moment."""

    def now(self) -> datetime:
        return datetime(2026, 11, 21, tzinfo=UTC)


class Wire:
    """What a client sends, message by message."""

    def __init__(self, *messages: Message) -> None:
        self.messages = list(messages)

    async def receive(self) -> Message:
        return self.messages.pop(0)


def _part(body: bytes, *, more: bool = False) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}


def test_the_door_is_what_this_process_says_never_what_a_header_says() -> None:
    scope: Scope = {"type": "http", "headers": [(b"sentinel.door", b"console")]}
    assert door_of_scope(scope) is Door.API
    assert door_of_scope(from_door(scope, Door.CONSOLE)) is Door.CONSOLE


async def test_the_body_is_joined_and_remembered() -> None:
    body = RequestBody(Wire(_part(b"ab", more=True), _part(b"c")).receive, 10)
    assert await body.read() == b"abc"
    assert await body.read() == b"abc"


async def test_a_body_over_the_limit_is_refused_before_it_is_whole() -> None:
    wire = Wire(_part(b"ab", more=True), _part(b"cd", more=True), _part(b"never read"))
    with pytest.raises(BodyTooLarge, match="3 bytes"):
        await RequestBody(wire.receive, 3).read()
    assert len(wire.messages) == 1


async def test_a_declared_length_over_the_limit_is_read_and_not_kept() -> None:
    body = RequestBody(Wire(_part(b"ab", more=True), _part(b"cd")).receive, 3, declared=4)
    with pytest.raises(BodyTooLarge, match="3 bytes"):
        await body.read()
    lying = RequestBody(Wire(_part(b"ab", more=True), _part(b"c")).receive, 3, declared=4)
    with pytest.raises(BodyTooLarge):
        await lying.read()


@pytest.mark.parametrize("declared", [0, 4])
async def test_a_large_body_asks_once_for_its_own_limit(declared: int) -> None:
    asked = []

    async def larger() -> int:
        asked.append(True)
        return 4

    wire = Wire(_part(b"ab", more=True), _part(b"cd"))
    assert await RequestBody(wire.receive, 1, declared=declared, limit_of_large=larger).read() == b"abcd"
    with pytest.raises(BodyTooLarge, match="4 bytes"):
        await RequestBody(Wire(_part(b"abcde")).receive, 1, declared=declared, limit_of_large=larger).read()
    assert len(asked) == 2


async def test_the_own_limit_is_never_lower_than_the_usual_one() -> None:
    async def lower() -> int:
        return 1

    with pytest.raises(BodyTooLarge, match="3 bytes"):
        await RequestBody(Wire(_part(b"abcd")).receive, 3, limit_of_large=lower).read()


@pytest.mark.parametrize(
    ("headers", "length"),
    [([(b"content-length", b"12")], 12), ([(b"host", b"x")], 0), ([(b"content-length", b"9" * 5000)], 0)],
)
def test_the_declared_length_is_read(headers: list[tuple[bytes, bytes]], length: int) -> None:
    assert declared_length({"headers": headers}) == length


async def test_a_client_that_hangs_up_leaves_no_half_request() -> None:
    with pytest.raises(Malformed, match="hung up"):
        await RequestBody(Wire(_part(b"ab", more=True), {"type": "http.disconnect"}).receive, 10).read()


@pytest.mark.parametrize("raw", [b"/a%2Fb/../c", b"/", b"/%41%00"])
def test_the_path_stays_as_it_was_sent(raw: bytes) -> None:
    scope = {
        "method": "PUT",
        "path": "/decoded",
        "raw_path": raw,
        "query_string": b"x=%2B&y",
        "headers": [(b"host", b"h"), (b"x", b"\xe9")],
        "client": ("127.0.0.1", 5),
    }
    inbound = inbound_of(scope, RequestBody(Wire().receive, 1), FixedClock())
    assert inbound.target == raw.decode() + "?x=%2B&y"
    assert inbound.headers == (("host", "h"), ("x", "\xe9"))
    assert inbound.peer == "127.0.0.1"


async def test_an_answer_is_two_messages() -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    await send_response(send, 403, [("X-Some", "thing")], b"no")
    head = {"type": "http.response.start", "status": 403, "headers": [(b"x-some", b"thing")]}
    assert sent[0] == {**head, BODY_FOLLOWS: True}
    assert sent[1]["body"] == b"no"
