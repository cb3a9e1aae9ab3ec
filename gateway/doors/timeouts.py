"""uvicorn's HTTP protocol with timeouts: a client that sends its head or body too slowly, or does not take its response, is disconnected."""

import asyncio
from typing import Any

from gateway.core.deadline import Deadline
from gateway.doors.bounded_protocol import BoundedProtocol
from gateway.doors.shutdown import Stopping

_RESPONSE_408 = (
    b"HTTP/1.1 408 Request Timeout\r\ncontent-type: text/plain; charset=utf-8\r\nconnection: close\r\n"
    b"content-length: 36\r\n\r\nThe request took too long to arrive."
)


class TimeoutProtocol(BoundedProtocol):
    """For `uvicorn.Config(http=…)`. RFC 9110 15.5.9: 408 if a request is not complete within the time the server was prepared to wait."""

    head_seconds = 10.0
    """From the connection, or from the first byte of a later request on it, until the head is complete."""
    body_seconds = 30.0
    """From the end of the head until the body is complete, and again as long as it keeps arriving: the upload of an object takes longer."""
    body_rate = 16 * 1024
    """Bytes a second with which a body keeps arriving."""

    stalled_seconds = 60.0
    """How long the client may leave a response untaken that fills the buffers: the request holds its memory until then."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._timeout: Deadline
        self._idle: Deadline
        self._stalled: asyncio.TimerHandle | None = None
        self._timed_stage = 1  # the first head has its time since the connection was made

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn declares it
        """Start the timeout for the first head."""
        super().connection_made(transport)
        self._timeout = Deadline(self.loop, self._time_out)
        self._idle = Deadline(self.loop, self.timeout_keep_alive_handler)
        self._timeout.set(self.head_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timeouts."""
        self._timeout.close()
        self._idle.close()
        self._end_stall()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """The server begins to stop: have the doors end the streams that clients hold open, and let everything else be finished."""
        stopping = getattr(self.app, "stopping", None)
        if isinstance(stopping, Stopping):
            stopping.stop()
        super().shutdown()

    def pause_writing(self) -> None:
        """Start the timeout for the client to take what is written."""
        super().pause_writing()
        self._end_stall()
        self._stalled = self.loop.call_later(self.stalled_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Cancel it: the client has taken enough."""
        self._end_stall()
        super().resume_writing()

    def data_received(self, data: bytes) -> None:
        """Parse what arrived, and time what is to come: the rest of a head, or of a body. A request that arrives whole needs no timer.

        Line ends between two requests are no news: the connection stays idle.
        """
        super().data_received(data)
        if self._stage > self._timed_stage:
            self._timed_stage = self._stage
            self._idle.clear()
            if self._in_request:
                self._timeout.set(self.head_seconds if self._in_head else self.body_seconds)
            else:
                # The request is complete, and the time until the response is not the client's.
                self._timeout.clear()
                if not self.owes_an_answer:
                    self._rest()  # it had its response before its end
        elif self._in_request:
            self._idle.clear()

    def _rest(self) -> None:
        """Begin to count how long the connection is idle, as uvicorn does."""
        self._idle.set(self.timeout_keep_alive)

    def _end_stall(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None

    def _time_out(self) -> None:
        """Send 408 if it is the answer to this request or to none; otherwise just close the connection."""
        if self.transport.is_closing():
            return
        in_body = self._in_request and not self._in_head
        if in_body and (self.flow.read_paused or self._body_bytes >= self.body_seconds * self.body_rate):
            # The body keeps arriving, or waits until we read on.
            self._body_bytes = 0
            self._timeout.set(self.body_seconds)
            return
        if in_body:
            answerable = self.cycle is self._served and not (self.cycle is None or self.cycle.response_started)
        else:
            answerable = not self.owes_an_answer
        if answerable:
            self.transport.write(_RESPONSE_408)
        self.transport.close()
