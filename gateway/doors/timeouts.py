"""uvicorn's HTTP protocol with an end to its patience: a request whose head or body trickles in holds a connection no longer than this."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_LATE = (
    b"HTTP/1.1 408 Request Timeout\r\ncontent-type: text/plain; charset=utf-8\r\nconnection: close\r\n"
    b"content-length: 36\r\n\r\nThe request took too long to arrive."
)


class TimeoutProtocol(HttpToolsProtocol):
    """For `uvicorn.Config(http=…)`. RFC 9110 15.5.9: 408 where a request is not complete in the time the server was prepared to wait."""

    head_seconds = 10.0
    """From the connection, or from a further request's first byte, until the head is complete."""
    body_seconds = 30.0
    """From the head until the body is complete."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._deadline: asyncio.TimerHandle | None = None
        self._in_body = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Begin to wait."""
        super().connection_made(transport)
        self._within(self.head_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing to wait for any more."""
        self._within(None)
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """A further request on the same connection has a time of its own; the first one's began with the connection."""
        super().on_message_begin()
        if self._deadline is None:
            self._within(self.head_seconds)

    def on_headers_complete(self) -> None:
        """The head is there; now the body."""
        self._within(self.body_seconds)
        self._in_body = True
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The request is there; how long its answer takes is not the client's doing."""
        self._within(None)
        self._in_body = False
        super().on_message_complete()

    def _within(self, seconds: float | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None if seconds is None else self.loop.call_later(seconds, self._give_up)

    def _give_up(self) -> None:
        """Only a request that no answer was begun to can be told; any other sees the connection end."""
        if self.transport.is_closing():
            return
        if not self._in_body or not self.cycle.response_started:
            self.transport.write(_LATE)
        self.transport.close()
