"""Carries out a request of the outbound client with aiohttp. Imported when the first request is sent."""

import asyncio
import socket
from collections.abc import Mapping, Sequence

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver
from yarl import URL

from gateway.core.outbound.addresses import Network, is_address, require_allowed
from gateway.core.outbound.client import OutboundClient
from gateway.core.outbound.response import (
    AddressRefused,
    HttpResponse,
    NoAnswer,
    NotSent,
    ResponseOverdue,
    whole_response,
)

_NOT_CONNECTED = (
    aiohttp.ClientConnectorError,
    aiohttp.ConnectionTimeoutError,
    aiohttp.ClientHttpProxyError,
    aiohttp.InvalidURL,
)


class GuardedResolver(AbstractResolver):
    """Resolves names, and refuses those that lead to an address that is not allowed. The address that was checked is the one that is connected to:
    a name that resolves to something else a moment later changes nothing.
    """

    def __init__(self, networks: Sequence[Network], *, secure: bool) -> None:
        """As for `require_allowed`."""
        self._networks = networks
        self._secure = secure
        self._inner = ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """The addresses of a host. Raises `AddressRefused` if one of them is not allowed, `OSError` if there are none."""
        found = await self._inner.resolve(host, port, family)
        for each in found:
            require_allowed(each["host"], self._networks, secure=self._secure)
        return found

    async def close(self) -> None:
        """Nothing is open."""
        await self._inner.close()


async def exchange(
    client: OutboundClient, method: str, url: str, *, headers: Mapping[str, str], body: bytes | None, proxy: str
) -> HttpResponse:
    """The response to one request. Raises as `OutboundClient.request`."""
    target = _address(url)
    _check_literal(client, target)
    try:
        async with asyncio.timeout(client.seconds), _session(client, target) as session:
            given = headers if client.unpack else {"Accept-Encoding": "identity", **headers}
            async with session.request(
                method, target, headers=given, data=body, allow_redirects=False, proxy=proxy or None
            ) as reply:
                return await _response(client, reply)
    except _NOT_CONNECTED as error:
        refused = getattr(error, "os_error", None)
        raise refused if isinstance(refused, AddressRefused) else NotSent(type(error).__name__) from None
    except TimeoutError as error:
        raise ResponseOverdue(type(error).__name__) from None
    except (aiohttp.ClientError, OSError, ValueError) as error:
        raise NoAnswer(type(error).__name__) from None


def _address(url: str) -> URL:
    """The URL as it is sent. Raises `NotSent` for what is not a URL, or holds a character that a request line must not."""
    if not url.isascii() or not url.isprintable() or " " in url:
        raise NotSent("InvalidURL")
    try:
        target = URL(url, encoded=True)
        usable = bool(target.host and target.port)
    except ValueError:
        usable = False
    if not usable:
        raise NotSent("InvalidURL")
    return target


def _check_literal(client: OutboundClient, target: URL) -> None:
    """Raise `AddressRefused` for a host that is an address, which nobody resolves, and not an allowed one."""
    host = target.host or ""
    if client.networks is not None and is_address(host):
        require_allowed(host, client.networks, secure=target.scheme == "https")


def _session(client: OutboundClient, target: URL) -> aiohttp.ClientSession:
    resolver = None
    if client.networks is not None:
        resolver = GuardedResolver(client.networks, secure=target.scheme == "https")
    session = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(resolver=resolver, use_dns_cache=False, force_close=True),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=client.connect_seconds),
        auto_decompress=client.unpack,
        trust_env=False,
    )
    session._retry_connection = False  # noqa: SLF001  aiohttp would send a GET twice, and has no other switch for it
    return session


async def _response(client: OutboundClient, reply: aiohttp.ClientResponse) -> HttpResponse:
    head = HttpResponse(status=reply.status, headers=tuple(reply.headers.items()), body=b"")
    try:
        return await whole_response(head, reply.content.iter_any(), client.most_bytes) if client.most_bytes else head
    finally:
        reply.close()  # a response without an end is not waited for
