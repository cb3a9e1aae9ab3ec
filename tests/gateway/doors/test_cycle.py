"""Our cycle and uvicorn's own on real sockets: the same requests to the same applications have the same responses and the same ends.

Where they differ on purpose is in `test_bounded_protocol.py`: no refusal is written into an answer, reading goes on while requests wait.
"""

import asyncio
import tracemalloc
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import Mock

import pytest
import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from gateway.core.http.asgi import BODY_FOLLOWS
from gateway.doors.bounded_protocol import BoundedProtocol
from gateway.doors.cycle import Cycle
from gateway.doors.timeouts import TimeoutProtocol

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

LARGE = 8 * 1024 * 1024
"""Bytes of a response that no buffers hold."""
LAST = b"GET /ok HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
"""Answered after a case only if its connection was kept."""


@dataclass(slots=True)
class Seen:
    """What the applications saw: a line for each request, as far as it does not depend on how the bytes were cut."""

    requests: list[str] = field(default_factory=list)


async def _body(receive: Any) -> bytes:
    body = b""
    while (message := await receive())["type"] == "http.request":
        body += message["body"]
        if not message["more_body"]:
            break
    else:
        body += b"!gone"
    return body


def _start(status: int = 200, *headers: tuple[bytes, bytes], follows: bool = False) -> dict[str, Any]:
    return {"type": "http.response.start", "status": status, "headers": headers, BODY_FOLLOWS: follows}


def _part(body: bytes, *, more: bool = False) -> dict[str, Any]:
    return {"type": "http.response.body", "body": body, "more_body": more}


Application = Callable[[Any, Any, Any], Awaitable[None]]
TWO = (b"content-length", b"2")


def _sends(*messages: dict[str, Any], reads: bool = True, then: type[BaseException] | None = None) -> Application:
    """Reads its request, sends these, and may raise then."""

    async def application(_scope: Any, receive: Any, send: Any) -> None:
        if reads:
            await _body(receive)
        for message in messages:
            await send(message)
        if then is not None:
            raise then

    return application


async def _echo(_scope: Any, receive: Any, send: Any) -> None:
    body = await _body(receive)
    await send(_start(200, (b"Content-Length", b"%d" % len(body))))
    await send(_part(body))


async def _until_gone(_scope: Any, receive: Any, send: Any) -> None:
    """Streams until its client is gone, and then some more."""
    await send(_start())
    await send(_part(b"first", more=True))
    while (await receive())["type"] != "http.disconnect":
        pass
    await send(_part(b"nobody hears it", more=True))
    await send(_part(b""))


async def _after_its_end(_scope: Any, receive: Any, send: Any) -> None:
    await send(_start(200, TWO))
    await send(_part(b"ok"))
    assert (await receive())["type"] == "http.disconnect"


