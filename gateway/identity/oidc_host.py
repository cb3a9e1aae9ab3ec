"""Asks an identity provider over HTTP: with a limit on time and size, without redirects, proxies or cookies, and once."""

import asyncio
import base64
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote_plus, urlsplit

import aiohttp
import msgspec

from gateway.core.errors import IdentityProviderUnusable
from gateway.core.off_loop import off_loop
from gateway.identity.oidc import ProviderAnswer

_SECONDS: Final = 10.0
_MOST_BYTES: Final = 256 * 1024
_REDIRECTS: Final = range(300, 400)


class OidcEndpoints:
    """The provider's addresses. A sign-in is rare, so each request has a connection of its own."""

    def __init__(self, *, seconds: float = _SECONDS, most_bytes: int = _MOST_BYTES) -> None:
        """`seconds` is for the whole answer, from the look-up of the host to the last byte."""
        self._seconds = seconds
        self._most_bytes = most_bytes

    async def get(self, url: str, *, bearer: str = "") -> ProviderAnswer:
        """The answer to GET. Raises `errors.IdentityProviderUnusable`."""
        return await self._ask("GET", url, {"authorization": f"Bearer {bearer}"} if bearer else {}, None)

    async def post(self, url: str, form: Mapping[str, str], *, basic: tuple[str, str] | None = None) -> ProviderAnswer:
        """The answer to a form. Raises `errors.IdentityProviderUnusable`."""
        return await self._ask("POST", url, {"authorization": _basic(*basic)} if basic else {}, form)

    async def _ask(
        self, method: str, url: str, headers: Mapping[str, str], form: Mapping[str, str] | None
    ) -> ProviderAnswer:
        host = urlsplit(url).hostname
        try:
            async with asyncio.timeout(self._seconds):
                status, content = await self._answered(method, url, headers, form)
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            raise _unusable(f"{host} did not answer ({type(error).__name__})") from None
        if status in _REDIRECTS:
            raise _unusable(f"{host} answered with a redirect ({status}), which is not followed")
        try:
            document = await off_loop(len(content), lambda: msgspec.json.decode(content))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            document = None
        if not isinstance(document, dict):
            raise _unusable(f"{host} answered {status} without an object of JSON")
        return ProviderAnswer(status=status, document=document)

    async def _answered(
        self, method: str, url: str, headers: Mapping[str, str], form: Mapping[str, str] | None
    ) -> tuple[int, bytes]:
        # An answer that is packed could grow without end, so none is asked for, and none is unpacked.
        given = {"accept": "application/json", "accept-encoding": "identity", **headers}
        options: dict[str, Any] = {"cookie_jar": aiohttp.DummyCookieJar(), "auto_decompress": False}
        async with (
            aiohttp.ClientSession(**options) as session,
            session.request(method, url, headers=given, data=form, allow_redirects=False) as reply,
        ):
            parts, size = [], 0
            async for part in reply.content.iter_any():
                size += len(part)
                if size > self._most_bytes:
                    raise _unusable(f"{urlsplit(url).hostname} answered more than {self._most_bytes} bytes")
                parts.append(part)
            return reply.status, b"".join(parts)


def _basic(client: str, secret: str) -> str:
    """The header of RFC 6749 section 2.3.1, which encodes both as a form does."""
    pair = f"{quote_plus(client)}:{quote_plus(secret)}"
    return f"Basic {base64.b64encode(pair.encode()).decode()}"


def _unusable(what: str) -> IdentityProviderUnusable:
    return IdentityProviderUnusable(
        f"The identity provider's {what}, so nobody was signed in. Sign in again in a minute, or with a key."
    )
