"""How a signature covers the body follows from one header, and from nothing else where it is absent."""

import base64
import hashlib
import zlib

import pytest

from gateway.core.errors import Malformed, NotAuthenticated
from gateway.core.model.signature import PayloadKind
from gateway.identity.signed_body import Checksum, PlainCheck, stated_payload

HASH = "0" * 64


@pytest.mark.parametrize(
    ("stated", "service", "presigned", "kind", "hashed"),
    [
        (None, "sqs", False, PayloadKind.BODY, ""),
        (None, "s3", False, PayloadKind.BODY, ""),
        (None, "sqs", True, PayloadKind.BODY, ""),
        (None, "s3", True, PayloadKind.UNSIGNED, ""),
        (HASH, "sqs", False, PayloadKind.HASH, HASH),
        ("UNSIGNED-PAYLOAD", "s3", False, PayloadKind.UNSIGNED, ""),
    ],
)
def test_the_kind_follows_from_the_header(
    stated: str | None, service: str, *, presigned: bool, kind: PayloadKind, hashed: str
) -> None:
    assert stated_payload(stated, service, presigned=presigned) == (kind, hashed)


@pytest.mark.parametrize("stated", ["body", "hash", HASH.replace("0", "A"), f"{HASH},{HASH}", ""])
def test_any_other_header_is_refused(stated: str) -> None:
    with pytest.raises(NotAuthenticated):
        stated_payload(stated, "s3", presigned=False)


def test_only_some_kinds_bind_the_body() -> None:
    assert {kind for kind in PayloadKind if not kind.binds} == {
        PayloadKind.UNSIGNED,
        PayloadKind.UNSIGNED_CHUNKS_TRAILER,
    }
    assert {kind for kind in PayloadKind if kind.chunked} == {
        PayloadKind.SIGNED_CHUNKS,
        PayloadKind.SIGNED_CHUNKS_TRAILER,
        PayloadKind.UNSIGNED_CHUNKS_TRAILER,
    }


PIECES = (b"first", b"", b" and second")
BODY = b"".join(PIECES)


def test_a_signed_body_passes_as_it_is() -> None:
    check = PlainCheck(hashlib.sha256(BODY).hexdigest())
    assert b"".join(part for piece in PIECES for part in check.feed(piece)) == BODY
    assert check.finish() == ()


def test_another_body_does_not_end() -> None:
    check = PlainCheck(hashlib.sha256(b"another").hexdigest())
    assert list(check.feed(BODY)) == [BODY]
    with pytest.raises(NotAuthenticated) as refused:
        check.finish()
    assert refused.value.aws_code == "XAmzContentSHA256Mismatch"


def test_an_unsigned_body_is_not_compared() -> None:
    check = PlainCheck("")
    assert list(check.feed(BODY)) == [BODY]
    assert check.finish() == ()


@pytest.mark.parametrize(
    ("kind", "digest"),
    [
        ("crc32", zlib.crc32(BODY).to_bytes(4, "big")),
        ("sha1", hashlib.sha1(BODY, usedforsecurity=False).digest()),
        ("sha256", hashlib.sha256(BODY).digest()),
    ],
)
def test_a_checksum_is_that_of_all_pieces(kind: str, digest: bytes) -> None:
    checksum = Checksum(f"x-amz-checksum-{kind}")
    for piece in PIECES:
        checksum.update(piece)
    checksum.compare(base64.b64encode(digest).decode())
    with pytest.raises(Malformed) as refused:
        checksum.compare(base64.b64encode(bytes(len(digest))).decode())
    assert refused.value.aws_code == "BadDigest"


def test_a_checksum_that_python_lacks_is_left_to_aws() -> None:
    checksum = Checksum("x-amz-checksum-crc64nvme")
    checksum.update(BODY)
    checksum.compare("AAAAAAAAAAA=")
