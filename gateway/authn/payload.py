"""How an AWS signature covers the body of its request."""

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum

from gateway.authn.canonical import LITERAL_PATHS
from gateway.errors import NotAuthenticated

_HEX64 = re.compile(r"[0-9a-f]{64}")


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

    @property
    def binds(self) -> bool:
        """Whether the signature covers the bytes of the body."""
        return self not in (PayloadKind.UNSIGNED, PayloadKind.UNSIGNED_CHUNKS_TRAILER)

    @property
    def chunked(self) -> bool:
        """Whether the body is `aws-chunked`."""
        return self.value.startswith("STREAMING-")


_RESERVED = frozenset(kind.value for kind in PayloadKind) - {PayloadKind.BODY, PayloadKind.HASH}


def stated_payload(headers: Mapping[str, Sequence[str]], service: str, *, presigned: bool) -> tuple[PayloadKind, str]:
    """How the signature covers the body, and its hash if a header states it. Raises `errors.NotAuthenticated` for anything else."""
    stated = headers.get("x-amz-content-sha256")
    if stated is None:
        # Only S3 leaves the payload of presigned requests unsigned.
        unsigned = presigned and service in LITERAL_PATHS
        return (PayloadKind.UNSIGNED if unsigned else PayloadKind.BODY), ""
    if len(stated) == 1:
        if _HEX64.fullmatch(stated[0]):
            return PayloadKind.HASH, stated[0]
        if stated[0] in _RESERVED:
            return PayloadKind(stated[0]), ""
    raise NotAuthenticated(
        "x-amz-content-sha256 must be 64 lower-case hex digits, UNSIGNED-PAYLOAD or one of the HMAC streaming values.",
        aws_code="InvalidArgument",
    )
