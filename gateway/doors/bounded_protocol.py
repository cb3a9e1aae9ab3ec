"""uvicorn's HTTP protocol within bounds: what no application has seen yet takes bounded memory, and fields after a body are no headers.

uvicorn collects a head without a limit, adds trailers to the headers, queues every request that a client sends before it has its answers, and
tells only the last of these that the client hung up. It takes the body of a request that asks for another protocol (`Upgrade`) for the next request.
"""

import asyncio
from collections import deque
from itertools import chain, count
from typing import Any, ClassVar, Final
from urllib.parse import unquote

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from gateway.doors.cycle import Cycle
from gateway.doors.request_limits import MAX_HEADERS

MAX_UNFINISHED_BYTES: Final = 256 * 1024
"""Bytes that may arrive without an end of the head, a piece of the body or the end of the request: eight times the largest head, so that one
that is only too large gets an answer that says so. Framing of chunks and trailers counts too."""
MOST_WAITING: Final = 100
"""Requests that may wait on one connection for the answers to those before them. No AWS client sends one before it has its answer."""
MOST_HELD: Final = 1024 * 1024
"""Bytes of these requests together. Reading pauses while the body of one is large, so that of a client in order is not reached."""


_FRAMING: Final = frozenset({b"content-length", b"transfer-encoding"})
"""Headers that announce a body."""
_NO_UPGRADE: Final = (
    "This server speaks HTTP/1.1 only, so a request with a body must not ask for another protocol with Upgrade. Nothing was sent. "
    "Tell the client to use HTTP/1.1; in Java it is HttpClient.Version.HTTP_1_1."
)
_INVALID: Final = "Invalid HTTP request received."
_CLOSED_AT_ONCE: Final = 16
"""Of so many connections one is closed when there are too many, so that a flood of new ones costs each of them little."""
_FULL: Final = "This gateway serves as many connections as it may have. Nothing was sent to AWS. Try again in a second."
_RESPONSE_503: Final = (
    "HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain; charset=utf-8\r\nconnection: close\r\nretry-after: 1\r\n"
    f"content-length: {len(_FULL)}\r\n\r\n{_FULL}"
).encode("ascii")
_NUMBERS: Final = count()
_QUIET_SECONDS: Final = 60.0
"""How seldom a process says that it closes connections: a flood must not fill the log, too."""


class _Refused(Exception):
    """The connection cannot go on. httptools passes it on as an error of the parser, and the connection is then refused."""


