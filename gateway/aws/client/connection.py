"""One kept-alive connection to AWS, which carries one request at a time."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import cast

from gateway.aws.client.http_reply import HttpReply
from gateway.core.deadline import Deadline
from gateway.core.failpoints import Point, failpoint
from gateway.core.outbound.response import NoAnswer


class Connection(asyncio.Protocol):
    """A connection. Nothing is ever sent again on another one: what happened to a request is told by its `HttpReply`."""

    def __init__(
        self, *, idle: "Callable[[Connection], None]", lost: "Callable[[Connection], None]", silence_seconds: float
    ) -> None:
        """`idle` is called each time when the connection can take another request, `lost` once, when it is closed.

        `silence_seconds`: how long the other side may take no byte of a request, or send no byte of a body.
        """
        self._idle = idle
        self._tell_lost = lost
        self._silence_seconds = silence_seconds
        self._transport: asyncio.Transport
        self._deadline: Deadline
        self._loop: asyncio.AbstractEventLoop
        self._reply: HttpReply | None = None
        self._writer: asyncio.Task[None] | None = None
        self._writable: asyncio.Future[None] | None = None
        self._stopped = False
        self._reading = True
        self._lost = False
        self.idle_since = 0.0

    @property
    def usable(self) -> bool:
        """Whether a request can be sent: the other side has not closed the connection, and nothing unasked arrived on it."""
        return not self._lost and self._reply is None and not self._transport.is_closing()

    def send(self, head: bytes, *, has_body: bool = True) -> HttpReply:
        """Send a whole request, or its head if `send_parts` follows. `has_body`: whether its reply may have a body."""
        self._reply = reply = HttpReply(
            has_body, self._set_reading, self.close, self._deadline, self._silence_seconds, self._loop
        )
        failpoint(Point.CONNECTED)
        failpoint(Point.HALF_SENT, self._transport, head)
        self._transport.write(head)
        failpoint(Point.SENT)
        return reply

    def send_parts(self, parts: AsyncIterator[bytes], *, chunked: bool) -> asyncio.Task[None]:
        """Send the body piece by piece. What `parts` raises breaks off the connection before the body's end: the reply is `NoAnswer`."""
        self._writer = asyncio.ensure_future(self._write(parts, chunked=chunked))
        return self._writer

    async def _write(self, parts: AsyncIterator[bytes], *, chunked: bool) -> None:
        try:
            async for part in parts:
                if self._lost:
                    return
                if part:
                    self._transport.write(b"%x\r\n%b\r\n" % (len(part), part) if chunked else part)
                await self._until_writable()
            if chunked:
                self._transport.write(b"0\r\n\r\n")
        except Exception as error:  # noqa: BLE001  whatever it is, the reader of the reply is told
            self._fail(error)
        except asyncio.CancelledError:
            self.close()
            raise
        self._writer = None
        self._finish()

    async def _until_writable(self) -> None:
        if self._stopped and not self._lost:
            self._writable = asyncio.get_running_loop().create_future()
            async with asyncio.timeout(self._silence_seconds):
                await self._writable

    def close(self) -> None:
        """Close at once; an unfinished reply is `NoAnswer`."""
        self._fail(ConnectionAbortedError())

    def _fail(self, error: Exception) -> None:
        if self._reply is not None:
            self._reply.end(error)
        self._stop_writing()
        self._transport.abort()

    def _finish(self) -> None:
        """Give the connection back when the request is sent and its reply complete; close it if it cannot be used again."""
        reply = self._reply
        if reply is None or not reply.complete:
            return
        if self._writer is not None or not reply.reusable:
            # AWS answered before it had the whole body, or it closes the connection, or it sent more than was asked for.
            self._fail(ConnectionAbortedError())
            return
        self._reply = None
        if not self._reading:
            self._set_reading(True)
        if not self._lost:
            self._idle(self)

    def _fall_silent(self) -> None:
        if self._reply is not None:
            self._reply.fall_silent()

    def _stop_writing(self) -> None:
        if self._writer is not None and self._writer is not asyncio.current_task():
            self._writer.cancel()
        if self._writable is not None and not self._writable.done():
            self._writable.set_result(None)

    def _set_reading(self, wanted: bool) -> None:
        if self._transport.is_closing() or self._reading is wanted:
            return
        self._reading = wanted
        if wanted:
            self._transport.resume_reading()
        else:
            self._transport.pause_reading()

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is one only in behaviour
        # Kept, because to ask for the running one is a call of the system until Python 3.12.
        self._loop = asyncio.get_running_loop()
        self._deadline = Deadline(self._loop, self._fall_silent)

    def data_received(self, data: bytes) -> None:
        """Parse a part of the reply. Data that nobody asked for closes the connection."""
        if self._reply is None:
            self._transport.abort()
            return
        try:
            self._reply.feed(data)
        except NoAnswer as error:
            self._fail(error)
            return
        if self._reply.complete:
            self._finish()

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell the reply, and stop writing."""
        self._lost = True
        self._deadline.close()
        self._tell_lost(self)
        if self._reply is not None:
            self._reply.end(exc)
        self._stop_writing()

    def pause_writing(self) -> None:
        """The other side does not read as fast as we write."""
        self._stopped = True

    def resume_writing(self) -> None:
        """The other side reads again."""
        self._stopped = False
        if self._writable is not None and not self._writable.done():
            self._writable.set_result(None)
