"""Chunked bodies: the examples of the S3 documentation, and everything that must be refused."""

import base64
import contextlib
import io
import zlib
from collections.abc import Iterator
from typing import Any

import pytest
from botocore import httpchecksum
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.errors import Malformed, NotAuthenticated, SentinelError
from gateway.identity import aws_chunked
from gateway.identity.aws_chunked import ChunkSigning, ChunkStream
from gateway.identity.canonical import signing_key

SIGNED = {
    "key": signing_key("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "20130524", "us-east-1", "s3"),
    "timestamp": "20130524T000000Z",
    "region": "us-east-1",
    "service": "s3",
}
SEED = "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9"
CHUNKS = [
    (65536, "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648"),
    (1024, "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497"),
    (0, "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9"),
]
TRAILER_SEED = "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e"
TRAILER_CHUNKS = [
    (65536, "b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2"),
    (1024, "1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7"),
    (0, "2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992"),
]
TRAILER = b"x-amz-checksum-crc32c:sOO8/Q==\r\nx-amz-trailer-signature:d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435\r\n"


def _body(parts: list[tuple[int, str]], trailer: bytes = b"") -> bytes:
    out = b""
    for size, signature in parts:
        out += f"{size:x};chunk-signature={signature}\r\n".encode() + b"a" * size + (b"\r\n" if size else b"")
    return out + trailer + b"\r\n"


def test_the_documented_upload_verifies() -> None:
    decoded = aws_chunked.verify(_body(CHUNKS), seed=SEED, trailer=False, **SIGNED)  # type: ignore[arg-type]  # one dict of two types
    assert decoded.body == b"a" * 66560


def test_the_documented_upload_with_trailer_verifies() -> None:
    decoded = aws_chunked.verify(_body(TRAILER_CHUNKS, TRAILER), seed=TRAILER_SEED, trailer=True, **SIGNED)  # type: ignore[arg-type]  # as above
    assert decoded.trailers == (("x-amz-checksum-crc32c", "sOO8/Q=="),)


@pytest.mark.parametrize(
    ("body", "seed", "trailer"),
    [
        pytest.param(_body(CHUNKS).replace(b"aaaa", b"aaba", 1), SEED, False, id="data changed"),
        pytest.param(_body(CHUNKS), SEED.replace("4", "5"), False, id="other seed"),
        pytest.param(_body([CHUNKS[1], CHUNKS[0], CHUNKS[2]]), SEED, False, id="chunks swapped"),
        pytest.param(_body([CHUNKS[0], CHUNKS[2]]), SEED, False, id="chunk left out"),
        pytest.param(_body([CHUNKS[0], CHUNKS[1]])[:-2] + b"0\r\n\r\n", SEED, False, id="end not signed"),
        pytest.param(_body(TRAILER_CHUNKS), TRAILER_SEED, True, id="trailer missing"),
        pytest.param(
            _body(TRAILER_CHUNKS, TRAILER.replace(b"sOO8", b"sOO9")), TRAILER_SEED, True, id="trailer changed"
        ),
        pytest.param(_body(TRAILER_CHUNKS, TRAILER), TRAILER_SEED, False, id="trailer not announced"),
        pytest.param(_body(CHUNKS)[:-3], SEED, False, id="cut short"),
    ],
)
def test_a_changed_upload_is_refused(body: bytes, seed: str, *, trailer: bool) -> None:
    with pytest.raises((NotAuthenticated, Malformed)):
        aws_chunked.verify(body, seed=seed, trailer=trailer, **SIGNED)  # type: ignore[arg-type]  # as above


def test_an_unsigned_upload_is_decoded_and_its_checksum_verified() -> None:
    checksum = base64.b64encode(zlib.crc32(b"hello").to_bytes(4, "big"))
    raw = b"5\r\nhello\r\n0\r\nx-amz-checksum-crc32:" + checksum + b"\r\n\r\n"
    assert aws_chunked.decode(raw, length=5).body == b"hello"
    with pytest.raises(Malformed, match="crc32"):
        aws_chunked.decode(raw.replace(b"hello", b"hallo"))
    with pytest.raises(Malformed, match="states 6"):
        aws_chunked.decode(raw, length=6)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"0\r\n",
        b"5\r\nhello\r\n",
        b"5\r\nhell\r\n0\r\n\r\n",
        b"-5\r\nhello\r\n0\r\n\r\n",
        b"5;x=y\r\nhello\r\n0\r\n\r\n",
        b"fffffffff\r\n",
        b"5\nhello\n0\n\n",
        b"0\r\n\r\nmore",
        b"0\r\nno colon\r\n\r\n",
        b"0\r\na:1\r\na:2\r\n\r\n",
        b"0" * 5000,
    ],
)
def test_anything_but_one_whole_chunked_body_is_malformed(raw: bytes) -> None:
    with pytest.raises(Malformed):
        aws_chunked.decode(raw)