class BoundedProtocol(HttpToolsProtocol):
    """One connection, of at most `uvicorn.Config(limit_concurrency=…)`. Where there are more, those that are owed no answer are closed."""

    cycle: Cycle | None  # type: ignore[assignment]  # uvicorn has a cycle of its own
    pipeline: deque[Cycle]  # type: ignore[assignment]
    scope: Any  # uvicorn's type knows no members but its own
    quiet_until: ClassVar = 0.0
    """When the process may say again that it closes connections, by the event loop's clock."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._number = next(_NUMBERS)
        """Greater than that of each earlier connection."""
        self._in_request = False
        """Whether a part of a request is still to come."""
        self._in_head = False
        """Whether a part of its head is."""
        self._stage = 0
        """Counts on with each head, each body and each end that began."""
        self._body_bytes = 0
        self._unfinished = 0
        self._reason = ""
        """Why the connection is refused, where more can be said than that its bytes are no HTTP."""
        self._held = 0
        """Bytes of all requests that wait."""
        self._served: Cycle | None = None
        self._taking: Cycle | None = None
        """The request whose body arrives."""

    @property
    def owes_an_answer(self) -> bool:
        """Whether a request is being served: what is written now would stand in its answer."""
        return self._served is not None and not self._served.response_complete

    def precedence(self) -> tuple[bool, int]:
        """Of connections that are owed no answer, the one with the least is closed first."""
        return self._served is not None, self._number

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn declares it
        """Begin, or answer with 503 if there are too many connections, and each of the others is owed an answer."""
        super().connection_made(transport)
        most = self.limit_concurrency
        if most is not None and len(self.connections) > most and not self._make_room():
            transport.write(_RESPONSE_503)
            transport.close()

    def _make_room(self) -> bool:
        """Close connections that are owed no answer, the oldest first of those that never had one, then of the others; whether there was one.

        So strangers that send nothing go before callers, and who has just connected has the time to send a request.
        """
        others = (each for each in self.connections if isinstance(each, BoundedProtocol) and each is not self)
        resting = sorted((each for each in others if not each.owes_an_answer), key=BoundedProtocol.precedence)
        closed = resting[: len(self.connections) // _CLOSED_AT_ONCE + 1]
        for each in closed:
            self.connections.discard(each)  # the next one of this round of the event loop counts it no more
            each.transport.abort()
        if closed and (now := self.loop.time()) >= BoundedProtocol.quiet_until:
            BoundedProtocol.quiet_until = now + _QUIET_SECONDS
            self.logger.warning(
                "There are more than %s connections; those that are owed no answer are closed for new ones.",
                self.limit_concurrency,
            )
        return bool(closed)

    def data_received(self, data: bytes) -> None:
        """Parse what arrived, and close the connection if it goes on and on without getting anywhere."""
        self._unfinished += len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserError:
            self.logger.warning(_INVALID)
            self.send_400_response(_INVALID)
            return
        except httptools.HttpParserUpgrade:
            # No door has another protocol, so such a request is answered as any other. Nothing is logged: every stranger can ask.
            pass
        if self._unfinished > MAX_UNFINISHED_BYTES and not self.transport.is_closing():
            self.send_400_response(_INVALID)

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell the request that is being served, which uvicorn does not if others wait behind it; those are not served any more."""
        if self._served is not None:
            self._served.leave()
        self.pipeline.clear()
        self.cycle = self._served = self._taking = None
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Refuse the connection. While an answer is owed, only close it: the client would take the refusal for a part of that answer."""
        if not self.owes_an_answer:
            super().send_400_response(self._reason or msg)
        else:
            self.transport.close()

    def on_message_begin(self) -> None:
        """Begin a request."""
        self.url = b""
        self.expect_100_continue = False
        self.headers = []
        self.scope = {
            "type": "http",
            "asgi": {"version": self.asgi_version, "spec_version": "2.3"},
            "http_version": "1.1",
            "server": self.server,
            "client": self.client,
            "scheme": self.scheme,
            "root_path": self.root_path,
            "headers": self.headers,
        }
        self._in_request = self._in_head = True
        self._stage += 1

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a field of the head. One more than may be is kept, for `request_limits` to refuse. Trailers are dropped (RFC 9110 6.5.1)."""
        if self._in_head and len(self.headers) <= MAX_HEADERS:
            name = name.lower()
            if name == b"expect" and value.lower() == b"100-continue":
                self.expect_100_continue = True
            self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Serve the request, or have it wait for those before it, as uvicorn does, with a cycle of our own.

        Reading goes on, because a client that hangs up is noticed by nothing else.
        """
        self._in_head = False
        self._stage += 1
        self._body_bytes = self._unfinished = 0
        if len(self.pipeline) >= MOST_WAITING:
            raise _Refused
        parser, scope = self.parser, self.scope
        version = parser.get_http_version()
        scope["method"] = parser.get_method().decode("ascii")
        if version != "1.1":
            scope["http_version"] = version
        upgrades = parser.should_upgrade()
        if upgrades and any(name in _FRAMING and value != b"0" for name, value in self.headers):
            self._reason = _NO_UPGRADE
            raise _Refused
        url = httptools.parse_url(self.url)
        raw_path = url.path
        path = raw_path.decode("ascii")
        scope["path"] = self.root_path + (unquote(path) if "%" in path else path)
        scope["raw_path"] = self.root_path.encode("ascii") + raw_path if self.root_path else raw_path
        scope["query_string"] = url.query or b""
        before = self.cycle
        self.cycle = self._taking = Cycle(
            scope,
            self.transport,
            self.flow,
            self.server_state.default_headers,
            self.expect_100_continue,
            # httptools parses nothing behind a head that asks for another protocol, so nobody knows where a next request would begin.
            version != "1.0" and not upgrades and parser.should_keep_alive(),
            self.on_response_complete,
            self.tasks,
        )
        if before is None or before.response_complete:
            self._serve(self.cycle)
        else:
            self.pipeline.appendleft(self.cycle)
            self._hold(self.cycle, len(self.url) + sum(map(len, chain.from_iterable(self.headers))))

    def on_body(self, body: bytes) -> None:
        """Pass a piece of the body on, unless the request has its answer already."""
        self._unfinished = 0
        self._body_bytes += len(body)
        taking = self._taking
        if taking is not None and not taking.response_complete:
            if taking is not self._served:
                self._hold(taking, len(body))
            taking.take(body)

    def on_message_complete(self) -> None:
        """The request is complete."""
        self._unfinished = 0
        self._in_request = False
        self._stage += 1
        taking = self._taking
        if taking is not None and not taking.response_complete:
            taking.end()

    def on_response_complete(self) -> None:
        """As uvicorn: serve what waits, or else rest."""
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        if self.flow.read_paused:
            self.flow.resume_reading()
        if self.pipeline:
            cycle = self.pipeline.pop()
            self._held -= cycle.held
            self._serve(cycle)
        else:
            self._rest()

    def _rest(self) -> None:
        """Nothing waits: the connection is idle until more arrives."""

    def _hold(self, cycle: Cycle, size: int) -> None:
        """Note that a request that waits has so many bytes more. Raises `_Refused`, which ends the connection, if all have too many."""
        cycle.held += size
        self._held += size
        if self._held > MOST_HELD:
            raise _Refused

    def _serve(self, cycle: Cycle) -> None:
        self._served = cycle
        cycle.start(self.loop, self.app)
