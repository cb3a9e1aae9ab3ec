"""A request as it arrived: method, raw target, headers, and a body that is not read yet."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbound:
    """An HTTP request before parsing. Nothing in it can be trusted before authentication."""

    method: str
    """HTTP method as sent."""
    target: str
    """Request target exactly as sent (path, and query after `?`), not decoded; latin-1 text."""
    headers: tuple[tuple[str, str], ...]
    """Header fields in order, names lower-cased, duplicates kept."""
    read_body: Callable[[], Awaitable[bytes]]
    """Reads the whole body and caches it. Raises `errors.BodyTooLarge`. Call it only after the caller's key was found."""
    received_at: datetime
    """When the request arrived: aware, in UTC."""
    scheme: str = "http"
    """`http` or `https`: how the client reached this server itself."""
    peer: str = ""
    """Network address of the client. Used only in records."""

    bucket: str | None = ""
    """The S3 bucket that `Host` names, not validated; empty if it names none, None if it is a host of AWS without S3's buckets. It counts
    only for requests to S3."""

    def header(self, name: str) -> str | None:
        """The value of the header `name` (lower case); None if absent, the first if it was sent more than once."""
        for key, value in self.headers:
            if key == name:
                return value
        return None

    @property
    def path(self) -> str:
        """The path without the query, not decoded."""
        return self.target.partition("?")[0]

    @property
    def query(self) -> str:
        """The query without the `?`, not decoded; empty if there is none."""
        return self.target.partition("?")[2]
