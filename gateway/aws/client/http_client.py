"""The HTTP client for AWS: one attempt per request, no redirects, no proxy, no environment variables, no decompression."""

import asyncio
import re
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Sequence
from functools import lru_cache, partial
from urllib.parse import urlsplit

from gateway.aws.client.connection import Connection
from gateway.aws.client.http_reply import HttpReply
from gateway.core.outbound.response import HttpResponse, NoAnswer, NotSent, ResponseTooLong, whole_response

_WITHOUT_LENGTH = frozenset({"GET", "HEAD"})
"""Methods that state no length of an empty body."""
_TARGET = re.compile(r"/[!-~]*")
_METHOD = re.compile(r"[A-Z]{1,10}")
_LENGTH = "content-length"


def head_bytes(
    method: str, origin: str, target: str, headers: Sequence[tuple[str, str]], body: bytes | AsyncIterator[bytes]
) -> bytes:
    """The request line and the headers, with `host` and the framing of the body where `headers` do not state them.

    Names are lower-case. Raises `ValueError` for a line break in a header, or a method or target that is not one.
    """
    if _METHOD.fullmatch(method) is None or _TARGET.fullmatch(target) is None:
        raise ValueError("the method or the target is not one of HTTP")
    lines = [f"{name}: {value}" for name, value in headers]
    names = dict(headers)
    if "host" not in names:
        lines.append(f"host: {origin.partition('//')[2]}")
    if _LENGTH not in names:
        if not isinstance(body, bytes):
            lines.append("transfer-encoding: chunked")
        elif body or method not in _WITHOUT_LENGTH:
            lines.append(f"{_LENGTH}: {len(body)}")
    text = "\r\n".join((f"{method} {target} HTTP/1.1", *lines, "", ""))
    breaks = len(lines) + 2
    if text.count("\r") != breaks or text.count("\n") != breaks or "\0" in text:
        raise ValueError("a header has a line break")
    return text.encode("latin-1")


def is_chunked(headers: Sequence[tuple[str, str]]) -> bool:
    """Whether a body in pieces is sent in chunks, because no header states its length."""
    return all(name != _LENGTH for name, _ in headers)


async def in_pieces(body: bytes, size: int) -> AsyncIterator[bytes]:
    """A long body in pieces: written as one it would hold up the event loop."""
    for start in range(0, len(body), size):
        yield body[start : start + size]


