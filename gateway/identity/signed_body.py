"""How an AWS signature covers the body of its request, and the check of the body piece by piece while it passes."""

import base64
import hashlib
import hmac
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from gateway.core.errors import Malformed, NotAuthenticated
from gateway.core.model.signature import PayloadKind
from gateway.identity.canonical import LITERAL_PATHS

_HEX64 = re.compile(r"[0-9a-f]{64}")


_RESERVED = frozenset(kind.value for kind in PayloadKind) - {PayloadKind.BODY, PayloadKind.HASH}


def stated_payload(stated: str | None, service: str, *, presigned: bool) -> tuple[PayloadKind, str]:
    """How the signature covers the body, and its hash if one is stated. `stated` is the header x-amz-content-sha256.

    Raises `errors.NotAuthenticated` for anything else.
    """
    if stated is None:
        # Only S3 leaves the payload of presigned requests unsigned.
        unsigned = presigned and service in LITERAL_PATHS
        return (PayloadKind.UNSIGNED if unsigned else PayloadKind.BODY), ""
    if _HEX64.fullmatch(stated):
        return PayloadKind.HASH, stated
    if stated in _RESERVED:
        return PayloadKind(stated), ""
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
