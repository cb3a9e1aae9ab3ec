"""Settings of the console at `/console`, and of who is let in by an SSO proxy in front of it, or by an identity provider."""

import re
from ipaddress import IPv4Network, IPv6Network
from typing import Annotated, Final, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, model_validator

from gateway.core.settings.notices import LOOPBACK, require_url
from gateway.core.settings.table import SettingsTable

_HEADER: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_NEVER: Final = frozenset({"authorization", "cookie", "host", "origin", "user-agent", "x-forwarded-for"})

_Scope = Annotated[str, Field(pattern=r"^[!#-\[\]-~]+$")]


class ConsoleSettings(SettingsTable):
    """The console. People sign in with their keys; with `sso_header` also as whom the proxy in front says they are, with `oidc_issuer` as
    whom that identity provider says.
    """

    enabled: bool = True
    """Whether the console is served."""
    session_hours: Annotated[float, Field(gt=0, le=24)] = 12.0
    """How long a sign-in lasts at most. It ends with its key in any case."""
    sso_header: str = ""
    """Header in which an SSO proxy names who signed in, e.g. `x-forwarded-email`; the name is that of an actor with a key of kind human."""
    sso_peers: tuple[IPv4Network | IPv6Network, ...] = ()
    """Network addresses of these proxies, e.g. `["10.0.0.5/32"]`. From any other address the header counts for nothing."""
    oidc_issuer: Annotated[str, Field(max_length=500)] = ""
    """Issuer of an OpenID Connect provider, as its document names it to the last character, e.g. `https://login.example`. Needs
    `server.public_url`."""
    oidc_client_id: Annotated[str, Field(max_length=500)] = ""
    """The name under which the provider knows this console."""
    oidc_client_secret: SecretStr = SecretStr("")
    """`SENTINEL_CONSOLE__OIDC_CLIENT_SECRET` keeps it out of the file. Without one the console is a public client, which PKCE protects."""
    oidc_claim: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_:/.-]{0,199}$")] = "email"
    """The claim that names the person; the name is that of an actor with a key of kind human. `email` counts only with `email_verified`. Of
    `preferred_username` and the like be sure that nobody can choose it."""
    oidc_scopes: tuple[_Scope, ...] = ("openid", "email", "profile")
    """What the provider is asked to tell."""

    @property
    def oidc_host(self) -> str:
        """The host of the identity provider, as people know it; empty if none is set."""
        return urlsplit(self.oidc_issuer).netloc

    @model_validator(mode="after")
    def _oidc_is_whole(self) -> Self:
        if bool(self.oidc_issuer) is not bool(self.oidc_client_id):
            raise ValueError("`oidc_issuer` and `oidc_client_id` belong together: give both, or neither.")
        if not self.oidc_issuer and self.oidc_client_secret.get_secret_value():
            raise ValueError("`oidc_client_secret` needs `oidc_issuer` and `oidc_client_id`.")
        if self.oidc_issuer:
            require_secure_url(self.oidc_issuer, loopback=True)
        if "?" in self.oidc_issuer or "openid" not in self.oidc_scopes:
            raise ValueError("`oidc_issuer` has no query, and `oidc_scopes` holds `openid`.")
        return self

    @model_validator(mode="after")
    def _sso_is_whole(self) -> Self:
        if bool(self.sso_header) is not bool(self.sso_peers):
            raise ValueError("`sso_header` and `sso_peers` belong together: give both, or neither.")
        if self.sso_header and (not _HEADER.fullmatch(self.sso_header) or self.sso_header in _NEVER):
            raise ValueError("`sso_header` must be the name of a header that only the proxy sets, in lower case.")
        return self


def is_loopback_url(url: str) -> bool:
    """Whether the URL leads to this machine. Raises ValueError for what is no URL."""
    return (urlsplit(url).hostname or "") in LOOPBACK


def require_secure_url(url: str, *, loopback: bool) -> None:
    """Raise ValueError unless it is an https URL; with `loopback`, http to this machine is as good."""
    require_url(url, http=loopback and is_loopback_url(url))


def check_public_url(settings: ConsoleSettings, public_url: str) -> None:
    """Raise ValueError if people are to come back from an identity provider, and no safe address is set to which they come."""
    if not settings.oidc_issuer:
        return
    try:
        require_secure_url(public_url, loopback=True)
    except ValueError:
        raise ValueError(
            "console: `oidc_issuer` needs `server.public_url`, the https URL at which browsers reach this gateway: the identity provider "
            "sends them back there."
        ) from None
