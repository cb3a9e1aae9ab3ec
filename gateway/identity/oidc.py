"""Sign-in through an identity provider: the authorization code flow of OpenID Connect, with PKCE, and the attempt that binds it to one browser.

The provider of the settings is asked and no other.
"""

import asyncio
import base64
import binascii
import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import Any, Final, Self
from urllib.parse import urlencode

from gateway.core.errors import IdentityProviderUnusable, NotAuthenticated, Overloaded
from gateway.core.ports import Clock
from gateway.core.settings.console import ConsoleSettings
from gateway.identity.oidc_endpoints import (
    CachedDocument,
    OidcEndpoints,
    ProviderAnswer,
    ProviderMetadata,
    metadata_url,
    provider_metadata,
)

ATTEMPT_LASTS: Final = timedelta(minutes=10)
"""How long a person may take at the provider."""
_MOST_SPENT: Final = 100_000
"""Some 20 MB. Anyone can spend attempts, so there is an end to it; those who are signed in and keys do not need one."""
_REPEATED: Final = "This answer of the identity provider was used already, and counts once. Nobody was signed in by it again; sign in again."
MOST_AT_ONCE: Final = 32
"""Sign-ins for which the provider is asked at the same time."""
_OK: Final = 200
_LONGEST_CODE: Final = 4096
_LONGEST_NAME: Final = 200
_ERROR_CODE: Final = re.compile(r"[a-z_]{1,60}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInAttempt:
    """An attempt. State, nonce and verifier are derived from its id by the gateway's key, so the browser's cookie holds no secret, and every
    gateway on the ledger can complete what another one began.
    """

    id: str
    until: datetime
    wanted: str
    """The page of the console that the person goes to afterwards."""
    key: bytes = field(repr=False)

    @classmethod
    def begin(cls, key: bytes, now: datetime, wanted: str) -> Self:
        """A new attempt."""
        until = (now + ATTEMPT_LASTS).replace(microsecond=0)
        return cls(id=secrets.token_urlsafe(24), until=until, wanted=wanted, key=key)

    @classmethod
    def read(cls, key: bytes, text: str) -> Self | None:
        """The attempt that `text` wrote; None if it is another text. Only a sealed one may be given."""
        try:
            name, until, wanted = text.split(":")
            ends = datetime.fromtimestamp(int(until), UTC)
            return cls(id=name, until=ends, wanted=base64.urlsafe_b64decode(wanted).decode(), key=key)
        except (ValueError, OverflowError, OSError, binascii.Error):
            return None

    @property
    def text(self) -> str:
        """The attempt without its key, in characters that a cookie may have."""
        wanted = base64.urlsafe_b64encode(self.wanted.encode()).decode()
        return f"{self.id}:{int(self.until.timestamp())}:{wanted}"

    @property
    def state(self) -> str:
        """What the provider must send back (RFC 6749 section 10.12)."""
        return self._derived("state")

    @property
    def nonce(self) -> str:
        """What the ID token must hold."""
        return self._derived("nonce")

    @property
    def verifier(self) -> str:
        """What is shown to the provider with the code (RFC 7636)."""
        return self._derived("verifier")

    @property
    def challenge(self) -> str:
        """The S256 challenge of the verifier."""
        return _base64url(hashlib.sha256(self.verifier.encode()).digest())

    def _derived(self, purpose: str) -> str:
        return _base64url(hmac.digest(self.key, f"sentinel oidc {purpose}\0{self.id}".encode(), "sha256"))


class SpentAttempts:
    """The attempts that were answered: each counts once. Another gateway does not know them, but the provider takes a code only once."""

    def __init__(self) -> None:
        self._until: dict[str, datetime] = {}
        self._first_ends: datetime | None = None

    def spend(self, attempt: SignInAttempt, now: datetime) -> None:
        """Note that it is answered. Raises `errors.NotAuthenticated` if it was before, `errors.Overloaded` if too many are noted."""
        if attempt.id in self._until:
            raise NotAuthenticated(_REPEATED)
        if len(self._until) >= _MOST_SPENT and (self._first_ends is None or self._first_ends <= now):
            self._until = {name: until for name, until in self._until.items() if until > now}
            self._first_ends = min(self._until.values(), default=None)
        if len(self._until) >= _MOST_SPENT:
            raise Overloaded(
                "Too many people sign in at this moment, so nobody was signed in. Sign in again in a minute."
            )
        self._until[attempt.id] = attempt.until


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tokens:
    """What a code was exchanged for."""

    id_token: str
    access_token: str


class OidcProvider:
    """The identity provider of the settings."""

    def __init__(self, *, settings: ConsoleSettings, redirect_uri: str, clock: Clock) -> None:
        """`redirect_uri` is where the provider sends people back, as it was told beforehand."""
        self._settings = settings
        self._redirect_uri = redirect_uri
        self._endpoints = OidcEndpoints()
        self._metadata: CachedDocument[ProviderMetadata] = CachedDocument(clock, self._fetch_metadata)
        self._keys: CachedDocument[Mapping[str, Any]] = CachedDocument(clock, self._fetch_keys)
        self._asking = asyncio.Semaphore(MOST_AT_ONCE)

    async def authorization_url(self, attempt: SignInAttempt) -> str:
        """Where the person signs in. Raises `errors.IdentityProviderUnusable`."""
        endpoint = (await self._metadata.read()).authorization_endpoint
        query = {
            "response_type": "code",
            "client_id": self._settings.oidc_client_id,
            "redirect_uri": self._redirect_uri,
            "scope": " ".join(self._settings.oidc_scopes),
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": attempt.challenge,
            "code_challenge_method": "S256",
        }
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(query)}"

    async def person(self, answer: Mapping[str, str], attempt: SignInAttempt) -> str:
        """The name of the person who the provider says signed in. `answer` is what the browser brought back; its state is verified already.

        Raises `errors.NotAuthenticated`, `errors.IdentityProviderUnusable`, `errors.Overloaded`.
        """
        if self._asking.locked():
            raise Overloaded(
                "Too many people sign in at this moment, so nobody was signed in. Sign in again in a minute."
            )
        async with self._asking:
            metadata = await self._metadata.read()
            self._check_issuer(answer, metadata)
            tokens = await self._exchanged(_code(answer), attempt, metadata)
            claims = await self._claims(tokens, attempt, metadata)
        return _name(claims, self._settings.oidc_claim)

    def _check_issuer(self, answer: Mapping[str, str], metadata: ProviderMetadata) -> None:
        """An answer that another provider made is none (RFC 9207)."""
        if answer.get("iss", "" if metadata.names_issuer else self._settings.oidc_issuer) != self._settings.oidc_issuer:
            raise NotAuthenticated(
                "The answer does not say that it is from the identity provider of this console, so nobody was signed in."
            )

    async def _exchanged(self, code: str, attempt: SignInAttempt, metadata: ProviderMetadata) -> _Tokens:
        """What the provider gives for the code, once."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._redirect_uri,
            "code_verifier": attempt.verifier,
        }
        client, secret = self._settings.oidc_client_id, self._settings.oidc_client_secret.get_secret_value()
        basic = (client, secret) if secret and not metadata.secret_in_body else None
        if basic is None:
            form |= {"client_id": client, **({"client_secret": secret} if secret else {})}
        answer = await self._endpoints.post(metadata.token_endpoint, form, basic=basic)
        if answer.status != _OK:
            raise _exchange_refused(answer)
        id_token, access_token = answer.document.get("id_token"), answer.document.get("access_token")
        if not isinstance(id_token, str):
            raise IdentityProviderUnusable("The identity provider gave no ID token, so nobody was signed in.")
        return _Tokens(id_token=id_token, access_token=access_token if isinstance(access_token, str) else "")

    async def _claims(self, tokens: _Tokens, attempt: SignInAttempt, metadata: ProviderMetadata) -> Mapping[str, Any]:
        """The claims of the ID token; those of the provider's user info if the token is right and does not name the person."""
        reader: Any = await asyncio.to_thread(import_module, "gateway.identity.id_token")
        keys = await self._keys.read()
        if not reader.has_key(tokens.id_token, keys):
            keys = await self._keys.read(newer=True)
        claims: Mapping[str, Any] = reader.verified_claims(
            tokens.id_token,
            keys,
            issuer=self._settings.oidc_issuer,
            audiences=(self._settings.oidc_client_id,),
            nonce=attempt.nonce,
        )
        needed = {"email", "email_verified"} if self._settings.oidc_claim == "email" else {self._settings.oidc_claim}
        if needed <= claims.keys() or not (metadata.userinfo_endpoint and tokens.access_token):
            return claims
        answer = await self._endpoints.get(metadata.userinfo_endpoint, bearer=tokens.access_token)
        if answer.status != _OK or answer.document.get("sub") != claims["sub"]:
            raise IdentityProviderUnusable(
                "The identity provider's user info is not that of the person who signed in, so nobody was signed in."
            )
        return answer.document

    async def _fetch_metadata(self) -> ProviderMetadata:
        issuer = self._settings.oidc_issuer
        answer = await self._endpoints.get(metadata_url(issuer))
        return provider_metadata(_found(answer, "document"), issuer)

    async def _fetch_keys(self) -> Mapping[str, Any]:
        metadata = await self._metadata.read()
        return _found(await self._endpoints.get(metadata.jwks_uri), "keys")


