"""The addresses of an identity provider: how they are asked, what its metadata says (OpenID Connect Discovery 1.0), and for how long its documents count."""

import asyncio
import base64
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Generic, TypeVar
from urllib.parse import quote_plus, urlencode, urlsplit

from gateway.core.errors import IdentityProviderUnusable
from gateway.core.off_loop import off_loop
from gateway.core.outbound.client import OutboundClient
from gateway.core.outbound.response import OutboundFailure, ResponseTooLong
from gateway.core.ports import Clock
from gateway.core.settings.console import is_loopback_url, require_secure_url

_SECONDS: Final = 10.0
_MOST_BYTES: Final = 256 * 1024
_REDIRECTS: Final = range(300, 400)
_POST: Final = "client_secret_post"
_NEEDED: Final = ("authorization_endpoint", "token_endpoint", "jwks_uri")
CACHED_FOR: Final = timedelta(minutes=10)
"""How long a document is kept. A key that the provider withdrew counts for no longer."""
INTERVAL: Final = timedelta(seconds=10)
"""Least time between two fetches, also after a failure, however many ask."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderAnswer:
    """What the provider answered: an object of JSON."""

    status: int
    document: Mapping[str, Any]


class OidcEndpoints:
    """The provider's addresses."""

    def __init__(self, *, seconds: float = _SECONDS) -> None:
        """`seconds` is for the whole answer, from the look-up of the host to the last byte."""
        self._client = OutboundClient(seconds=seconds, most_bytes=_MOST_BYTES)

    async def get(self, url: str, *, bearer: str = "") -> ProviderAnswer:
        """The answer to GET. Raises `errors.IdentityProviderUnusable`."""
        return await self._ask("GET", url, {"authorization": f"Bearer {bearer}"} if bearer else {})

    async def post(self, url: str, form: Mapping[str, str], *, basic: tuple[str, str] | None = None) -> ProviderAnswer:
        """The answer to a form. Raises `errors.IdentityProviderUnusable`."""
        headers = {"content-type": "application/x-www-form-urlencoded"}
        if basic:
            headers["authorization"] = _basic(*basic)
        return await self._ask("POST", url, headers, urlencode(form).encode())

    async def _ask(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> ProviderAnswer:
        host, given = urlsplit(url).hostname, {"accept": "application/json", **headers}
        try:
            reply = await self._client.request(method, url, headers=given, body=body)
        except ResponseTooLong as error:
            raise _unusable(f"{host} answered {error}") from None
        except OutboundFailure as error:
            raise _unusable(f"{host} did not answer ({error})") from None
        if reply.status in _REDIRECTS:
            raise _unusable(f"{host} answered with a redirect ({reply.status}), which is not followed")
        document = await off_loop(len(reply.body), reply.document)
        if not isinstance(document, dict):
            raise _unusable(f"{host} answered {reply.status} without an object of JSON")
        return ProviderAnswer(status=reply.status, document=document)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderMetadata:
    """Where the provider is asked, and how."""

    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str
    """Empty if there is none."""
    names_issuer: bool
    """Whether each of its answers names the issuer (RFC 9207)."""
    secret_in_body: bool
    """Whether it takes the client's secret only in the body, not in the header."""


def metadata_url(issuer: str) -> str:
    """Where the issuer's document is."""
    return f"{issuer.removesuffix('/')}/.well-known/openid-configuration"


def provider_metadata(document: Mapping[str, Any], issuer: str) -> ProviderMetadata:
    """The document, checked. Raises `errors.IdentityProviderUnusable` if it is another issuer's or names an unsafe address."""
    if document.get("issuer") != issuer:
        raise IdentityProviderUnusable(
            "The identity provider's document names another issuer than the setting `console.oidc_issuer`, so nobody was signed in. "
            "Both must be the same to the last character, a slash at the end included."
        )
    for name in _NEEDED:
        _require_endpoint(document.get(name), name, issuer)
    userinfo = document.get("userinfo_endpoint", "")
    if userinfo:
        _require_endpoint(userinfo, "userinfo_endpoint", issuer)
    methods = document.get("token_endpoint_auth_methods_supported")
    return ProviderMetadata(
        authorization_endpoint=document["authorization_endpoint"],
        token_endpoint=document["token_endpoint"],
        jwks_uri=document["jwks_uri"],
        userinfo_endpoint=userinfo,
        names_issuer=document.get("authorization_response_iss_parameter_supported") is True,
        secret_in_body=isinstance(methods, list) and "client_secret_basic" not in methods and _POST in methods,
    )


@dataclass(slots=True)
class CachedDocument(Generic[T]):
    """The document, and when it was fetched."""

    clock: Clock
    fetch: Callable[[], Awaitable[T]]
    """Raises `errors.IdentityProviderUnusable`."""
    _value: T | None = None
    _problem: str = ""
    _at: datetime | None = None
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def read(self, *, newer: bool = False) -> T:
        """The document; with `newer` one that was fetched after the last answer, unless that was just now.

        Raises `errors.IdentityProviderUnusable`, also if the last fetch failed just now.
        """
        async with self._turn:
            if self._age_over(INTERVAL if newer or self._value is None else CACHED_FOR):
                await self._renew()
            if self._value is None:
                raise IdentityProviderUnusable(self._problem)
            return self._value

    def _age_over(self, most: timedelta) -> bool:
        """A clock that was set back makes it old, never young for longer."""
        return self._at is None or not timedelta() <= self.clock.now() - self._at <= most

    async def _renew(self) -> None:
        """Only an answer and a failure of the provider are kept: a fetch that was broken off says nothing."""
        self._value, self._at = None, None
        try:
            self._value = await self.fetch()
        except IdentityProviderUnusable as error:
            self._problem = str(error)
        self._at = self.clock.now()


def _require_endpoint(url: object, name: str, issuer: str) -> None:
    """Only an issuer on this machine may name addresses of this machine: no other one makes the gateway ask its own host."""
    try:
        require_secure_url(url if isinstance(url, str) else "", loopback=is_loopback_url(issuer))
    except ValueError:
        raise IdentityProviderUnusable(
            f"The identity provider's document names no usable `{name}`, so nobody was signed in. It must be an https URL."
        ) from None


def _basic(client: str, secret: str) -> str:
    """The header of RFC 6749 section 2.3.1, which encodes both as a form does."""
    pair = f"{quote_plus(client)}:{quote_plus(secret)}"
    return f"Basic {base64.b64encode(pair.encode()).decode()}"


def _unusable(what: str) -> IdentityProviderUnusable:
    return IdentityProviderUnusable(
        f"The identity provider's {what}, so nobody was signed in. Sign in again in a minute, or with a key."
    )