@given(st.binary(max_size=80))
def test_no_bytes_break_the_decoder(raw: bytes) -> None:
    with contextlib.suppress(SentinelError):
        aws_chunked.decode(raw)


@given(st.lists(st.binary(min_size=1, max_size=40), max_size=5))
def test_decoding_reverses_chunking(parts: list[bytes]) -> None:
    raw = b"".join(f"{len(part):x}\r\n".encode() + part + b"\r\n" for part in parts) + b"0\r\n\r\n"
    assert aws_chunked.decode(raw).body == b"".join(parts)


@pytest.mark.parametrize("size", [0, 1, 100, 3 * 1024 * 1024])
def test_what_botocore_sends_over_tls_by_default_is_decoded(size: int) -> None:
    data = b"a" * size
    wrapper: Any = httpchecksum.AwsChunkedWrapper
    raw = wrapper(
        io.BytesIO(data), checksum_cls=httpchecksum.Crc32Checksum, checksum_name="x-amz-checksum-crc32"
    ).read()
    decoded = aws_chunked.decode(raw, length=size)
    assert decoded.body == data
    assert decoded.trailers[0][0] == "x-amz-checksum-crc32"


KEY = signing_key("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "20130524", "us-east-1", "s3")
SIGNED_OF_CHUNK_STREAM: dict[str, Any] = {
    "key": KEY,
    "timestamp": "20130524T000000Z",
    "region": "us-east-1",
    "service": "s3",
}
FIRST = "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648"
SECOND = "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497"
LAST = "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9"
DOCUMENTED = (
    b"10000;chunk-signature=%b\r\n" % FIRST.encode()
    + b"a" * 65536
    + b"\r\n400;chunk-signature=%b\r\n" % SECOND.encode()
    + b"a" * 1024
    + b"\r\n0;chunk-signature=%b\r\n\r\n" % LAST.encode()
)
TRAILER_OF_CHUNK_STREAM = (
    b"x-amz-checksum-crc32c:sOO8/Q==\r\n"
    b"x-amz-trailer-signature:d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435\r\n\r\n"
)
WITH_TRAILER = (
    b"10000;chunk-signature=b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2\r\n"
    + b"a" * 65536
    + b"\r\n400;chunk-signature=1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7\r\n"
    + b"a" * 1024
    + b"\r\n0;chunk-signature=2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992\r\n"
    + TRAILER_OF_CHUNK_STREAM
)


def _pieces(body: bytes, size: int) -> Iterator[bytes]:
    return (body[at : at + size] for at in range(0, len(body), size))


def _read(stream: ChunkStream, body: bytes, size: int = 7) -> tuple[bytes, tuple[tuple[str, str], ...]]:
    data = b"".join(part for piece in _pieces(body, size) for part in stream.feed(piece))
    return data, tuple(stream.finish())


def _signed(seed: str = SEED, trailer: str = "") -> ChunkStream:
    return ChunkStream(signing=ChunkSigning(seed=seed, **SIGNED_OF_CHUNK_STREAM), trailer=trailer)


@pytest.mark.parametrize("size", [1, 3, 64, 1000, 65536, 1 << 20])
def test_the_documented_upload_verifies_in_pieces_of_any_size(size: int) -> None:
    assert _read(_signed(), DOCUMENTED, size) == (b"a" * 66560, ())


@pytest.mark.parametrize("size", [1, 1000, 1 << 20])
def test_so_does_the_one_with_a_trailer(size: int) -> None:
    stream = _signed(TRAILER_SEED, "x-amz-checksum-crc32c")
    assert _read(stream, WITH_TRAILER, size) == (b"a" * 66560, (("x-amz-checksum-crc32c", "sOO8/Q=="),))


@pytest.mark.parametrize(
    ("stream", "body"),
    [
        pytest.param(_signed(), DOCUMENTED.replace(b"aaaa", b"aaba", 1), id="data changed"),
        pytest.param(_signed(SEED.replace("4", "5")), DOCUMENTED, id="other seed"),
        pytest.param(_signed(), DOCUMENTED[:-90] + b"0\r\n\r\n", id="end not signed"),
        pytest.param(_signed(), DOCUMENTED[:-3], id="cut short"),
        pytest.param(_signed(), DOCUMENTED + b"x", id="bytes after the end"),
        pytest.param(_signed(TRAILER_SEED), WITH_TRAILER, id="trailer not announced"),
        pytest.param(_signed(TRAILER_SEED, "x-amz-checksum-sha1"), WITH_TRAILER, id="another trailer announced"),
        pytest.param(
            _signed(TRAILER_SEED, "x-amz-checksum-crc32c"), WITH_TRAILER.replace(b"sOO8", b"sOO9"), id="trailer changed"
        ),
        pytest.param(
            _signed(TRAILER_SEED, "x-amz-checksum-crc32c"),
            WITH_TRAILER.replace(TRAILER_OF_CHUNK_STREAM, b"\r\n"),
            id="trailer missing",
        ),
    ],
)
def test_a_body_that_is_not_the_signed_one_does_not_finish(stream: ChunkStream, body: bytes) -> None:
    with pytest.raises(SentinelError) as refused:
        _read(stream, body, 1000)
    assert isinstance(refused.value, NotAuthenticated | Malformed)


def test_unsigned_chunks_are_compared_with_their_checksum() -> None:
    body = b"hello world"
    right = base64.b64encode(zlib.crc32(body).to_bytes(4, "big")).decode()
    raw = b"5\r\nhello\r\n6\r\n world\r\n0\r\nx-amz-checksum-crc32:%b\r\n\r\n"
    stream = ChunkStream(signing=None, trailer="x-amz-checksum-crc32")
    assert _read(stream, raw % right.encode()) == (body, (("x-amz-checksum-crc32", right),))
    with pytest.raises(Malformed, match="does not have the"):
        _read(ChunkStream(signing=None, trailer="x-amz-checksum-crc32"), raw % b"AAAAAA==")


def test_a_line_without_an_end_is_refused_and_not_kept() -> None:
    stream = ChunkStream(signing=None, trailer="")
    for _ in range(12):
        assert list(stream.feed(b"f" * 100)) == []
    with pytest.raises(Malformed, match="too long"):
        list(stream.feed(b"f" * 100))


@given(
    body=st.binary(max_size=60).flatmap(
        lambda extra: st.sampled_from([DOCUMENTED[65600:], b"5\r\nhello\r\n0\r\n\r\n", b"0\r\n\r\n"]).map(
            lambda known: known[: len(known) // 2] + extra + known[len(known) // 2 :]
        )
    ),
    size=st.integers(1, 70),
)
def test_whatever_is_refused_as_a_whole_is_refused_in_pieces(body: bytes, size: int) -> None:
    try:
        decoded = aws_chunked.decode(body).body
    except SentinelError:
        with pytest.raises(SentinelError):
            _read(ChunkStream(signing=None, trailer=""), body, size)
        return
    try:
        assert _read(ChunkStream(signing=None, trailer=""), body, size)[0] == decoded
    except Malformed as stricter:
        # A trailer must be announced here.
        assert "trailer" in str(stricter)  # noqa: PT017  the stream may also succeed
