"""Verifies ID tokens (OpenID Connect Core 1.0, section 3.1.3.7) with PyJWT. Only imported when somebody signs in: it takes a fifth of a second."""

import hmac
from collections.abc import Mapping, Sequence
from typing import Any, Final

import jwt

from gateway.core.errors import NotAuthenticated

ALGORITHMS: Final = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA"),
)
"""Signatures with a key of which only the provider has the secret half. Neither `none` nor those of a shared secret are ever taken."""
LEEWAY_SECONDS: Final = 60
"""How much the provider's clock may differ."""
_REQUIRED: Final = ("iss", "sub", "aud", "exp", "iat")
_ODD: Final = (jwt.PyJWTError, ValueError, TypeError, KeyError, AttributeError, OverflowError)
"""What PyJWT raises for tokens and keys that are not well formed."""


class TokenRefused(NotAuthenticated):
    """The token is not taken."""

    def __init__(self, why: str, *, expired: bool = False) -> None:
        super().__init__(f"The identity provider's ID token was not taken: {why}. Nobody was signed in; sign in again.")
        self.why = why
        """Without a word of what the token holds."""
        self.expired = expired


def has_key(token: str, document: Mapping[str, Any]) -> bool:
    """Whether the provider's keys have the one that the token names. Raises `TokenRefused` for what is no token."""
    return bool(_fitting(_header(token), document))


def verified_claims(
    token: str, document: Mapping[str, Any], *, issuer: str, audiences: Sequence[str], nonce: str | None
) -> Mapping[str, Any]:
    """The claims of a token that this issuer made for one of these clients and, unless `nonce` is None, for this attempt.

    `document` is the provider's key set. Raises `TokenRefused`.
    """
    header = _header(token)
    fitting = _fitting(header, document)
    if len(fitting) != 1:
        raise TokenRefused("it names no key of the provider, or not one only")
    try:
        claims = jwt.decode(
            token,
            fitting[0],
            algorithms=[header["alg"]],
            audience=list(audiences),
            issuer=issuer,
            leeway=LEEWAY_SECONDS,
            options={
                "require": [*_REQUIRED, *([] if nonce is None else ["nonce"])],
                "enforce_minimum_key_length": True,
            },
        )
    except _ODD as error:
        raise TokenRefused(_reason(error), expired=isinstance(error, jwt.ExpiredSignatureError)) from None
    _check_party(claims, audiences)
    if nonce is not None and not hmac.compare_digest(str(claims["nonce"]).encode("utf-8", "replace"), nonce.encode()):
        raise TokenRefused("it was made for another sign-in")
    return claims


def _header(token: str) -> Mapping[str, Any]:
    """The header, whose algorithm is one of those that are taken."""
    try:
        header: Mapping[str, Any] = jwt.get_unverified_header(token)
    except _ODD:
        raise TokenRefused("it is not well formed") from None
    if header.get("alg") not in ALGORITHMS:
        raise TokenRefused("it is not signed by a method that is taken")
    return header


def _fitting(header: Mapping[str, Any], document: Mapping[str, Any]) -> Sequence[jwt.PyJWK]:
    """The provider's keys for signatures of this kind; only those with the token's key id if it has one."""
    keys = document.get("keys")
    given = [key for key in keys if isinstance(key, dict)] if isinstance(keys, list) else []
    named = [key for key in given if "kid" not in header or key.get("kid") == header["kid"]]
    return [made for key in named if (made := _key(key, header["alg"])) is not None]


def _key(key: Mapping[str, Any], algorithm: str) -> jwt.PyJWK | None:
    """The key, if it may verify signatures of this algorithm."""
    if key.get("use", "sig") != "sig" or key.get("alg", algorithm) != algorithm:
        return None
    try:
        return jwt.PyJWK(dict(key), algorithm)
    except _ODD:
        return None


def _check_party(claims: Mapping[str, Any], audiences: Sequence[str]) -> None:
    """A token for several clients must say that it was made for this one."""
    several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
    if claims.get("azp", None if several else audiences[0]) not in audiences:
        raise TokenRefused("it was made for another client")


def _reason(error: Exception) -> str:
    """Why, without a word of what the token holds."""
    match error:
        case jwt.ExpiredSignatureError():
            return "it has expired; is the clock of this gateway right?"
        case jwt.ImmatureSignatureError():
            return "it is not valid yet; is the clock of this gateway right?"
        case jwt.InvalidAudienceError():
            return "it was made for another client"
        case jwt.InvalidIssuerError():
            return "another issuer made it"
        case jwt.InvalidSignatureError():
            return "its signature is not the provider's"
        case jwt.MissingRequiredClaimError():
            return f"it has no `{error.claim}`"
        case _:
            return "it is not well formed"
