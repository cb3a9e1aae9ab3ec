"""Settings of the tools at `/mcp` for agents, and of live values in the context of a resource."""

from typing import Annotated

from pydantic import Field, field_validator

from gateway.core.settings.table import SettingsTable

LOOPBACK_HOSTS = ("127.0.0.1", "127.0.0.1:*", "localhost", "localhost:*", "[::1]", "[::1]:*")
"""Always accepted: the ways to name this machine."""
LOOPBACK_ORIGINS = ("http://127.0.0.1:*", "http://localhost:*", "http://[::1]:*")
"""Always accepted: pages that this machine serves itself, such as a local inspector. They need a key like anyone."""


class McpSettings(SettingsTable):
    """The tools for agents at `/mcp`, by the Model Context Protocol."""

    enabled: bool = True
    """Whether there is a `/mcp`. The packages behind it are loaded at the first authenticated request, which takes seconds and memory."""
    hosts: tuple[str, ...] = ()
    """Values of the `Host` header that are accepted besides this machine's and that of `server.public_url`; `name:*` is any port."""
    origins: tuple[str, ...] = ()
    """Values of the `Origin` header that are accepted, for clients in a browser; e.g. `https://tools.example`."""
    authorization_servers: tuple[str, ...] = ()
    """URLs of OAuth servers that clients are told of (RFC 9728). Sentinel itself takes its own keys only."""
    most_streams: Annotated[int, Field(ge=0, le=10_000)] = 200
    """How many clients may listen for changes of mutations at once."""

    @field_validator("hosts", "origins")
    @classmethod
    def _plain(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        """Raises `ValueError` for a value that would accept any other site."""
        for value in values:
            if not value.strip() or value.strip("*:") == "" or "*" in value.removesuffix(":*"):
                message = "name each host and origin; only the port may be `*`"
                raise ValueError(message)
        return values

    @field_validator("authorization_servers")
    @classmethod
    def _secure(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        """Raises `ValueError` for a server that is not asked over https."""
        if any(not value.startswith("https://") for value in values):
            message = "an authorization server needs an https URL"
            raise ValueError(message)
        return values


class ContextSettings(SettingsTable):
    """How live values are read for the context of a resource."""

    live: bool = True
    """Whether live values are read from AWS with the gateway's own credentials, when a caller asks for them by `max_age_seconds`."""
    live_reads_per_minute: Annotated[int, Field(ge=0, le=10_000)] = 60
    """How many of these reads each caller may have within a minute. Values that were read lately cost nothing."""
    live_seconds: Annotated[float, Field(gt=0, le=60)] = 5.0
    """How long an answer waits for AWS at most."""
