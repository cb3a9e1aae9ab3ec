"""Bodies of objects as they are sent to AWS: framed, of the stated length, and ended only when they are complete."""

import base64
import hashlib
from collections.abc import AsyncIterator

import pytest

from gateway.aws.client.upload_body import body_of, framed, payload_of, stopped, without_body
from gateway.aws.door.uploads import UploadBody
from gateway.core.errors import NotAuthenticated
from gateway.core.model.mutation import Call
from gateway.identity.aws_chunked import ChunkStream
from gateway.identity.signed_body import BodyCheck, PlainCheck

SIZES = [0, 1, 65535, 65536, 65537, 200_000]


async def _source(raw: bytes) -> AsyncIterator[bytes]:
    for at in range(0, len(raw) or 1, 10_000):
        yield raw[at : at + 10_000]


def _upload(raw: bytes, length: int, check: BodyCheck | None = None, sha256: str = "", trailer: str = "") -> UploadBody:
    return UploadBody(_source(raw), check or PlainCheck(sha256), length=length, sha256=sha256, trailer=trailer)


async def _sent(upload: UploadBody) -> tuple[dict[str, str], bytes]:
    headers, body = await body_of(upload)
    return dict(headers), body if isinstance(body, bytes) else b"".join([part async for part in body])


@pytest.mark.parametrize("size", SIZES)
async def test_a_plain_body_has_the_length_of_the_object(size: int) -> None:
    headers, body = await _sent(_upload(b"x" * size, size))
    assert (headers, body) == ({"content-length": str(size)}, b"x" * size)


@pytest.mark.parametrize("size", SIZES)
async def test_a_chunked_body_has_the_length_that_is_stated(size: int) -> None:
    data = b"x" * size
    digest = base64.b64encode(hashlib.sha256(data).digest())
    name = "x-amz-checksum-sha256"
    raw = (b"%x\r\n%b\r\n" % (size, data) if size else b"") + b"0\r\n%b:%b\r\n\r\n" % (name.encode(), digest)
    headers, body = await _sent(_upload(raw, size, ChunkStream(signing=None, trailer=name), trailer=name))
    assert headers == {"content-length": str(len(body))}
    again = ChunkStream(signing=None, trailer=name)
    assert b"".join(again.feed(body)) == data
    assert again.finish() == ((name, digest.decode()),)


async def test_a_checksum_of_unknown_length_is_sent_without_a_length() -> None:
    name = "x-amz-checksum-new"
    raw = b"1\r\nx\r\n0\r\n%b:abc\r\n\r\n" % name.encode()
    headers, body = await _sent(_upload(raw, 1, ChunkStream(signing=None, trailer=name), trailer=name))
    assert headers == {}
    assert body.endswith(b"abc\r\n\r\n")


async def test_an_empty_body_is_verified_before_its_head_is_sent() -> None:
    with pytest.raises(NotAuthenticated):
        await body_of(_upload(b"", 0, sha256="0" * 64))


def test_the_signed_hash_is_told_to_aws() -> None:
    assert payload_of(_upload(b"", 0, sha256="a" * 64)) == "a" * 64
    assert payload_of(_upload(b"", 0)) == "UNSIGNED-PAYLOAD"
    assert payload_of(_upload(b"", 0, trailer="x-amz-checksum-crc32")) == "STREAMING-UNSIGNED-PAYLOAD-TRAILER"


def test_the_encoding_of_the_object_stays_beside_that_of_the_request() -> None:
    found = dict(framed([("content-encoding", "gzip")], _upload(b"", 7, trailer="x-amz-checksum-crc32")))
    assert found["content-encoding"] == "aws-chunked,gzip"
    assert found["x-amz-decoded-content-length"] == "7"
    assert framed([("a", "b")], _upload(b"", 7)) == [("a", "b")]


def test_the_stand_in_for_the_body_is_not_sent() -> None:
    call = Call(service="s3", operation="PutObject", parameters={"Bucket": "b", "Body": {"bytes": 1}})
    assert without_body(call).parameters == {"Bucket": "b"}


def test_a_body_that_stopped_left_nothing() -> None:
    assert "AWS stored nothing" in stopped(_upload(b"", 0), "PutObject").message
