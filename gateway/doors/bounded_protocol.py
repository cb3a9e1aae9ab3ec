"""uvicorn's HTTP protocol within bounds: what no application has seen yet takes bounded memory, and fields after a body are no headers.

uvicorn collects a head without a limit, adds trailers to the headers, queues every request that a client sends before it has its answers, and
tells only the last of these that the client hung up.
"""

from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from gateway.doors.request_limits import MAX_HEADERS

MAX_UNFINISHED_BYTES: Final = 256 * 1024
"""Bytes that may arrive without an end of the head, a piece of the body or the end of the request: eight times the largest head, so that one
that is only too large gets an answer that says so. Framing of chunks and trailers counts too."""
MOST_WAITING: Final = 100
"""Requests that may wait on one connection for the answers to those before them. No AWS client sends one before it has its answer."""


class _TooMuch(Exception):
    """The client sends more than may wait. httptools passes it on as an error of the parser, and uvicorn then refuses the connection."""


class BoundedProtocol(HttpToolsProtocol):
    """One connection."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._in_head = False
        self._unfinished = 0
        self._served: RequestResponseCycle | None = None

    @property
    def owes_an_answer(self) -> bool:
        """Whether a request is being served: what is written now would stand in its answer."""
        return self._served is not None and not self._served.response_complete

    def data_received(self, data: bytes) -> None:
        """Parse what arrived, and close the connection if it goes on and on without getting anywhere."""
        self._unfinished += len(data)
        super().data_received(data)
        if self._unfinished > MAX_UNFINISHED_BYTES and not self.transport.is_closing():
            self.send_400_response("Invalid HTTP request received.")

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell the request that is being served too, which uvicorn does not if others wait behind it; those are not served any more."""
        if self._served is not None and self.owes_an_answer:
            self._served.disconnected = True
            self._served.message_event.set()
        self.pipeline.clear()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Refuse the connection. While an answer is owed, only close it: the client would take the refusal for a part of that answer."""
        if not self.owes_an_answer:
            super().send_400_response(msg)
        else:
            self.transport.close()

    def on_message_begin(self) -> None:
        """Begin a request."""
        super().on_message_begin()
        self._in_head = True

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a field of the head. One more than may be is kept, for `request_limits` to refuse. Trailers are dropped (RFC 9110 6.5.1)."""
        if self._in_head and len(self.headers) <= MAX_HEADERS:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Serve the request, or have it wait for those before it. Reading goes on, because a client that hangs up is noticed by nothing else."""
        self._in_head = False
        self._unfinished = 0
        if len(self.pipeline) >= MOST_WAITING:
            raise _TooMuch
        super().on_headers_complete()
        if self.pipeline:
            self.flow.resume_reading()

    def on_body(self, body: bytes) -> None:
        """Pass a piece of the body on."""
        self._unfinished = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is complete."""
        self._unfinished = 0
        super().on_message_complete()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._served = cycle
        super()._start_asgi_task(cycle, app)
