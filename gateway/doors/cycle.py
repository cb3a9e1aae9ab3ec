"""One request and its response on a connection of uvicorn: what uvicorn's own cycle does, in fewer steps and with one write for a short response.

A read through the gateway spends about a third of its time here and in the system's calls, so each step that it can do without was left
out: an event with its queue for each request, the callback at the end of a task, and a write of its own for the head of a response.
"""

import asyncio
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from uvicorn._types import HTTPScope
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HEADER_RE, HEADER_VALUE_RE, STATUS_LINE, RequestResponseCycle

from gateway.core.failpoints import Point, failpoint
from gateway.core.http.asgi import BODY_FOLLOWS, Message

_ONE_WRITE: Final = 64 * 1024
"""The longest body that is written together with its head: a longer one is not copied for that."""
_WITHOUT_BODY: Final = frozenset({204, 304})


class News:
    """As `asyncio.Event`, for the one task that waits for more of its request."""

    __slots__ = ("_here", "_waiter")

    def __init__(self) -> None:
        self._here = False
        self._waiter: asyncio.Future[None] | None = None

    def set(self) -> None:
        """There is something new: more of the body, its end, or the end of the connection."""
        self._here = True
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def take(self) -> None:
        """Wait until there is something new."""
        while not self._here:
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        self._here = False


class Cycle(RequestResponseCycle):
    """One request and its response."""

    message_event: News  # type: ignore[assignment]  # uvicorn only sets it

    def __init__(
        self,
        *,
        scope: HTTPScope,
        transport: asyncio.Transport,
        flow: FlowControl,
        default_headers: list[tuple[bytes, bytes]],
        expect_100_continue: bool,
        keep_alive: bool,
        on_response: Callable[[], None],
        logger: Any,
        tasks: set[asyncio.Task[None]],
    ) -> None:
        """`tasks` are those that the server waits for when it stops."""
        # Not by uvicorn's constructor, which would make what is not used here.
        self.scope = scope
        self.transport = transport
        self.flow = flow
        self.logger = logger
        self.default_headers = default_headers
        self.message_event = News()
        self.on_response = on_response
        self.disconnected = False
        self.keep_alive = keep_alive
        self.waiting_for_100_continue = expect_100_continue
        self.body = bytearray()
        self.more_body = True
        self.response_started = False
        self.response_complete = False
        self.chunked_encoding = None
        self.expected_content_length = 0
        self._head = b""
        self._tasks = tasks
        self._task: asyncio.Task[None]

    def start(self, loop: asyncio.AbstractEventLoop, app: Any) -> None:
        """Serve the request in a task."""
        self._task = task = loop.create_task(self.run_asgi(app))
        self._tasks.add(task)

    async def run_asgi(self, app: Any) -> None:
        """Serve the request."""
        try:
            await super().run_asgi(app)
        finally:
            # A callback of the task would need a round of the event loop of its own.
            self._tasks.discard(self._task)

    async def receive(self) -> Any:
        """The next part of the request, or that the client is gone."""
        if self.waiting_for_100_continue and not self.transport.is_closing():
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            self.waiting_for_100_continue = False
        if not self.disconnected and not self.response_complete:
            self.flow.resume_reading()
            await self.message_event.take()
        if self.disconnected or self.response_complete:
            return {"type": "http.disconnect"}
        body, self.body = bytes(self.body), bytearray()
        return {"type": "http.request", "body": body, "more_body": self.more_body}

    async def send(self, message: Message) -> None:  # type: ignore[override]  # uvicorn names the members
        """Send the head or a part of the body of the response. Raises `RuntimeError` for any other message."""
        if self.flow.write_paused and not self.disconnected:
            await self.flow.drain()
        if self.disconnected:
            return
        if not self.response_started:
            _require(message, "http.response.start")
            self.response_started = True
            self.waiting_for_100_continue = False
            head = self._head_of(message["status"], message.get("headers", ()))
            if message.get(BODY_FOLLOWS):
                self._head = head
            else:
                self.transport.write(head)
        elif not self.response_complete:
            _require(message, "http.response.body")
            self._send_body(message.get("body", b""), more=message.get("more_body", False))
        else:
            raise RuntimeError(f"{message['type']} was sent after the end of the response.")

    def _head_of(self, status: int, headers: Any) -> bytes:
        content = [STATUS_LINE[status]]
        closes = False
        for given, value in (*self.default_headers, *headers):
            name = _checked_name(given)
            if HEADER_VALUE_RE.search(value):
                raise RuntimeError("The value of a header has a control character.")
            content += (name, b": ", value, b"\r\n")
            if name == b"content-length" and self.chunked_encoding is None:
                self.expected_content_length = int(value)
                self.chunked_encoding = False
            elif name == b"transfer-encoding" and value.lower() == b"chunked":
                self.expected_content_length = 0
                self.chunked_encoding = True
            elif name == b"connection" and b"close" in [token.lower().strip() for token in value.split(b",")]:
                self.keep_alive = False
                closes = True
        if not self.keep_alive and not closes:
            content.append(b"connection: close\r\n")
        if self.chunked_encoding is None and self.scope["method"] != "HEAD" and status not in _WITHOUT_BODY:
            self.chunked_encoding = True
            content.append(b"transfer-encoding: chunked\r\n")
        content.append(b"\r\n")
        return b"".join(content)

    def _send_body(self, body: bytes, *, more: bool) -> None:
        if self.scope["method"] == "HEAD":
            self.expected_content_length = 0
            body = b""
        elif self.chunked_encoding:
            body = b"".join((*((b"%x\r\n" % len(body), body, b"\r\n") if body else ()), b"" if more else b"0\r\n\r\n"))
        else:
            if len(body) > self.expected_content_length:
                raise RuntimeError("The response is longer than its Content-Length.")
            self.expected_content_length -= len(body)
        self._write(body)
        if more:
            return
        if self.expected_content_length != 0:
            raise RuntimeError("The response is shorter than its Content-Length.")
        self.response_complete = True
        self.message_event.set()
        if not self.keep_alive:
            self.transport.close()
        self.on_response()

    def _write(self, body: bytes) -> None:
        """Write a part of the body, after the head if that waits for it: a write is a call of the system, and wakes the client."""
        head, self._head = self._head, b""
        if head:
            failpoint(Point.HALF_ANSWERED, self.transport, head + body)
            if len(body) <= _ONE_WRITE:
                self.transport.write(head + body)
                return
            self.transport.write(head)
        self.transport.write(body)


def _require(message: Message, kind: str) -> None:
    if message["type"] != kind:
        raise RuntimeError(f"{kind} was expected, not {message['type']}.")


@lru_cache(maxsize=1024)
def _checked_name(name: bytes) -> bytes:
    """The name of a header in lower case. Raises `RuntimeError` if it is none."""
    if HEADER_RE.search(name):
        raise RuntimeError("The name of a header has a character that it must not have.")
    return name.lower()
