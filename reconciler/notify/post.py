"""Sends one notice over HTTP: once, within a time, without redirects, and without reading what the receiver has to say."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

import aiohttp

from reconciler.notify.addresses import AddressRefused, GuardedResolver, Network, is_address, require_allowed

_TAKEN: Final = range(200, 300)
_MOVED: Final = range(300, 400)
_LONGEST_PAUSE: Final = 24 * 3600.0
_DIGITS: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class PostAnswer:
    """What the receiver answered; nothing of it is a text that the receiver wrote."""

    status: int = 0
    error: str = ""
    """A sentence; empty if it was taken."""
    retry_after: float = 0.0
    message: str = ""
    """Where a chat has what it took, as `CHANNEL/TIME`; empty elsewhere."""


class Post:
    """Sends to one receiver. Close it after use; it belongs to one event loop."""

    def __init__(self, url: str, *, networks: Sequence[Network], seconds: float) -> None:
        self._url = url
        self._networks = networks
        self._seconds = seconds
        parts = urlsplit(url)
        self._host, self._secure = parts.hostname or "", parts.scheme == "https"
        resolver = GuardedResolver(networks, secure=self._secure)
        # Connections are not kept: a receiver that leaves one half open would break the next notice.
        self._connector = aiohttp.TCPConnector(resolver=resolver, use_dns_cache=False, force_close=True)
        self._session = aiohttp.ClientSession(
            connector=self._connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=seconds),
            trust_env=False,
        )

    async def send(self, body: bytes, headers: Mapping[str, str], path: str = "") -> PostAnswer:
        """The answer to one POST, to the URL with this path after it. Never raises, and no text of it holds the URL, which may be a secret."""
        try:
            if is_address(self._host):
                require_allowed(self._host, self._networks, secure=self._secure)
            async with asyncio.timeout(self._seconds):
                return await self._sent(self._url + path, body, headers)
        except AddressRefused as error:
            return PostAnswer(error=str(error))
        except TimeoutError:
            return PostAnswer(error=f"It did not answer within {self._seconds:g} seconds.")
        except (aiohttp.ClientError, OSError, ValueError) as error:
            refused = getattr(error, "os_error", None)
            if isinstance(refused, AddressRefused):
                return PostAnswer(error=str(refused))
            return PostAnswer(error=f"It could not be reached, or its answer is not HTTP ({type(error).__name__}).")

    async def close(self) -> None:
        """Close what is open."""
        await self._session.close()

    async def _sent(self, url: str, body: bytes, headers: Mapping[str, str]) -> PostAnswer:
        reply = await self._session.post(url, data=body, headers=headers, allow_redirects=False)
        try:
            return await self._answer(reply)
        finally:
            reply.close()  # an answer without an end is not waited for

    async def _answer(self, reply: aiohttp.ClientResponse) -> PostAnswer:
        """What its head says; its body is not read."""
        return _answer_of(reply.status, reply.headers.get("Retry-After", ""))


def _answer_of(status: int, retry_after: str) -> PostAnswer:
    if status in _TAKEN:
        return PostAnswer(status=status)
    if status in _MOVED:
        return PostAnswer(status=status, error=f"It answered {status}; redirects are not followed.")
    known = retry_after.isascii() and retry_after.isdigit() and len(retry_after) <= _DIGITS
    wait = min(float(retry_after), _LONGEST_PAUSE) if known else 0.0
    return PostAnswer(status=status, error=f"It answered {status}.", retry_after=wait)
