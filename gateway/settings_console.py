"""Settings of the console at `/console`, and of who is let in by an SSO proxy in front of it."""

import re
from ipaddress import IPv4Network, IPv6Network
from typing import Annotated, Final, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

_HEADER: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_NEVER: Final = frozenset({"authorization", "cookie", "host", "origin", "user-agent", "x-forwarded-for"})


class ConsoleSettings(BaseModel):
    """The console. People sign in with their keys; with `sso_header` also as whom the proxy in front says they are."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = True
    session_hours: Annotated[float, Field(gt=0, le=24)] = 12.0
    """How long a sign-in lasts at most. It ends with its key in any case."""
    sso_header: str = ""
    """Header in which an SSO proxy names who signed in, e.g. `x-forwarded-email`; the name is that of an actor with a key of kind human."""
    sso_peers: tuple[IPv4Network | IPv6Network, ...] = ()
    """Network addresses of these proxies, e.g. `["10.0.0.5/32"]`. From any other address the header counts for nothing."""

    @model_validator(mode="after")
    def _sso_is_whole(self) -> Self:
        if bool(self.sso_header) is not bool(self.sso_peers):
            raise ValueError("`sso_header` and `sso_peers` belong together: give both, or neither.")
        if self.sso_header and (not _HEADER.fullmatch(self.sso_header) or self.sso_header in _NEVER):
            raise ValueError("`sso_header` must be the name of a header that only the proxy sets, in lower case.")
        return self