async def _large(_scope: Any, _receive: Any, send: Any) -> None:
    await send(_start(200, (b"content-length", b"%d" % LARGE)))
    for _ in range(8):
        await send(_part(bytes(LARGE // 8), more=True))
    await send(_part(b""))


APPLICATIONS: dict[str, Application] = {
    "/ok": _sends(_start(200, TWO, (b"X-Two", b"b")), _part(b"ok")),
    "/one-write": _sends(_start(200, TWO, follows=True), _part(b"ok")),
    "/unread": _sends(_start(413, TWO), _part(b"no"), reads=False),
    "/echo": _echo,
    "/chunks": _sends(_start(), _part(b"a", more=True), _part(b"", more=True), _part(b"bc", more=True), _part(b"")),
    "/chunked": _sends(_start(200, (b"Transfer-Encoding", b"Chunked")), _part(b"abc")),
    "/chunked-with-length": _sends(_start(200, (b"transfer-encoding", b"chunked"), TWO), _part(b"ok")),
    "/length-then-chunked": _sends(_start(200, TWO, (b"transfer-encoding", b"chunked")), _part(b"ok")),
    "/two-lengths": _sends(_start(200, TWO, (b"content-length", b"3")), _part(b"ok")),
    "/empty": _sends(_start(200, (b"content-length", b"0")), _part(b"")),
    "/no-content": _sends(_start(204), _part(b"")),
    "/not-modified": _sends(_start(304, (b"etag", b"a")), _part(b"")),
    "/unknown-status": _sends(_start(299, TWO), _part(b"ok")),
    "/closes": _sends(_start(200, TWO, (b"connection", b"x, Close")), _part(b"ok")),
    "/keeps": _sends(_start(200, TWO, (b"connection", b"keep-alive")), _part(b"ok")),
    "/raises": _sends(then=ValueError),
    "/raises-unread": _sends(reads=False, then=ValueError),
    "/raises-begun": _sends(_start(200, TWO), then=ValueError),
    "/raises-between": _sends(_start(200, TWO), _part(b"o", more=True), then=ValueError),
    "/raises-after": _sends(_start(200, TWO), _part(b"ok"), then=ValueError),
    "/cancelled": _sends(then=asyncio.CancelledError),
    "/nothing": _sends(),
    "/only-head": _sends(_start(200, TWO)),
    "/no-end": _sends(_start(200, TWO), _part(b"ok", more=True)),
    "/too-long": _sends(_start(200, TWO), _part(b"three")),
    "/too-short": _sends(_start(200, TWO), _part(b"o")),
    "/two-heads": _sends(_start(200, TWO), _start(200, TWO)),
    "/body-first": _sends(_part(b"ok")),
    "/after-the-end": _sends(_start(200, TWO), _part(b"ok"), _part(b"more")),
    "/bad-name": _sends(_start(200, (b"a b", b"c"), TWO), _part(b"ok")),
    "/bad-value": _sends(_start(200, (b"a", b"b\r\nc: d"), TWO), _part(b"ok")),
    "/until-gone": _until_gone,
    "/after-its-end": _after_its_end,
    "/large": _large,
}


def _recording(seen: Seen, running: set[str]) -> Application:
    async def application(scope: Any, receive: Any, send: Any) -> None:
        told: list[Any] = []

        async def hears() -> Any:
            message = await receive()
            told.append((message.get("body", b""), message.get("more_body"), message["type"]))
            return message

        running.add(scope["path"])
        try:
            await APPLICATIONS[scope["path"]](scope, hears, send)
        finally:
            running.discard(scope["path"])
            body = b"".join(part for part, _, _ in told)
            gone = any(kind == "http.disconnect" for _, _, kind in told)
            kept = {
                name: scope[name] for name in ("method", "path", "raw_path", "query_string", "http_version", "headers")
            }
            seen.requests.append(f"{kept} {body!r} {'gone' if gone else ''}")

    return application


@asynccontextmanager
async def _served(protocol: Any) -> Any:
    """A server with this protocol: its port, what its applications saw, and which of them run."""
    seen, running = Seen(), set[str]()
    config = uvicorn.Config(_recording(seen, running), http=protocol, log_level=60, lifespan="off", access_log=False)
    state = ServerState()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: protocol(config, state, {}), "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1], seen, running
    finally:
        server.close()
        await asyncio.gather(*state.tasks, return_exceptions=True)


class _Client(asyncio.Protocol):
    """Keeps what arrives. A `StreamReader` gives none of it any more once the server has closed the connection with a request unread."""

    def __init__(self) -> None:
        self.received = b""
        self.arrived, self.ended = asyncio.Event(), asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self.received += data
        self.arrived.set()

    def connection_lost(self, _: Exception | None) -> None:
        self.ended.set()


async def _asked(protocol: Any, pieces: tuple[bytes, ...], *, leaves: bool) -> tuple[bytes, list[str]]:
    """All that was answered until the connection ended, and what the applications saw."""
    async with asyncio.timeout(300), _served(protocol) as (port, seen, running):
        transport, client = await asyncio.get_running_loop().create_connection(_Client, "127.0.0.1", port)
        for piece in (*pieces, *(() if leaves else (LAST,))):
            transport.write(piece)
            await _turns()
        if leaves:
            await client.arrived.wait()
            await _turns()
            transport.abort()
            while running:  # noqa: ASYNC110  nothing but the loop ends them
                await asyncio.sleep(0.005)
        await client.ended.wait()
    return client.received, seen.requests


async def _turns() -> None:
    """Time for both ends: in any case so many rounds of the event loop, because a busy machine may spend the time on something else."""
    for _ in range(20):
        await asyncio.sleep(0)
    await asyncio.sleep(0.005)


def _get(path: str, *lines: str, method: str = "GET", version: str = "1.1", body: bytes = b"") -> bytes:
    return "\r\n".join((f"{method} {path} HTTP/{version}", "Host: a", *lines, "", "")).encode() + body


POSTED = _get("/echo", "Content-Length: 4", method="POST", body=b"abcd")
IN_CHUNKS = _get("/echo", "Transfer-Encoding: chunked", method="POST", body=b"2\r\nab\r\n1;x=y\r\nc\r\n0\r\n\r\n")
CASES: dict[str, tuple[bytes, ...]] = {
    **{f"GET {path}": (_get(path),) for path in APPLICATIONS if path != "/until-gone"},
    **{f"HEAD {path}": (_get(path, method="HEAD"),) for path in ("/ok", "/one-write", "/chunks", "/no-content", "/raises", "/empty")},
    **{f"POST {path}": (_get(path, "Content-Length: 4", method="POST", body=b"abcd"),) for path in ("/raises", "/nothing")},
    "two requests": (_get("/ok"), _get("/one-write")),
    "query and escapes": (_get("/%6fk?a=%20b&c"),),
    "HTTP/1.0": (_get("/ok", version="1.0"),),
    "HTTP/1.0 that keeps": (_get("/ok", "Connection: keep-alive", version="1.0"),),
    "HTTP/1.0 in chunks": (_get("/chunks", version="1.0"),),
    "a client that closes": (_get("/ok", "Connection: close"),),
    "a client that closes, in chunks": (_get("/chunks", "Connection: close"),),
    "a body": (POSTED,),
    "a body in pieces": (POSTED[:-3], POSTED[-3:-1], POSTED[-1:]),
    "a head in pieces": (POSTED[:10], POSTED[10:30], POSTED[30:]),
    "chunks": (IN_CHUNKS,),
    "chunks in pieces": tuple(IN_CHUNKS[at : at + 9] for at in range(0, len(IN_CHUNKS), 9)),
    "a long body": (_get("/echo", "Content-Length: 300000", method="POST"), *([bytes(100_000)] * 3)),
    "an answer before the body": (_get("/unread", "Content-Length: 4", method="POST"), b"abcd"),
    "expects to be asked": (_get("/echo", "Expect: 100-continue", "Content-Length: 2", method="POST"), b"ab"),
    "expects in capitals": (_get("/echo", "Expect: 100-Continue", "Content-Length: 2", method="POST"), b"ab"),
    "expects something else": (_get("/echo", "Expect: 200-ok", "Content-Length: 2", method="POST"), b"ab"),
    "three at once": (_get("/ok") + _get("/chunks") + _get("/one-write"),),
    "bodies at once": (POSTED + IN_CHUNKS + POSTED,),
    "one at once that closes": (_get("/ok") + _get("/closes") + _get("/ok"),),
    "one at once that breaks": (_get("/ok") + _get("/raises") + _get("/ok"),),
    "no request": (b"\0\1\2\r\n\r\n",),
    "an unknown method": (_get("/ok", method="BREW"),),
    "a bad length": (_get("/echo", "Content-Length: x", method="POST"),),
    "line ends before it": (b"\r\n\r\n" + _get("/ok"),),
}  # fmt: skip
PROTOCOLS = [BoundedProtocol, TimeoutProtocol]


@pytest.mark.parametrize("case", CASES)
async def test_both_answer_the_same(case: str) -> None:
    expected = await _asked(HttpToolsProtocol, CASES[case], leaves=False)
    found = [await _asked(protocol, CASES[case], leaves=False) for protocol in PROTOCOLS]
    assert found == [expected] * len(PROTOCOLS)


@pytest.mark.parametrize(
    "pieces",
    [
        (_get("/until-gone"),),
        (_get("/until-gone", "Content-Length: 4", method="POST", body=b"abcd"),),
        (_get("/ok") + _get("/until-gone"),),
    ],
    ids=["a stream", "a stream with a body", "the second of two"],
)
async def test_both_hear_that_the_client_left(pieces: tuple[bytes, ...]) -> None:
    expected = await _asked(HttpToolsProtocol, pieces, leaves=True)
    assert expected[1][-1].endswith("gone")
    assert [await _asked(protocol, pieces, leaves=True) for protocol in PROTOCOLS] == [expected] * len(PROTOCOLS)


async def test_a_body_that_stops_is_told_by_both() -> None:
    """The application waits for the rest, and hears that there is none."""
    pieces = (_get("/ok") + _get("/echo", "Content-Length: 9", method="POST", body=b"abcd"),)
    expected = await _asked(HttpToolsProtocol, pieces, leaves=True)
    assert "b'abcd' gone" in expected[1][-1]
    assert [await _asked(protocol, pieces, leaves=True) for protocol in PROTOCOLS] == [expected] * len(PROTOCOLS)


@pytest.mark.parametrize("protocol", [HttpToolsProtocol, *PROTOCOLS])
async def test_a_client_that_reads_slowly_holds_the_application_up(protocol: Any) -> None:
    """What is written and not taken stays within the buffers: the application waits, and goes on when the client reads."""
    async with asyncio.timeout(300), _served(protocol) as (port, _, running):
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
        writer.write(_get("/large"))
        head = await reader.readuntil(b"\r\n\r\n")
        await asyncio.sleep(0.1)
        assert running == {"/large"}
        assert head.startswith(b"HTTP/1.1 200 OK\r\n")
        taken = 0
        while taken < LARGE:
            taken += len(await reader.read(256 * 1024))
        while running:  # noqa: ASYNC110  nothing but the loop ends it
            await asyncio.sleep(0.005)
        writer.close()
    assert taken == LARGE


async def test_a_body_in_many_small_pieces_takes_about_its_own_length() -> None:
    """A client chooses how small the pieces are: as values of their own they would take forty times as much."""
    pieces = [b"%02d" % (number % 100) for number in range(30_000)]
    cycle = Cycle(
        scope={"type": "http", "method": "POST"},
        transport=Mock(),
        flow=Mock(),
        default_headers=(),
        expect_100_continue=False,
        keep_alive=True,
        on_response=lambda: None,
        tasks=set(),
    )
    tracemalloc.start()
    try:
        for piece in pieces:
            cycle.take(bytes(bytearray(piece)))  # a value that nothing else keeps
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 4 * len(b"".join(pieces))
    assert (await cycle.receive())["body"] == b"".join(pieces)
