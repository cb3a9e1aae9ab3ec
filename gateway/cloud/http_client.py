"""The HTTP client for AWS: one attempt per request, no redirects, no proxy, no environment variables, no decompression."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from io import BytesIO

import aiohttp
from multidict import CIMultiDict
from yarl import URL

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


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpResponse:
    """A complete reply."""

    status: int
    headers: tuple[tuple[str, str], ...]
    """As received (latin-1 text), hop-by-hop fields removed."""
    body: bytes

    def header(self, name: str) -> str:
        """The value of a header by its lower-case name; empty if it is absent."""
        return next((value for key, value in self.headers if key.lower() == name), "")


class NotSent(Exception):
    """No connection was established, so no byte of the request was sent."""


class NoAnswer(Exception):
    """Bytes may have been sent, and no complete reply arrived."""


class Client:
    """A pool of connections. Created once; call `close` when done. The aiohttp session is created at first use, inside the running loop."""

    def __init__(self, *, connect_seconds: float, reply_seconds: float) -> None:
        self._connect_seconds = connect_seconds
        self._reply_seconds = reply_seconds
        self._session: aiohttp.ClientSession | None = None

    @property
    def session(self) -> aiohttp.ClientSession:
        """The aiohttp session."""
        if self._session is None:
            self._session = aiohttp.ClientSession(
                auto_decompress=False,
                cookie_jar=aiohttp.DummyCookieJar(),
                skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=IDLE_SECONDS),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._connect_seconds),
                trust_env=False,
                requote_redirect_url=False,
            )
            # aiohttp resends PUT, DELETE and GET when a kept-alive connection breaks. This attribute is private, so a test checks its effect.
            self._session._retry_connection = False  # noqa: SLF001  there is no public way
        return self._session

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def open(
        self,
        *,
        method: str,
        url: str,
        headers: Sequence[tuple[str, str]],
        body: bytes | AsyncIterator[bytes],
        total_seconds: float | None = None,
    ) -> aiohttp.ClientResponse:
        """Send one request once; return when the reply's head arrives. The URL is sent as it is. Raises aiohttp's own exceptions.

        `total_seconds` limits the time until the whole reply is read; None: no limit. For a body in pieces it limits the time without
        a byte of the reply after the last piece.
        """
        streamed = not isinstance(body, bytes)
        return await self.session.request(
            method,
            URL(url, encoded=True),
            headers=CIMultiDict(headers),
            # aiohttp writes a stream in pieces; a large body in one piece would hold up the event loop.
            data=BytesIO(body) if isinstance(body, bytes) and len(body) > _IN_ONE_PIECE else body or None,
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(
                total=None if streamed else total_seconds,
                sock_connect=self._connect_seconds,
                sock_read=total_seconds if streamed else None,
            ),
        )

    async def send_once(
        self, *, method: str, url: str, headers: Sequence[tuple[str, str]], body: bytes | AsyncIterator[bytes]
    ) -> HttpResponse:
        """Send one request once and read the complete reply. A body in pieces is ended only after its last piece: what it raises breaks off
        the connection.

        Raises `NotSent` if no connection was established (refused, no such host, TLS failure, connect timeout), otherwise `NoAnswer`.
        """
        try:
            async with await self.open(
                method=method, url=url, headers=headers, body=body, total_seconds=self._reply_seconds
            ) as response:
                return HttpResponse(
                    status=response.status,
                    headers=text_headers(response.raw_headers),
                    body=await _read_up_to_limit(response),
                )
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            # Only the connector raises these two, before aiohttp writes the first byte of a request (aiohttp/client.py).
            raise NotSent(type(error).__name__) from error
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError, RecursionError) as error:
            raise NoAnswer(type(error).__name__) from error


async def _read_up_to_limit(response: aiohttp.ClientResponse) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for part in response.content.iter_any():
        size += len(part)
        if size > MAX_REPLY_BYTES:
            raise NoAnswer(f"the reply is longer than {MAX_REPLY_BYTES} bytes")
        parts.append(part)
    return b"".join(parts)


def text_headers(raw: Sequence[tuple[bytes, bytes]]) -> tuple[tuple[str, str], ...]:
    """Reply headers decoded as latin-1, without the hop-by-hop ones."""
    pairs = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in raw)
    return tuple((name, value) for name, value in pairs if name.lower() not in HOP_BY_HOP)
