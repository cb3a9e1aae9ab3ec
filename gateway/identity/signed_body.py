"""How an AWS signature covers the body of its request, and the check of the body piece by piece while it passes."""

import base64
import hashlib
import hmac
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Protocol

from gateway.core.errors import Malformed, NotAuthenticated
from gateway.identity.canonical import LITERAL_PATHS

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


class BodyCheck(Protocol):
    """Decodes and verifies one body. Nothing may be done with its last piece before `finish` returned."""

    def feed(self, raw: bytes) -> Iterator[bytes]:
        """The pieces of the body in these bytes of the request. Raises `errors.Malformed`, `errors.NotAuthenticated`."""
        ...

    def finish(self) -> Sequence[tuple[str, str]]:
        """The trailer fields, after the last byte. Raises `errors.Malformed`, `errors.NotAuthenticated` if the body is not the signed one."""
        ...


class PlainCheck:
    """A body that is sent as it is, with its SHA-256 signed or not at all."""

    def __init__(self, sha256: str) -> None:
        """`sha256` is the signed hash, 64 hex digits; empty if the body is not signed."""
        self._stated = sha256
        self._hash = hashlib.sha256()

    def feed(self, raw: bytes) -> Iterator[bytes]:
        """The same bytes."""
        if self._stated:
            self._hash.update(raw)
        if raw:
            yield raw

    def finish(self) -> Sequence[tuple[str, str]]:
        """No trailer. Raises `errors.NotAuthenticated` if the body does not have the signed hash."""
        if self._stated and not hmac.compare_digest(self._hash.hexdigest(), self._stated):
            raise NotAuthenticated(
                "The body is not the one that x-amz-content-sha256 states.", aws_code="XAmzContentSHA256Mismatch"
            )
        return ()


class Checksum:
    """A checksum over a body that passes in pieces. Kinds that Python cannot calculate are left to AWS, which compares every kind."""

    def __init__(self, name: str) -> None:
        """`name` is that of the trailer field, e.g. `x-amz-checksum-crc32`."""
        self._name = name
        self._crc = 0
        kind = name.removeprefix("x-amz-checksum-")
        self._hash = _HASHES[kind]() if kind in _HASHES else None
        self._is_crc = kind == "crc32"

    def update(self, data: bytes) -> None:
        """Add the next piece."""
        if self._is_crc:
            self._crc = zlib.crc32(data, self._crc)
        elif self._hash is not None:
            self._hash.update(data)

    def compare(self, stated: str) -> None:
        """Raise `errors.Malformed` (`BadDigest`) unless the body has the stated checksum."""
        if not self._is_crc and self._hash is None:
            return
        found = self._hash.digest() if self._hash is not None else self._crc.to_bytes(4, "big")
        if base64.b64encode(found).decode() != stated:
            raise Malformed(
                f"The body does not have the {self._name} that its trailer states.",
                aws_code="BadDigest",
                code="bad_digest",
            )


_HASHES: dict[str, Callable[[], "hashlib._Hash"]] = {
    "sha1": lambda: hashlib.sha1(usedforsecurity=False),
    "sha256": hashlib.sha256,
}
