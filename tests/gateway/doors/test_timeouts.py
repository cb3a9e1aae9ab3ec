"""Timeouts: a request that arrives too slowly gets 408, a response that is not taken ends; a slow application has no timeout."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from functools import partial
from typing import Any
from unittest.mock import Mock

import pytest
import uvicorn

from gateway.core.errors import Malformed
from gateway.core.http.asgi import RequestBody, send_response
from gateway.doors.shutdown import Stopping
from gateway.doors.timeouts import TimeoutProtocol

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

GET = b"GET / HTTP/1.1\r\nHost: a\r\n"


class Timers:
    """Timers whose time passes only when the test says so, so that a busy machine changes nothing."""

    def __init__(self) -> None:
        self._now = 0.0
        self._due: list[tuple[float, Callable[[], object], Mock]] = []

    def time(self) -> float:
        """As of an event loop."""
        return self._now

    def call_later(self, seconds: float, callback: Callable[..., object], *arguments: object) -> Mock:
        """As of an event loop."""
        handle = Mock(spec=["cancel"])
        self._due.append((self._now + seconds, partial(callback, *arguments), handle))
        return handle

    def advance(self, seconds: float) -> None:
        """Let time pass, and call what is due and was not cancelled."""
        self._now += seconds
        due = [timer for timer in self._due if timer[0] <= self._now]
        self._due = [timer for timer in self._due if timer[0] > self._now]
        for _, callback, handle in due:
            if not handle.cancel.called:
                callback()


class Hasty(TimeoutProtocol):
    """The same with short times, which `timers` count, and with what it has received."""

    head_seconds = 0.2
    body_seconds = 0.2
    timers = Timers()
    received = 0
    latest: "Hasty"
    let_go: asyncio.Event

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        real, timers = self.loop, self.timers
        self.loop = Mock(wraps=real, call_later=timers.call_later, time=timers.time)

    def data_received(self, data: bytes) -> None:
        """Count, so that a test can wait until what it sent has arrived."""
        super().data_received(data)
        Hasty.received += len(data)
        Hasty.latest = self


class Patient(Hasty):
    """Any body keeps arriving fast enough."""

    body_rate = 0


async def _application(scope: Any, receive: Any, send: Any) -> None:
    """Reads the body, takes its time, answers."""
    if scope["path"] == "/early":
        await send_response(send, 413, [("content-length", "0")], b"")
        return
    if scope["path"] == "/large":
        await _send_large(send)
        return
    with suppress(Malformed):
        body = await RequestBody(receive, 1000).read()
        if scope["path"] == "/slow":
            Hasty.timers.advance(100)
        await send_response(send, 200, [("content-length", str(len(body)))], body)


LARGE = 64 * 1024 * 1024
"""Bytes of a response that no buffers of the system hold."""


async def _send_large(send: Any) -> None:
    """Send until the client does not take it any more; then tell that the application was let go."""
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % LARGE)]})
    part = bytes(1024 * 1024)
    for _ in range(LARGE // len(part)):
        await send({"type": "http.response.body", "body": part, "more_body": True})
    Hasty.let_go.set()


@pytest.fixture(params=[Hasty])
async def port(request: pytest.FixtureRequest) -> AsyncIterator[int]:
    server = uvicorn.Server(uvicorn.Config(_application, port=0, http=request.param, log_level="error", lifespan="off"))
    server.config.load()
    listening = server.config.bind_socket()
    serving = asyncio.ensure_future(server.serve(sockets=[listening]))
    while not server.started:  # noqa: ASYNC110  uvicorn has no event for it
        await asyncio.sleep(0.01)
    yield listening.getsockname()[1]
    server.should_exit = True
    await serving
    listening.close()


async def _talk(port: int, *parts: bytes, pause: float = 0.05) -> bytes:
    """Send the parts one after the other, with so much time between them; what comes until the connection ends."""
    Hasty.timers, Hasty.received = Timers(), 0
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    received = asyncio.ensure_future(reader.read(-1))
    sent = 0
    async with asyncio.timeout(300):
        for part in parts:
            writer.write(part)
            sent += len(part)
            while Hasty.received < sent:  # noqa: ASYNC110  it is the other end of a socket
                await asyncio.sleep(0.001)
            Hasty.timers.advance(pause)
            if Hasty.latest.transport.is_closing():
                break
        while not received.done():
            await asyncio.sleep(0.01)
            Hasty.timers.advance(1)
    writer.close()
    return received.result()


@pytest.mark.parametrize(
    "parts",
    [
        (),
        tuple(GET[index : index + 1] for index in range(len(GET))),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n", *[b"x"] * 8),
    ],
    ids=["nothing at all", "a head byte by byte", "a body byte by byte"],
)
async def test_a_slow_request_gets_408(port: int, parts: tuple[bytes, ...]) -> None:
    received = await _talk(port, *parts)
    assert received.startswith(b"HTTP/1.1 408 ")
    head, _, body = received.partition(b"\r\n\r\n")
    assert f"content-length: {len(body)}".encode() in head


@pytest.mark.parametrize("port", [Patient], indirect=True)
async def test_a_body_that_keeps_arriving_may_take_longer(port: int) -> None:
    head = b"POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 8\r\n\r\n"
    received = await _talk(port, head, *[b"x"] * 8)
    assert received.startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("path", [b"/", b"/slow"])
async def test_a_slow_application_has_no_timeout(port: int, path: bytes) -> None:
    received = await _talk(port, b"POST " + path + b" HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n", b"\r\nh", b"i")
    assert received.startswith(b"HTTP/1.1 200 ")
    assert received.count(b"HTTP/1.1") == 1


async def test_each_request_of_a_connection_has_its_own_time(port: int) -> None:
    received = await _talk(port, *[GET + b"\r\n"] * 4, GET, pause=0.1)
    assert (received.count(b" 200 "), received.count(b" 408 ")) == (4, 1)


async def test_line_ends_between_requests_do_not_keep_a_connection(port: int) -> None:
    """It ends when it was idle for long enough, whatever comes that begins no request."""
    received = await _talk(port, GET + b"\r\n", *[b"\r\n"] * 3, pause=0)
    assert (received.count(b" 200 "), received.count(b" 408 ")) == (1, 0)


async def test_line_ends_before_a_first_request_have_its_time(port: int) -> None:
    assert (await _talk(port, b"\r\n", b"\r\n", pause=0)).startswith(b"HTTP/1.1 408 ")


async def test_a_body_that_was_answered_before_its_end_is_not_answered_twice(port: int) -> None:
    received = await _talk(port, b"POST /early HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n", *[b"x"] * 8)
    assert (received.count(b"HTTP/1.1"), received.count(b" 413 ")) == (1, 1)


async def test_a_request_that_was_answered_before_its_end_leaves_an_idle_connection(port: int) -> None:
    """It ends as any idle one does: a stranger who sends a body behind its answer holds none for ever."""
    received = await _talk(port, b"POST /early HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n", b"x", b"x", pause=0)
    assert (received.count(b"HTTP/1.1"), received.count(b" 413 ")) == (1, 1)


async def _unread(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Ask for the large response, and wait until its application waits for the client."""
    Hasty.timers, Hasty.received, Hasty.let_go = Timers(), 0, asyncio.Event()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
    async with asyncio.timeout(300):
        while not Hasty.received or not Hasty.latest.flow.write_paused:  # noqa: ASYNC110  it is the other end of a socket
            await asyncio.sleep(0.01)
    return reader, writer


