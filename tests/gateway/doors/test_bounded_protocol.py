"""What a client may send before anything is answered: bounded, however it is cut; and what uvicorn does with trailers and pipelines."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any
from unittest.mock import Mock

import pytest
import uvicorn
from uvicorn.server import ServerState

from gateway.core.http.asgi import send_response
from gateway.doors.bounded_protocol import MAX_UNFINISHED_BYTES, MOST_HELD, MOST_WAITING, BoundedProtocol
from gateway.doors.request_limits import MAX_HEADERS

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
CHUNKED = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n"


LARGE = 100_000
"""Bytes of a response that is not copied to be written with its head."""


class Application:
    """Answers when it is told to; keeps the scopes, and which requests were told that the client hung up."""

    def __init__(self, *, at_once: bool = False) -> None:
        self.scopes: list[Any] = []
        self.left: list[str] = []
        self.go_on = asyncio.Event()
        if at_once:
            self.go_on.set()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.scopes.append(scope)
        if scope["path"] == "/unread":
            await send_response(send, 200, [("content-length", "0")], b"")
            return
        while (message := await receive())["type"] == "http.request" and message["more_body"]:
            pass
        if scope["path"] == "/large":
            await send_response(send, 200, [("content-length", str(LARGE))], bytes(LARGE))
            return
        if scope["path"] == "/begun":
            await send({"type": "http.response.start", "status": 200, "headers": []})
        if scope["path"] == "/stream":
            while (await receive())["type"] != "http.disconnect":
                pass
            self.left.append(scope["path"])
            return
        await self.go_on.wait()
        await send_response(send, 200, [("content-length", "2")], b"ok")


class Transport:
    """What is written, and whether it is closed."""

    def __init__(self) -> None:
        self.written = b""
        self.writes = 0
        self.closed = False
        self.reading = True

    def write(self, data: bytes) -> None:
        """Keep it."""
        self.written += data
        self.writes += 1

    def close(self) -> None:
        """Note it."""
        self.closed = True

    abort = close

    def is_closing(self) -> bool:
        """As of a transport."""
        return self.closed

    def pause_reading(self) -> None:
        """Note it."""
        self.reading = False

    def resume_reading(self) -> None:
        """Note it."""
        self.reading = True

    def get_extra_info(self, _name: str) -> None:
        """Nothing is known."""


async def until(condition: Callable[[], object]) -> None:
    """Let the applications run until it holds."""
    while not condition():  # noqa: ASYNC110  nothing but the loop makes it hold
        await asyncio.sleep(0)


def opened(
    application: Application, most: int | None = None, state: ServerState | None = None
) -> tuple[BoundedProtocol, Transport]:
    config = uvicorn.Config(application, log_level="critical", lifespan="off", limit_concurrency=most)
    protocol, transport = BoundedProtocol(config, state or ServerState(), {}), Transport()
    protocol.connection_made(transport)  # type: ignore[arg-type]
    return protocol, transport


def _endless(protocol: BoundedProtocol, transport: Transport, begun: bytes, piece: bytes) -> int:
    """Send the piece again and again until the connection is closed; how many bytes were taken."""
    protocol.data_received(begun)
    taken = len(begun)
    while not transport.closed:
        protocol.data_received(piece)
        taken += len(piece)
        assert taken < 100 * MAX_UNFINISHED_BYTES, "it never ends"
    return taken


@pytest.mark.parametrize(
    ("begun", "piece"),
    [
        (b"GET / HTTP/1.1\r\nHost: a\r\n", b"a:b\r\n" * 1000),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX: ", b"a" * 5000),
        (b"GET /", b"a" * 5000),
        (CHUNKED + b"0\r\n", b"a:b\r\n" * 1000),
        (CHUNKED + b"0\r\nX: ", b"a" * 5000),
        (CHUNKED + b"1;a=", b"a" * 5000),
    ],
    ids=["headers", "a header", "a target", "trailers", "a trailer", "an extension of a chunk"],
)
async def test_what_goes_on_and_on_ends(begun: bytes, piece: bytes) -> None:
    protocol, transport = opened(Application())
    assert _endless(protocol, transport, begun, piece) <= MAX_UNFINISHED_BYTES + 2 * len(piece) + len(begun)
    assert len(protocol.headers) <= MAX_HEADERS + 1
    protocol.connection_lost(None)


async def test_a_body_may_be_as_long_as_it_is() -> None:
    """In pieces and in chunks of one byte: each is progress."""
    application = Application(at_once=True)
    protocol, transport = opened(application)
    protocol.data_received(CHUNKED)
    for _ in range(MAX_UNFINISHED_BYTES // 1000):
        protocol.data_received(b"1\r\na\r\n" * 1000)
        await asyncio.sleep(0)
    protocol.data_received(b"0\r\n\r\n")
    await until(lambda: application.scopes and transport.written)
    assert transport.written.startswith(b"HTTP/1.1 200")
    assert not transport.closed


async def test_too_many_headers_are_left_to_the_limits_of_requests() -> None:
    application = Application(at_once=True)
    protocol, transport = opened(application)
    many = b"".join(b"X-%d: a\r\n" % number for number in range(3 * MAX_HEADERS))
    protocol.data_received(b"GET / HTTP/1.1\r\nHost: a\r\n" + many + b"\r\n")
    await until(lambda: transport.written)
    assert len(application.scopes[0]["headers"]) == MAX_HEADERS + 1


async def test_fields_after_a_body_are_no_headers() -> None:
    application = Application(at_once=True)
    protocol, transport = opened(application)
    protocol.data_received(CHUNKED + b"0\r\nX-Forwarded-Email: root\r\nHost: b\r\nExpect: 100-continue\r\n\r\n")
    await until(lambda: transport.written)
    assert [name for name, _ in application.scopes[0]["headers"]] == [b"host", b"transfer-encoding"]
    assert transport.written.startswith(b"HTTP/1.1 200")


async def test_a_few_requests_may_wait_and_are_answered_in_order() -> None:
    application = Application(at_once=True)
    protocol, transport = opened(application)
    paths = [b"/%d" % number for number in range(MOST_WAITING)]
    protocol.data_received(b"".join(GET.replace(b"/ ", path + b" ", 1) for path in paths))
    await until(lambda: transport.written.count(b"HTTP/1.1 200") == len(paths))
    assert [scope["path"].encode() for scope in application.scopes] == paths
    assert transport.reading
    assert not transport.closed


async def test_more_than_that_end_the_connection_and_nothing_is_written_into_an_answer() -> None:
    application = Application()
    protocol, transport = opened(application)
    protocol.data_received(GET * (MOST_WAITING + 10))
    assert (transport.closed, transport.written) == (True, b"")
    protocol.connection_lost(None)
    application.go_on.set()
    await asyncio.sleep(0)
    assert len(application.scopes) <= 1, "what waited is not served any more"


@pytest.mark.parametrize(
    "request_bytes",
    [
        GET.replace(b"Host", b"X: " + b"x" * 200_000 + b"\r\nHost"),
        GET.replace(b"/", b"/" + b"x" * 60_000, 1),
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n" + bytes(60_000),
    ],
    ids=["headers", "a target", "a body"],
)
async def test_what_waits_has_bounded_memory(request_bytes: bytes) -> None:
    protocol, transport = opened(Application())
    assert _endless(protocol, transport, GET, request_bytes) < 2 * MOST_HELD
    assert transport.written == b""


async def test_what_waited_and_is_served_counts_no_more() -> None:
    application = Application(at_once=True)
    protocol, transport = opened(application)
    large = GET.replace(b"Host", b"X: " + b"x" * 200_000 + b"\r\nHost")
    for _ in range(10):
        protocol.data_received(GET + large)
        await until(lambda: not protocol.owes_an_answer)
    assert (transport.written.count(b"HTTP/1.1 200"), transport.closed) == (20, False)


async def test_reading_goes_on_while_requests_wait() -> None:
    """Else nobody would notice that the client of a quiet stream hung up."""
    application = Application()
    protocol, transport = opened(application)
    protocol.data_received(GET * 3)
    assert (len(protocol.pipeline), transport.reading) == (2, True)
    application.go_on.set()
    await until(lambda: transport.written.count(b"HTTP/1.1 200") == 3)


async def test_bytes_that_are_no_request_behind_one_only_end_the_connection() -> None:
    """The 400 of uvicorn would stand where the client reads the answer to its first request."""
    protocol, transport = opened(Application())
    protocol.data_received(GET + b"\0\0\0\r\n\r\n")
    assert (transport.closed, transport.written) == (True, b"")
    other, refused = opened(Application())
    other.data_received(b"\0\0\0\r\n\r\n")
    assert refused.written.startswith(b"HTTP/1.1 400")
    for each in (protocol, other):
        each.connection_lost(None)


EXPECTS = b"POST /unread HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(GET)


@pytest.mark.parametrize(("body", "answers"), [(b"", 1), (GET, 2)], ids=["left out", "sent"])
async def test_a_body_that_nobody_asked_for_and_that_may_be_left_out_ends_the_connection(
    body: bytes, answers: int
) -> None:
    """Else the next request on the connection, which may be that of another client of a proxy, would be taken for the body."""
    application = Application(at_once=True)
    protocol, transport = opened(application)
    protocol.data_received(EXPECTS + body)
    await until(lambda: transport.written)
    if not transport.closed:
        protocol.data_received(GET)
        await until(lambda: not protocol.owes_an_answer)
    assert (transport.closed, transport.written.count(b"HTTP/1.1 200")) == (answers == 1, answers)
    assert (b"connection: close" in transport.written) is transport.closed


UPGRADE = b"POST / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: %s\r\n%s\r\n"


@pytest.mark.parametrize("protocol_name", [b"websocket", b"h2c"])
@pytest.mark.parametrize("framing", [b"Content-Length: %d\r\n" % len(GET), b"Transfer-Encoding: chunked\r\n"])
async def test_the_body_of_a_request_for_another_protocol_is_no_request(protocol_name: bytes, framing: bytes) -> None:
    application = Application(at_once=True)
    protocol, transport = opened(application)
    protocol.data_received(UPGRADE % (protocol_name, framing))
    if not transport.closed:
        protocol.data_received(GET)
        await until(lambda: transport.written.count(b"HTTP/1.1 ") > 1)
    assert application.scopes == []
    assert transport.written.startswith(b"HTTP/1.1 400 ")
    assert b"speaks HTTP/1.1 only" in transport.written


@pytest.mark.parametrize("framing", [b"", b"Content-Length: 0\r\n"])
async def test_a_request_for_another_protocol_is_answered_and_is_the_last(framing: bytes) -> None:
    application = Application()
    protocol, transport = opened(application)
    protocol.data_received(UPGRADE % (b"websocket", framing))
    protocol.data_received(GET)
    application.go_on.set()
    await until(lambda: transport.closed or transport.written.count(b" 200 ") > 1)
    assert (len(application.scopes), transport.written.count(b" 200 "), transport.closed) == (1, 1, True)
    assert b"\r\nconnection: close\r\n" in transport.written


@pytest.mark.parametrize("behind", [0, 1, 3])
async def test_a_stream_hears_that_its_client_hung_up_whatever_waits_behind_it(behind: int) -> None:
    application = Application()
    protocol, _ = opened(application)
    protocol.data_received(GET.replace(b"/ ", b"/stream ", 1))
    await until(lambda: application.scopes)
    protocol.data_received(GET * behind)
    protocol.connection_lost(None)
    for _ in range(10):
        await asyncio.sleep(0)
    assert application.left == ["/stream"]
    assert len(application.scopes) == 1


@pytest.mark.parametrize(("path", "writes"), [(b"/", 1), (b"/large", 2)])
async def test_a_short_response_is_written_with_its_head_at_once(path: bytes, writes: int) -> None:
    protocol, transport = opened(Application(at_once=True))
    protocol.data_received(GET.replace(b"/ ", path + b" ", 1))
    await until(lambda: protocol.cycle and protocol.cycle.response_complete)
    assert transport.writes == writes
    head, _, body = transport.written.partition(b"\r\n\r\n")
    assert f"content-length: {len(body)}".encode() in head


async def test_the_head_of_a_response_whose_body_comes_later_is_written_at_once() -> None:
    application = Application()
    protocol, transport = opened(application)
    protocol.data_received(GET.replace(b"/ ", b"/begun ", 1))
    await until(lambda: transport.written)
    assert transport.written.startswith(b"HTTP/1.1 200 OK\r\n")
    protocol.connection_lost(None)


async def test_a_task_that_ends_is_not_waited_for() -> None:
    """The server waits for the tasks when it stops."""
    protocol, transport = opened(Application(at_once=True))
    protocol.data_received(GET)
    assert len(protocol.tasks) == 1
    await until(lambda: transport.written)
    assert not protocol.tasks


@pytest.mark.parametrize(
    "header", [(b"x\r\ny", b"a"), (b"x", b"a\r\nset-cookie: b"), (b"x", b"a\0")], ids=["name", "value", "null"]
)
async def test_a_header_with_a_line_break_is_never_written(header: tuple[bytes, bytes]) -> None:
    async def application(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [header]})

    protocol, transport = opened(application)  # type: ignore[arg-type]
    protocol.data_received(GET)
    await until(lambda: transport.closed)
    assert transport.written == b""


MOST = 40


def _closed(transports: list[Transport]) -> list[int]:
    return [number for number, each in enumerate(transports) if each.closed]


async def test_beyond_the_limit_the_oldest_connections_that_never_had_an_answer_are_closed() -> None:
    application, state = Application(at_once=True), ServerState()
    served, caller = opened(application, MOST, state)
    served.data_received(GET)
    await until(lambda: caller.written.endswith(b"ok"))
    strangers = [opened(application, MOST, state)[1] for _ in range(MOST - 1)]
    assert not _closed(strangers)
    fresh, newest = opened(application, MOST, state)
    assert _closed(strangers) == [0, 1, 2]  # some at once, so a flood does not look through all for each
    assert len(state.connections) == MOST - 2
    assert not caller.closed
    fresh.data_received(GET)
    await until(lambda: newest.written.endswith(b"ok"))


async def test_a_flood_of_connections_ends_its_own_before_those_of_callers_and_is_told_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = Mock()
    monkeypatch.setattr(logging.getLogger("uvicorn.error"), "warning", told)
    monkeypatch.setattr(BoundedProtocol, "quiet_until", 0.0)
    application, state = Application(at_once=True), ServerState()
    served, caller = opened(application, MOST, state)
    served.data_received(GET)
    await until(lambda: caller.written.endswith(b"ok"))
    flood = [opened(application, MOST, state)[1] for _ in range(20 * MOST)]
    assert len(state.connections) <= MOST
    assert len(_closed(flood)) == 20 * MOST + 1 - len(state.connections)
    assert not any(each.written for each in flood)
    told.assert_called_once()
    served.data_received(GET)
    await until(lambda: caller.written.count(b"ok") == 2)


async def test_connections_that_are_owed_an_answer_stay_and_one_more_is_told_so() -> None:
    application, state = Application(), ServerState()
    busy = [opened(application, MOST, state) for _ in range(MOST)]
    for protocol, _ in busy:
        protocol.data_received(GET)
    await until(lambda: len(application.scopes) == MOST)
    _, refused = opened(application, MOST, state)
    head, _, body = refused.written.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 503 ")
    assert f"content-length: {len(body)}".encode() in head
    assert b"retry-after: 1" in head
    assert b"Nothing was sent" in body
    assert refused.closed
    application.go_on.set()
    await until(lambda: all(transport.written.endswith(b"ok") for _, transport in busy))


async def test_connections_whose_callers_were_answered_are_closed_too_where_there_are_no_others() -> None:
    application, state = Application(at_once=True), ServerState()
    callers = [opened(application, MOST, state) for _ in range(MOST)]
    for protocol, _ in callers:
        protocol.data_received(GET)
    await until(lambda: all(transport.written.endswith(b"ok") for _, transport in callers))
    opened(application, MOST, state)
    assert _closed([transport for _, transport in callers]) == [0, 1, 2]
