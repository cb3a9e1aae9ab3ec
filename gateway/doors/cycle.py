"""One request and its response on a connection of uvicorn: what uvicorn's own cycle does, in fewer steps and with one write for a short response.

A read through the gateway spends about a third of its time here and in the system's calls, so each step that it can do without was left
out: an event with its queue for each request, the callback at the end of a task, and a write of its own for the head of a response.
`tests/gateway/doors/test_cycle.py` asks both for the same.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, Final

from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT, FlowControl
from uvicorn.protocols.http.httptools_impl import HEADER_RE, HEADER_VALUE_RE, STATUS_LINE

from gateway.core.failpoints import Point, failpoint
from gateway.core.http.asgi import BODY_FOLLOWS, Message, Scope

log = logging.getLogger("uvicorn.error")

_ONE_WRITE: Final = 64 * 1024
"""The longest body that is written together with its head: a longer one is not copied for that."""
_WITHOUT_BODY: Final = frozenset({204, 304})
_FRAMING: Final = frozenset({b"connection", b"content-length", b"transfer-encoding"})
_START, _BODY = "http.response.start", "http.response.body"


class Cycle:
    """One request and its response."""

    def __init__(  # noqa: PLR0917  made for each request: what is given by name goes through a dictionary
        self,
        scope: Scope,
        transport: asyncio.Transport,
        flow: FlowControl,
        default_headers: Sequence[tuple[bytes, bytes]],
        expect_100_continue: bool,
        keep_alive: bool,
        on_response: Callable[[], None],
        tasks: set[asyncio.Task[None]],
    ) -> None:
        """`tasks` are those that the server waits for when it stops. `on_response` is called when the response is complete."""
        self.keep_alive = keep_alive
        """Whether the connection is for another request; the server ends that when it stops."""
        self.response_started = False
        self.response_complete = False
        self.held = 0
        """Bytes that it took while it waited behind other requests; the connection counts them."""
        self._scope = scope
        self._transport = transport
        self._flow = flow
        self._default_headers = default_headers
        self._on_response = on_response
        self._tasks = tasks
        self._task: asyncio.Task[None]
        self._waits_for_continue = expect_100_continue
        self._gone = False
        self._news = False
        self._waiter: asyncio.Future[None] | None = None
        self._body: bytes | bytearray = b""
        self._more_body = True
        self._head = b""
        self._chunked: bool | None = None
        self._to_come = 0

    def start(self, loop: asyncio.AbstractEventLoop, app: Any) -> None:
        """Serve the request in a task."""
        self._task = task = loop.create_task(self._serve(app))
        self._tasks.add(task)

    # What the connection tells.

    def take(self, body: bytes) -> None:
        """A piece of the body arrived. More than the application keeps up with stays with the client."""
        if self._body:
            # Most bodies are one piece, which is not copied. Many small ones as values of their own would take forty times their length.
            if isinstance(self._body, bytes):
                self._body = bytearray(self._body)
            self._body += body
        else:
            self._body = body
        if len(self._body) > HIGH_WATER_LIMIT:
            self._flow.pause_reading()
        self._tell()

    def end(self) -> None:
        """The request is complete."""
        self._more_body = False
        self._tell()

    def leave(self) -> None:
        """The client hung up."""
        if not self.response_complete:
            self._gone = True
        self._tell()

    def _tell(self) -> None:
        self._news = True
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    # What the application calls.

    async def receive(self) -> Message:
        """The next part of the request, or that the client is gone."""
        if self._waits_for_continue and not self._transport.is_closing():
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            self._waits_for_continue = False
        if not (self._gone or self.response_complete):
            if self._flow.read_paused:
                self._flow.resume_reading()
            while not self._news:
                self._waiter = asyncio.get_running_loop().create_future()
                await self._waiter
            self._news = False
        if self._gone or self.response_complete:
            return {"type": "http.disconnect"}
        body, self._body = bytes(self._body), b""
        return {"type": "http.request", "body": body, "more_body": self._more_body}

    async def send(self, message: Message) -> None:
        """Send the head or a part of the body of the response. Raises `RuntimeError` for any other message."""
        if self._flow.write_paused and not self._gone:
            await self._flow.drain()
        if self._gone:
            return
        kind = message["type"]
        if not self.response_started:
            if kind != _START:
                raise RuntimeError(f"{_START} was expected, not {kind}.")
            self.response_started = True
            if self._waits_for_continue and self._more_body:
                # The client may leave out the body that it was not asked for, or send it: nobody knows where its next request begins.
                self.keep_alive = False
            self._waits_for_continue = False
            head = self._head_of(message["status"], message.get("headers", ()))
            if message.get(BODY_FOLLOWS):
                self._head = head
            else:
                self._transport.write(head)
        elif not self.response_complete:
            if kind != _BODY:
                raise RuntimeError(f"{_BODY} was expected, not {kind}.")
            self._send_body(message.get("body", b""), more=message.get("more_body", False))
        else:
            raise RuntimeError(f"{kind} was sent after the end of the response.")

    async def _serve(self, app: Any) -> None:
        try:
            await app(self._scope, self.receive, self.send)
        except BaseException:
            log.exception("Exception in ASGI application")
            await self._break_off()
        else:
            if not (self.response_complete or self._gone):
                log.error("ASGI callable returned without completing response.")
                await self._break_off()
        finally:
            self._on_response = _nothing
            # A callback of the task would need a round of the event loop of its own.
            self._tasks.discard(self._task)

    async def _break_off(self) -> None:
        """Answer that the application failed, or close the connection if something else was answered already."""
        if self.response_started:
            self._transport.close()
            return
        text = b"Internal Server Error"
        headers = [
            (b"content-type", b"text/plain; charset=utf-8"),
            (b"content-length", b"%d" % len(text)),
            (b"connection", b"close"),
        ]
        await self.send({"type": _START, "status": 500, "headers": headers, BODY_FOLLOWS: True})
        await self.send({"type": _BODY, "body": text})

    def _head_of(self, status: int, headers: Iterable[tuple[bytes, bytes]]) -> bytes:
        lines = [STATUS_LINE[status]]
        closes = False
        headers = (*self._default_headers, *headers)
        # All values are looked at together: one by one they would take 1 µs.
        if HEADER_VALUE_RE.search(b"".join([value for _, value in headers])):
            raise RuntimeError("The value of a header has a control character.")
        for given, value in headers:
            begun, means = _begun_line(given)
            lines += (begun, value, b"\r\n")
            if not means:
                continue
            if means == b"content-length" and self._chunked is None:
                self._to_come = int(value)
                self._chunked = False
            elif means == b"transfer-encoding" and value.lower() == b"chunked":
                self._to_come = 0
                self._chunked = True
            elif means == b"connection" and b"close" in [token.lower().strip() for token in value.split(b",")]:
                self.keep_alive = False
                closes = True
        if not self.keep_alive and not closes:
            lines.append(b"connection: close\r\n")
        if self._chunked is None and self._scope["method"] != "HEAD" and status not in _WITHOUT_BODY:
            self._chunked = True
            lines.append(b"transfer-encoding: chunked\r\n")
        lines.append(b"\r\n")
        return b"".join(lines)

    def _send_body(self, body: bytes, *, more: bool) -> None:
        if self._scope["method"] == "HEAD":
            self._to_come = 0
            body = b""
        elif self._chunked:
            body = b"".join((*((b"%x\r\n" % len(body), body, b"\r\n") if body else ()), b"" if more else b"0\r\n\r\n"))
        else:
            if len(body) > self._to_come:
                raise RuntimeError("The response is longer than its Content-Length.")
            self._to_come -= len(body)
        self._write(body)
        if more:
            return
        if self._to_come != 0:
            raise RuntimeError("The response is shorter than its Content-Length.")
        self.response_complete = True
        self._tell()
        if not self.keep_alive:
            self._transport.close()
        self._on_response()

    def _write(self, body: bytes) -> None:
        """Write a part of the body, after the head if that waits for it: a write is a call of the system, and wakes the client."""
        head, self._head = self._head, b""
        if head:
            failpoint(Point.HALF_ANSWERED, self._transport, head + body)
            if len(body) <= _ONE_WRITE:
                self._transport.write(head + body)
                return
            self._transport.write(head)
        self._transport.write(body)


def _nothing() -> None:
    """The task of the request has ended: what it left running tells nobody any more."""


@lru_cache(maxsize=1024)
def _begun_line(name: bytes) -> tuple[bytes, bytes]:
    """The line of a header up to its value, and its name if it says where the response ends. Raises `RuntimeError` unless it is the name of a header."""
    if HEADER_RE.search(name):
        raise RuntimeError("The name of a header has a character that it must not have.")
    name = name.lower()
    return name + b": ", name if name in _FRAMING else b""
