"""One reply of AWS while it arrives: collects the parts that httptools parses, for the caller that sent the request.

httptools is strict: it refuses a reply with two lengths, with a length and chunks, and with line ends that other parsers read differently.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, Final

import httptools

from gateway.core.deadline import Deadline
from gateway.core.failpoints import Point, failpoint
from gateway.core.outbound.response import NoAnswer

MAX_HEAD_BYTES: Final = 128 * 1024
"""The longest head of a reply. AWS's own are a few kilobytes."""
MAX_WAITING_BYTES: Final = 256 * 1024
"""How much of a body waits in memory to be read before the connection is told to stop."""
_CONTINUE, _SWITCH, _OK = 100, 101, 200
_NO_BODY: Final = frozenset({204, 304})
"""Statuses without a body whatever the headers say (RFC 9112 section 6.3)."""
_LENGTH, _ENCODING = b"content-length", b"transfer-encoding"


class HttpReply:
    """The reply to one request. Read it to its end, or `abandon` it."""

    def __init__(  # noqa: PLR0917  made for each request: what is given by name goes through a dictionary
        self,
        has_body: bool,
        set_reading: Callable[[bool], None],
        abandon: Callable[[], None],
        deadline: Deadline,
        silence_seconds: float,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        """`has_body` is false for the reply to a HEAD. `set_reading` stops and resumes the connection; `abandon` closes it.

        `deadline` is the connection's, and calls `fall_silent`. `silence_seconds`: how long to wait for the next byte of a body.
        """
        self.status = 0
        self.headers: list[tuple[bytes, bytes]] = []
        """As received, in order."""
        self.length: int | None = None
        """Length of the body in bytes, None if AWS did not state it."""
        self.complete = False
        self.reusable = False
        """Whether the connection can take another request once this reply is complete."""
        self._has_body = has_body
        self._set_reading = set_reading
        self._abandon = abandon
        self._deadline = deadline
        self._silence_seconds = silence_seconds
        self._loop = loop
        self._parser: Any = httptools.HttpResponseParser(self)
        """It refers to this reply, so it is let go with the last byte: what it holds need not wait for the garbage collector."""
        self._head_bytes = 0
        self._head_arrived = False
        self._until_end = False
        self._body: list[bytes] = []
        self._waiting_bytes = 0
        self._error: NoAnswer | None = None
        self._waiter: asyncio.Future[None] | None = None

    # What the reader calls.

    async def arrive(self, within: float | None = None) -> None:
        """Wait for the head, so many seconds at most; None: without a limit, as the request may still be on its way. Raises `NoAnswer`."""
        if within is not None:
            self._deadline.set(within)
        try:
            while not self._head_arrived:
                await self._more()
        finally:
            self._end_limit()

    async def parts(self) -> AsyncIterator[bytes]:
        """The body in pieces, as they arrive and not decompressed. Raises `NoAnswer` if it ends early, or stops without an end."""
        while True:
            if self._body:
                yield self.take()
            elif self.complete:
                return
            else:
                self._deadline.set(self._silence_seconds)
                try:
                    await self._more()
                finally:
                    self._end_limit()

    async def read(self) -> bytes:
        """The whole body. Raises `NoAnswer`."""
        if self.complete and self._error is None:
            return self.take()
        return b"".join([part async for part in self.parts()])

    def abandon(self) -> None:
        """Close the connection unless the reply is complete: then it is kept for the next request."""
        if not self.complete:
            self._abandon()

    def take(self) -> bytes:
        """The part of the body that has arrived and was not taken yet: of a complete reply the rest of it."""
        body, self._body = self._body, []
        if self._waiting_bytes > MAX_WAITING_BYTES:
            self._set_reading(True)
        self._waiting_bytes = 0
        return body[0] if len(body) == 1 else b"".join(body)

    def _more(self) -> asyncio.Future[None]:
        """To be awaited: done when more of the reply has arrived, or it has ended. Raises `NoAnswer` if it ended before."""
        if self._error is not None:
            raise self._error
        self._waiter = self._loop.create_future()
        return self._waiter

    # What the connection calls.

    def fall_silent(self) -> None:
        """Nothing arrived in time."""
        if not self.complete and self._error is None:
            limit = f"no more of the reply in {self._silence_seconds:g} seconds"
            self._error = NoAnswer(limit if self._head_arrived else "no reply in time")
            self._wake()

    def feed(self, data: bytes) -> None:
        """Parse what arrived. Raises `NoAnswer` if it is no reply."""
        if self._parser is None:
            self.reusable = False  # the reply has ended: what follows it is nobody's
            return
        if not self._head_arrived:
            self._head_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            if not self.complete:
                raise NoAnswer(type(error).__name__) from error
            self.reusable = False  # the reply is whole: what follows it is nobody's
        if not self._head_arrived and self._head_bytes > MAX_HEAD_BYTES:
            raise NoAnswer("the head of the reply is too long")
        if self.complete:
            self._parser = None
        self._wake()

    def end(self, error: Exception | None) -> None:
        """The connection ended: with an error, or in order. In order it completes a body whose length AWS did not state."""
        if self.complete or self._error is not None:
            return
        if error is None and self._until_end and self._head_arrived:
            self.complete = True
        else:
            self._error = NoAnswer(type(error).__name__ if error is not None else "the connection was closed")
            self._error.__cause__ = error
        self._parser = None
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    # What httptools calls.

    def on_message_begin(self) -> None:
        """A second reply to one request: the connection is not trusted any more."""
        if self.complete:
            self.reusable = False

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header of the head. Trailers are dropped."""
        if self._head_arrived:
            return
        self.headers.append((name, value))
        name = name.lower()
        if name == _LENGTH:
            self.length = int(value)
        elif name == _ENCODING and value.lower() != b"chunked":
            raise ValueError("a transfer encoding that is not chunked")

    def on_headers_complete(self) -> None:
        """The head is complete. That of an interim reply (100 to 199) is dropped."""
        status = self._parser.get_status_code()
        if self._head_arrived:
            return
        if status < _OK:
            if status == _SWITCH or status < _CONTINUE:
                raise ValueError("a status that nobody asked for")
            self.headers, self.length = [], None
            return
        self.status = status
        self._head_arrived = True
        failpoint(Point.STATUS_READ)
        if not self._has_body or status in _NO_BODY:
            self._finish()
        else:
            self._until_end = self.length is None and not self._is_chunked()

    def on_body(self, data: bytes) -> None:
        """Keep a piece of the body."""
        if self.complete:
            self.reusable = False
            return
        self._body.append(data)
        self._waiting_bytes += len(data)
        if self._waiting_bytes > MAX_WAITING_BYTES:
            self._set_reading(False)

    def on_message_complete(self) -> None:
        """The body is complete."""
        if self._head_arrived and not self.complete:
            self._finish()

    def _end_limit(self) -> None:
        """End the limit of a wait, unless the reply is complete: the connection, whose limit it is, may have the next request already."""
        if not self.complete:
            self._deadline.clear()

    def _finish(self) -> None:
        self._end_limit()
        self.complete = True
        self.reusable = self._parser.should_keep_alive()

    def _is_chunked(self) -> bool:
        return any(name.lower() == _ENCODING for name, _ in self.headers)
