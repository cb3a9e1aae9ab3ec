"""The signature of a request as it states it: who signed, when, for which service, and how it covers the body."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from gateway.core.quick_init import quick_init


class PayloadKind(StrEnum):
    """How the signature covers the body."""

    BODY = "body"
    """The hash of the body is signed; no header states it."""
    HASH = "hash"
    """`x-amz-content-sha256` states the hash."""
    UNSIGNED = "UNSIGNED-PAYLOAD"
    SIGNED_CHUNKS = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
    SIGNED_CHUNKS_TRAILER = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER"
    UNSIGNED_CHUNKS_TRAILER = "STREAMING-UNSIGNED-PAYLOAD-TRAILER"

    binds: bool
    """Whether the signature covers the bytes of the body."""
    chunked: bool
    """Whether the body is `aws-chunked`."""

    def __init__(self, value: str) -> None:
        self.binds = "UNSIGNED-PAYLOAD" not in value
        self.chunked = value.startswith("STREAMING-")


@quick_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """The signature of a request and what it states about itself. It is not verified until `identity.sigv4.SigV4.authenticate` has returned."""

    access_key_id: str
    timestamp: str
    """`YYYYMMDDTHHMMSSZ`, as signed."""
    at: datetime
    """The timestamp as a datetime, in UTC."""
    region: str
    service: str
    """The signing name, e.g. `monitoring` for CloudWatch."""
    signed_headers: tuple[str, ...]
    payload_kind: PayloadKind
    payload_hash: str
    """For `PayloadKind.HASH` the 64 hex digits; otherwise empty."""
    value: str
    """The signature, 64 hex digits. It is also the seed of signed chunks."""
    expires: timedelta | None
    """How long a presigned request is valid; None if the signature is in the header."""

    @property
    def presigned(self) -> bool:
        """Whether the signature is in the query."""
        return self.expires is not None
