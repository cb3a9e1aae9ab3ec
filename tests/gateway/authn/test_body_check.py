"""Bodies that pass in pieces end only if they are the signed ones."""

import base64
import hashlib
import zlib

import pytest

from gateway.authn.body_check import Checksum, PlainCheck
from gateway.errors import Malformed, NotAuthenticated

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