MAX_REPLY_BYTES = 8 * 1024 * 1024
"""The longest reply to a mutation that is accepted. AWS's replies to changes are shorter (the longest are Lambda's, up to 6 MB)."""
_IN_ONE_PIECE = 256 * 1024
"""Bytes of a request body that are written at once."""
IDLE_SECONDS = 8.0
"""How long an idle connection is kept. AWS closes idle connections after about 20 s. A mutation sent on a connection that is being closed
is in doubt, so we close first.
"""
HOP_BY_HOP = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""Headers that apply to a single connection (RFC 9110 section 7.6.1)."""


class Client:
    """Connections to AWS, kept while they are in use. Created once; call `close` when done."""

    def __init__(self, *, connect_seconds: float, reply_seconds: float) -> None:
        self._connect_seconds = connect_seconds
        self._reply_seconds = reply_seconds
        self._idle: dict[str, list[Connection]] = {}
        self._open: set[Connection] = set()
        self._sweeper: asyncio.TimerHandle | None = None

    async def close(self) -> None:
        """Close all connections. Who still waits for a reply gets `NoAnswer`."""
        if self._sweeper is not None:
            self._sweeper.cancel()
            self._sweeper = None
        self._idle.clear()
        for connection in list(self._open):
            connection.close()

    async def open(
        self, *, method: str, url: str, headers: Sequence[tuple[str, str]], body: bytes | AsyncIterator[bytes]
    ) -> HttpReply:
        """Send one request once; return when the reply's head arrives. Origin and target of the URL are sent as they are.

        `reply_seconds` limits the time from the last byte of the request to the reply's head, and every wait for the next byte after that.
        Raises `NotSent` if no connection was established (refused, no such host, TLS failure, timeout) or the request cannot be written as
        HTTP, otherwise `NoAnswer`.
        """
        at = url.find("/", url.index("//") + 2)
        origin, target = url[:at], url[at:]
        try:
            head = head_bytes(method, origin, target, headers, body)
        except ValueError as error:
            raise NotSent(f"{type(error).__name__}: {error}") from error
        connection = self._reused(origin) or await self._connected(origin)
        whole = body if isinstance(body, bytes) and len(body) <= _IN_ONE_PIECE else b""
        reply = connection.send(head + whole, has_body=method != "HEAD")
        try:
            if whole or body == b"":
                await reply.arrive(self._reply_seconds)
                return reply
            if isinstance(body, bytes):
                writer = connection.send_parts(in_pieces(body, _IN_ONE_PIECE), chunked=False)
            else:
                writer = connection.send_parts(body, chunked=is_chunked(headers))
            arrival = await _sent(reply, writer)
            async with asyncio.timeout(self._reply_seconds):
                await arrival
        except TimeoutError as error:
            reply.abandon()
            raise NoAnswer("no reply in time") from error
        except BaseException:
            reply.abandon()
            raise
        return reply

    async def send_once(
        self, *, method: str, url: str, headers: Sequence[tuple[str, str]], body: bytes | AsyncIterator[bytes]
    ) -> HttpResponse:
        """Send one request once and read the complete reply. A body in pieces is ended only after its last piece: what it raises breaks off
        the connection.

        Raises `NotSent` if no byte was sent, otherwise `NoAnswer`.
        """
        reply = await self.open(method=method, url=url, headers=headers, body=body)
        head = HttpResponse(status=reply.status, headers=text_headers(reply.headers), body=b"")
        try:
            if not reply.complete:
                async with asyncio.timeout(self._reply_seconds):
                    return await whole_response(head, reply.parts(), MAX_REPLY_BYTES)
            content = reply.take()
        except TimeoutError as error:
            raise NoAnswer("no whole reply in time") from error
        finally:
            reply.abandon()
        if len(content) > MAX_REPLY_BYTES:
            raise ResponseTooLong(MAX_REPLY_BYTES, head)
        return HttpResponse(status=head.status, headers=head.headers, body=content)

    def _reused(self, origin: str) -> Connection | None:
        """An idle connection that is still open. One that died is dropped: no byte of this request was sent on it."""
        connections = self._idle.get(origin)
        while connections:
            connection = connections.pop()
            if connection.usable and time.monotonic() - connection.idle_since < IDLE_SECONDS:
                return connection
            connection.close()
        return None

    async def _connected(self, origin: str) -> Connection:
        """A new connection. Raises `NotSent`."""
        host, port, tls = _address(origin)
        try:
            async with asyncio.timeout(self._connect_seconds):
                _, connection = await asyncio.get_running_loop().create_connection(
                    lambda: self._new(origin), host, port, ssl=tls
                )
        except (OSError, TimeoutError, ValueError) as error:
            raise NotSent(type(error).__name__) from error
        if not connection.usable:
            connection.close()
            raise NotSent("the connection was closed as soon as it was open")
        self._open.add(connection)
        return connection

    def _new(self, origin: str) -> Connection:
        return Connection(
            idle=partial(self._keep, origin), lost=self._open.discard, silence_seconds=self._reply_seconds
        )

    def _keep(self, origin: str, connection: Connection) -> None:
        connection.idle_since = time.monotonic()
        self._idle.setdefault(origin, []).append(connection)
        if self._sweeper is None:
            self._sweeper = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._sweep)

    def _sweep(self) -> None:
        """Close what was idle for too long, and come back while there is more."""
        self._sweeper = None
        oldest = time.monotonic() - IDLE_SECONDS
        for origin, connections in list(self._idle.items()):
            for connection in [each for each in connections if each.idle_since <= oldest or not each.usable]:
                connections.remove(connection)
                connection.close()
            if not connections:
                del self._idle[origin]
        if self._idle:
            self._sweeper = asyncio.get_running_loop().call_later(IDLE_SECONDS / 4, self._sweep)


async def _sent(reply: HttpReply, writer: "asyncio.Task[None]") -> Awaitable[None]:
    """Wait until the body is sent, or the reply arrives before that. Returns what to wait for next: the head of the reply."""
    head = asyncio.ensure_future(reply.arrive())
    try:
        await asyncio.wait((head, writer), return_when=asyncio.FIRST_COMPLETED)
    except BaseException:
        head.cancel()
        raise
    return head


@lru_cache(maxsize=1024)
def _address(origin: str) -> tuple[str, int, ssl.SSLContext | None]:
    parts = urlsplit(origin)
    tls = _tls() if parts.scheme == "https" else None
    return parts.hostname or "", parts.port or (443 if tls else 80), tls


@lru_cache(maxsize=1)
def _tls() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


def text_headers(raw: Sequence[tuple[bytes, bytes]]) -> tuple[tuple[str, str], ...]:
    """HttpReply headers decoded as latin-1, without the hop-by-hop ones."""
    pairs = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in raw]
    return tuple([pair for pair in pairs if pair[0].lower() not in HOP_BY_HOP])
