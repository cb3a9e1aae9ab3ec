"""What an identity provider says of itself (OpenID Connect Discovery 1.0): where it is asked, and how."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from gateway.core.errors import IdentityProviderUnusable
from gateway.core.settings.console import is_loopback_url, require_secure_url

_POST: Final = "client_secret_post"
_NEEDED: Final = ("authorization_endpoint", "token_endpoint", "jwks_uri")


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


def _require_endpoint(url: object, name: str, issuer: str) -> None:
    """Only an issuer on this machine may name addresses of this machine: no other one makes the gateway ask its own host."""
    try:
        require_secure_url(url if isinstance(url, str) else "", loopback=is_loopback_url(issuer))
    except ValueError:
        raise IdentityProviderUnusable(
            f"The identity provider's document names no usable `{name}`, so nobody was signed in. It must be an https URL."
        ) from None
