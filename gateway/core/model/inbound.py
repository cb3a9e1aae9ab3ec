"""A request as it arrived, the object body that it may carry, and its refusal before it became a mutation."""

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Protocol

from gateway.core.errors import SentinelError
from gateway.core.model.signature import Signature
from gateway.core.quick_init import quick_init


class ReadOnce:
    """What was read of a request and is kept. A read asks five times for its signature, and twice for the hash of its body."""

    signature: Signature | None = None
    """As `identity.sigv4` read it; not verified."""
    body_sha256: str = ""
    """64 hex digits; empty if the body was not hashed."""


@quick_init
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

    path: str = field(init=False, compare=False)
    """The path without the query, not decoded."""
    query: str = field(init=False, compare=False)
    """The query without the `?`, not decoded; empty if there is none."""
    by_name: Mapping[str, str] = field(init=False, compare=False, repr=False)
    """The headers by name; the first one if it was sent more than once."""
    repeated: frozenset[str] = field(init=False, compare=False, repr=False)
    """The names of headers that were sent more than once."""
    once: ReadOnce = field(init=False, compare=False, repr=False)
    """What was found out from the fields above and is asked for again."""

    def __post_init__(self) -> None:
        """Take apart once what each step of a request looks at."""
        made: Any = self  # not frozen yet
        made.path, _, made.query = self.target.partition("?")
        made.by_name, made.repeated = dict(self.headers), _NONE
        if len(made.by_name) < len(self.headers):
            made.by_name, made.repeated = dict(reversed(self.headers)), _repeated(self.headers)
        made.once = ReadOnce()

    def header(self, name: str) -> str | None:
        """The value of the header `name` (lower case); None if absent, the first if it was sent more than once."""
        return self.by_name.get(name)

    def only_header(self, name: str) -> str:
        """The value of the header `name` (lower case) without blanks around it; empty if it was not sent exactly once."""
        values = [value.strip() for key, value in self.headers if key == name]
        return values[0] if len(values) == 1 else ""


class Upload(Protocol):
    """The body of an S3 object. AWS stores nothing of a body that stops before its end, so its last piece is sent only if all is in order."""

    @property
    def length(self) -> int:
        """Bytes of the object."""
        ...

    @property
    def sha256(self) -> str:
        """The signed SHA-256 of the object, 64 hex digits; empty if the client did not sign one."""
        ...

    @property
    def trailer(self) -> str:
        """Name of the checksum that follows the body, empty if none does."""
        ...

    @property
    def complete(self) -> bool:
        """Whether everything was verified and the last piece was handed on. Until then AWS cannot store the object."""
        ...

    @property
    def failure(self) -> SentinelError | None:
        """Why the body ended early; None if it did not."""
        ...

    def parts(self) -> AsyncIterator[bytes]:
        """The object in pieces; can be read once. Raises `errors.Malformed`, `errors.NotAuthenticated`, `errors.Overloaded`."""
        ...

    def trailers(self) -> Sequence[tuple[str, str]]:
        """The checksum that followed the body, once it was read."""
        ...


_NONE: Final[frozenset[str]] = frozenset()


def _repeated(headers: Sequence[tuple[str, str]]) -> frozenset[str]:
    return frozenset(name for name, times in Counter([name for name, _ in headers]).items() if times > 1)


def is_bound(upload: Upload) -> bool:
    """Whether the head of the request fixes the content, so that a human who approves the call approves exactly that content."""
    return bool(upload.sha256)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Who sent the request, what it was and why it was refused. The ledger stores it as a TURNED_AWAY record."""

    at: datetime
    reason: str = ""
    """A whole sentence."""
    code: str
    """The machine name of the error, e.g. `not_authenticated`."""
    peer: str = ""
    """Network address of the client; empty where the gateway itself refused."""
    key_id: str = ""
    """The key that the caller proved or, where `actor` is empty, only named."""
    about: str = ""
    """What was requested, in short: `POST /path` or `service:operation`."""
    actor: str = ""
    """The authenticated actor; empty for a request that was not authenticated."""
