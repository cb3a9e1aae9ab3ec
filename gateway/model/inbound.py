"""A request as it arrived at a door: method, raw target, headers, body not yet read."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbound:
    """What the door saw before anything was parsed. Nothing in it may be trusted before authentication."""

    method: str
    """HTTP method as sent."""
    target: str
    """Request target exactly as sent (path, and query after `?`), undecoded; latin-1 text."""
    headers: tuple[tuple[str, str], ...]
    """Header fields in order, names lower-cased, duplicates kept."""
    read_body: Callable[[], Awaitable[bytes]]
    """Reads the whole body once and remembers it. Raises `errors.BodyTooLarge`. Only call it once the caller's key is known."""
    received_at: datetime
    """When the request arrived (aware, UTC)."""
    peer: str = ""
    """Network address of the client, for the record of strangers only."""

    def header(self, name: str) -> str | None:
        """The value of the header `name` (lower case), None where absent; the first where it was sent twice."""
        return next((value for key, value in self.headers if key == name), None)

    @property
    def path(self) -> str:
        """The undecoded path, without the query."""
        return self.target.partition("?")[0]

    @property
    def query(self) -> str:
        """The undecoded query, without the `?`; empty where there is none."""
        return self.target.partition("?")[2]