def _found(answer: ProviderAnswer, what: str) -> Mapping[str, Any]:
    if answer.status != _OK:
        raise IdentityProviderUnusable(
            f"The identity provider answered {answer.status} when it was asked for its {what}, so nobody was signed in."
        )
    return answer.document


def _code(answer: Mapping[str, str]) -> str:
    """The code of the answer. Raises `errors.NotAuthenticated` if the person or the provider broke the sign-in off."""
    if "error" in answer:
        raise NotAuthenticated(
            f"The sign-in was cancelled, or the identity provider refused it{_shown(answer['error'])}. Nobody was signed in."
        )
    code = answer.get("code", "")
    if not code or len(code) > _LONGEST_CODE:
        raise NotAuthenticated(
            "The answer of the identity provider has no code, so nobody was signed in. Sign in again."
        )
    return code


def _exchange_refused(answer: ProviderAnswer) -> NotAuthenticated | IdentityProviderUnusable:
    """Why the provider gave no token: the code, or what this gateway is set to."""
    error = answer.document.get("error")
    if error == "invalid_grant":
        return NotAuthenticated(
            "The identity provider did not accept the code: it was used before, or is too old. Nobody was signed in; sign in again."
        )
    return IdentityProviderUnusable(
        f"The identity provider answered {answer.status}{_shown(error)} when the code was exchanged, so nobody was signed in. "
        "Compare `oidc_client_id`, `oidc_client_secret` and the redirect address with what the provider was told."
    )


def _shown(error: object) -> str:
    """The provider's error as a part of a sentence, if it is a plain word; any other text could be anybody's."""
    return f" ({error})" if isinstance(error, str) and _ERROR_CODE.fullmatch(error) else ""


def _name(claims: Mapping[str, Any], claim: str) -> str:
    if claim == "email" and claims.get("email_verified") is not True:
        raise NotAuthenticated(
            "The identity provider does not say that it verified the person's email address (`email_verified`), so nobody was signed in."
        )
    name = claims.get(claim)
    if not isinstance(name, str) or not 0 < len(name) <= _LONGEST_NAME or not name.isprintable():
        raise NotAuthenticated(
            f"The identity provider gives no usable `{claim}` for this person, so nobody was signed in. The settings `oidc_claim` and "
            "`oidc_scopes` say what it is asked for."
        )
    return name


def _base64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")
