"""The body of an object on its way to AWS: read once, verified while it passes, never kept."""

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from gateway.errors import SentinelError


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


def is_bound(upload: Upload) -> bool:
    """Whether the head of the request fixes the content, so that a human who approves the call approves exactly that content."""
    return bool(upload.sha256)
