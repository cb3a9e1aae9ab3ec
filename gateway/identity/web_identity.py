"""Verifies the tokens with which workloads assume a role without a key: GitHub Actions, service accounts of Kubernetes, a company's login."""

import asyncio
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

from gateway.core.errors import IdentityProviderUnusable, NotAllowed, NotAuthenticated, Overloaded
from gateway.core.ports import Clock
from gateway.core.settings.console import is_loopback_url, require_secure_url
from gateway.core.settings.roles import RoleSettings
from gateway.identity.oidc_endpoints import CachedDocument, OidcEndpoints, ProviderAnswer, metadata_url
from gateway.identity.roles import matches, unknown_role

LONGEST_TOKEN: Final = 20_000
"""Characters; AWS's own limit."""
_LONGEST_SUBJECT: Final = 1_000
MOST_AT_ONCE: Final = 32
"""Tokens that are verified at the same time."""
_OK: Final = 200
AWS_TAGS: Final = "https://aws.amazon.com/tags"
"""The claim in which a token states session tags, as AWS reads it."""


class WebIdentities:
    """The providers of the settings' roles. No other one is asked."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._endpoints = OidcEndpoints()
        self._keys: dict[str, CachedDocument[Mapping[str, Any]]] = {}
        self._asking = asyncio.Semaphore(MOST_AT_ONCE)

    async def claims(self, role: RoleSettings, token: str, *, asked: str) -> Mapping[str, Any]:
        """The claims of a token that may assume this role, which was asked for as `asked`.

        Raises `errors.NotAuthenticated`, `errors.NotAllowed` if the role is for others, `errors.IdentityProviderUnusable`, `errors.Overloaded`.
        """
        identity = role.web_identity
        if identity is None:
            raise unknown_role(asked)
        if len(token) > LONGEST_TOKEN:
            raise NotAuthenticated(
                f"The token has more than {LONGEST_TOKEN} characters. No key was made.", aws_code="InvalidIdentityToken"
            )
        if self._asking.locked():
            raise Overloaded("Too many tokens are verified at this moment. No key was made; try again.")
        async with self._asking:
            claims = await self._verified(identity.issuer, identity.audiences, token)
        subject = claims.get("sub")
        if not isinstance(subject, str) or len(subject) > _LONGEST_SUBJECT or not matches(subject, identity.subjects):
            raise unknown_role(asked)
        return claims

    async def _verified(self, issuer: str, audiences: tuple[str, ...], token: str) -> Mapping[str, Any]:
        reader: Any = await asyncio.to_thread(import_module, "gateway.identity.id_token")
        document = self._keys.setdefault(issuer, CachedDocument(self._clock, lambda: self._fetched_keys(issuer)))
        try:
            keys = await document.read()
            if not reader.has_key(token, keys):
                keys = await document.read(newer=True)
            claims: Mapping[str, Any] = reader.verified_claims(
                token, keys, issuer=issuer, audiences=audiences, nonce=None
            )
        except reader.TokenRefused as refused:
            raise NotAuthenticated(
                f"The web identity's token was not taken: {refused.why}. No key was made.",
                aws_code="ExpiredTokenException" if refused.expired else "InvalidIdentityToken",
            ) from None
        return claims

    async def _fetched_keys(self, issuer: str) -> Mapping[str, Any]:
        """The provider's keys, where its document says they are: of that document nothing else is needed."""
        document = _found(await self._endpoints.get(metadata_url(issuer)), "document")
        if document.get("issuer") != issuer:
            raise IdentityProviderUnusable(
                "The identity provider's document names another issuer than the role's `web_identity.issuer`, so no key was made. Both must be "
                "the same to the last character."
            )
        url = document.get("jwks_uri")
        try:
            require_secure_url(url if isinstance(url, str) else "", loopback=is_loopback_url(issuer))
        except ValueError:
            raise IdentityProviderUnusable(
                "The identity provider's document names no usable `jwks_uri`, so no key was made. It must be an https URL."
            ) from None
        return _found(await self._endpoints.get(str(url)), "keys")


def principal_tags(claims: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The session tags that a token states. Raises `errors.NotAllowed` for a claim of another form, which would lose the motive."""
    given = claims.get(AWS_TAGS)
    if given is None:
        return []
    tags = given.get("principal_tags", {}) if isinstance(given, dict) else None
    if not isinstance(tags, dict):
        raise _odd_tags()
    found = []
    for name, values in tags.items():
        value = values[0] if isinstance(values, list) and len(values) == 1 else values
        if not isinstance(value, str):
            raise _odd_tags()
        found.append((str(name), value))
    return found


def _odd_tags() -> NotAllowed:
    return NotAllowed(
        f"The token's claim `{AWS_TAGS}` is not of the form that AWS reads: `principal_tags` with a list of one text for each tag. No key was made."
    )


def _found(answer: ProviderAnswer, what: str) -> Mapping[str, Any]:
    if answer.status != _OK:
        raise IdentityProviderUnusable(
            f"The identity provider answered {answer.status} when it was asked for its {what}, so no key was made."
        )
    return answer.document
