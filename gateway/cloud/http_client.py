"""The HTTP client towards AWS: one attempt, no redirect, no proxy, nothing of the environment, bytes as they are."""

from collections.abc import Sequence
from dataclasses import dataclass

import aiohttp
from multidict import CIMultiDict
from yarl import URL

MAX_REPLY_BYTES = 8 * 1024 * 1024
"""The longest reply to a mutation that is kept. AWS's replies to changes are far shorter (Lambda's, the longest, end at 6 MB)."""
IDLE_SECONDS = 8.0
"""How long an idle connection is kept. AWS closes idle connections after about 20 s; a request sent into a closing one is in doubt, so we go first."""
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
"""Headers that concern one connection only (RFC 9110 section 7.6.1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpResponse:
    """A whole reply."""

    status: int
    headers: tuple[tuple[str, str], ...]
    """As received (latin-1 text), hop-by-hop fields removed."""
    body: bytes

    def header(self, name: str) -> str:
        """The value of a header by its lower-case name; empty where it is absent."""
        return next((value for key, value in self.headers if key.lower() == name), "")


class NotSent(Exception):
    """No connection came about, so not one byte of the request left."""


class NoAnswer(Exception):
    """Bytes may have left, and no whole answer came."""


class Client:
    """A pool of connections. Made once; `close` when done. The session is made at first use, inside the running loop."""

    def __init__(self, *, connect_seconds: float, reply_seconds: float) -> None:
        self._connect_seconds = connect_seconds
        self._reply_seconds = reply_seconds
        self._made: aiohttp.ClientSession | None = None

    @property
    def session(self) -> aiohttp.ClientSession:
        """The aiohttp session."""
        if self._made is None:
            self._made = aiohttp.ClientSession(
                auto_decompress=False,
                cookie_jar=aiohttp.DummyCookieJar(),
                skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=IDLE_SECONDS),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._connect_seconds),
                trust_env=False,
                requote_redirect_url=False,
            )
            # aiohttp sends PUT, DELETE and GET again when a kept-alive connection breaks. The switch is private; a test breaks a connection.
            self._made._retry_connection = False  # noqa: SLF001  there is no public way
        return self._made

    async def close(self) -> None:
        """Close all connections."""
        if self._made is not None:
            await self._made.close()
            self._made = None

    async def once(self, *, method: str, url: str, headers: Sequence[tuple[str, str]], body: bytes) -> HttpResponse:
        """Send one request once and read the whole reply.

        Raises `NotSent` only where no connection came about (refused, no such host, TLS refused, connect time-out), else `NoAnswer`.
        """
        try:
            async with self.session.request(
                method,
                URL(url, encoded=True),
                headers=CIMultiDict(headers),
                data=body or None,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=self._reply_seconds, sock_connect=self._connect_seconds),
            ) as response:
                return HttpResponse(
                    status=response.status, headers=text_headers(response.raw_headers), body=await _capped(response)
                )
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            # Both are raised by the connector alone, before aiohttp writes the first byte of a request (aiohttp/client.py).
            raise NotSent(type(error).__name__) from error
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError, RecursionError) as error:
            raise NoAnswer(type(error).__name__) from error


async def _capped(response: aiohttp.ClientResponse) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for part in response.content.iter_any():
        size += len(part)
        if size > MAX_REPLY_BYTES:
            raise NoAnswer(f"the reply is longer than {MAX_REPLY_BYTES} bytes")
        parts.append(part)
    return b"".join(parts)


def text_headers(raw: Sequence[tuple[bytes, bytes]]) -> tuple[tuple[str, str], ...]:
    """Raw reply headers as latin-1 text, without the hop-by-hop ones."""
    pairs = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in raw)
    return tuple((name, value) for name, value in pairs if name.lower() not in HOP_BY_HOP)
