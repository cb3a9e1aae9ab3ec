"""Read timeouts: a request that arrives too slowly gets 408; a slow application has no timeout."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from functools import partial
from typing import Any
from unittest.mock import Mock

import pytest
import uvicorn

from gateway.doors.asgi import RequestBody, send_response
from gateway.doors.timeouts import TimeoutProtocol
from gateway.errors import Malformed

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

GET = b"GET / HTTP/1.1\r\nHost: a\r\n"


class Timers:
    """Timers whose time passes only when the test says so, so that a busy machine changes nothing."""

    def __init__(self) -> None:
        self._now = 0.0
        self._due: list[tuple[float, Callable[[], object], Mock]] = []

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

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        real, timers = self.loop, self.timers
        self.loop = Mock(wraps=real, call_later=timers.call_later)

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
    with suppress(Malformed):
        body = await RequestBody(receive, 1000).read()
        if scope["path"] == "/slow":
            Hasty.timers.advance(100)
        await send_response(send, 200, [("content-length", str(len(body)))], body)


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


async def test_a_body_that_was_answered_before_its_end_is_not_answered_twice(port: int) -> None:
    received = await _talk(port, b"POST /early HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n", *[b"x"] * 8)
    assert (received.count(b"HTTP/1.1"), received.count(b" 413 ")) == (1, 1)