async def test_a_response_that_nobody_takes_ends(port: int) -> None:
    reader, writer = await _unread(port)
    Hasty.timers.advance(TimeoutProtocol.stalled_seconds - 1)
    assert not Hasty.latest.transport.is_closing()
    Hasty.timers.advance(1)
    async with asyncio.timeout(300):
        await Hasty.let_go.wait()
        with suppress(ConnectionError):
            assert len(await reader.read(-1)) < LARGE
    writer.close()


async def test_a_response_that_is_taken_slowly_does_not(port: int) -> None:
    reader, writer = await _unread(port)
    taken = 0
    async with asyncio.timeout(300):
        while taken < LARGE:
            Hasty.timers.advance(0.01)
            taken += len(await reader.read(1024 * 1024))
        await Hasty.let_go.wait()
    writer.close()


@pytest.mark.parametrize("endless", [True, False])
async def test_the_end_of_the_server_ends_streams_and_lets_answers_be_finished(endless: bool) -> None:
    asked, go_on = asyncio.Event(), asyncio.Event()

    class Application:
        stopping = Stopping()

        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            if endless:
                self.stopping.add(go_on.set)
            await receive()
            asked.set()
            await go_on.wait()
            await send_response(send, 200, [("content-length", "2")], b"ok")

    application: Any = Application()
    config = uvicorn.Config(
        application, port=0, http=TimeoutProtocol, log_level="error", lifespan="off", proxy_headers=False
    )
    server = uvicorn.Server(config)
    config.load()
    listening = config.bind_socket()
    serving = asyncio.ensure_future(server.serve(sockets=[listening]))
    async with asyncio.timeout(300):
        while not server.started:  # noqa: ASYNC110  uvicorn has no event for it
            await asyncio.sleep(0.01)
        reader, writer = await asyncio.open_connection("127.0.0.1", listening.getsockname()[1])
        writer.write(GET + b"\r\n")
        await asked.wait()
        server.should_exit = True
        if not endless:
            go_on.set()
        assert (await reader.read(-1)).endswith(b"ok")
        await serving
    writer.close()
    listening.close()
