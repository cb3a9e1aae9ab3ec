"""Decodes `aws-chunked` bodies and verifies their chain of chunk signatures.

Source: "Signature calculations: transferring payload in multiple chunks", S3 API Reference
(https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming.html and sigv4-streaming-trailers.html). Works on complete bodies in memory.
"""

import base64
import hashlib
import hmac
import re
import zlib
from dataclasses import dataclass
from typing import NoReturn

from gateway.authn.canonical import EMPTY_SHA256, TERMINATOR
from gateway.errors import Malformed, NotAuthenticated

_CHUNK_HEADER = re.compile(rb"([0-9a-fA-F]{1,8})(?:;chunk-signature=([0-9a-f]{64}))?")
_TRAILER = re.compile(r"([a-z0-9-]{1,64}):([\x21-\x7e ]{1,1024})")
_TRAILER_SIGNATURE = "x-amz-trailer-signature"
_MAX_LINE = 1200
MAX_CHUNKS = 10_000
"""AWS asks for chunks of at least 8 KiB; SDKs send 64 KiB or more."""
MAX_TRAILERS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """One chunk. The last chunk of a body has no data."""

    data: bytes
    signature: str
    """64 hex digits; empty if the chunk is not signed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """A decoded body."""

    body: bytes
    trailers: tuple[tuple[str, str], ...]
    """Trailer fields in order, names in lower case, without the trailer's signature. They count as headers of the request."""
    chunks: tuple[Chunk, ...]
    trailer_signature: str


def decode(raw: bytes, *, length: int | None = None) -> Decoded:
    """Decode a complete `aws-chunked` body. `length` is the value of `x-amz-decoded-content-length`, if sent.

    Compares the trailer's checksums (crc32, sha1, sha256) with the body; others are forwarded, and AWS verifies them.
    Raises `errors.Malformed` unless the bytes are exactly one well-formed body.
    """
    found: list[Chunk] = []
    at = 0
    while not found or found[-1].data:
        chunk, at = _chunk(raw, at)
        found.append(chunk)
        if len(found) > MAX_CHUNKS:
            _malformed(f"The body has more than {MAX_CHUNKS} chunks.")
    fields, at = _trailers(raw, at)
    if at != len(raw):
        _malformed("There are bytes after the end of the chunked body.")
    body = b"".join(chunk.data for chunk in found)
    if length is not None and length != len(body):
        _malformed(f"The body has {len(body)} bytes, but x-amz-decoded-content-length states {length}.")
    trailer_signature = dict(fields).get(_TRAILER_SIGNATURE, "")
    trailers = tuple(field for field in fields if field[0] != _TRAILER_SIGNATURE)
    _verify_checksums(body, trailers)
    return Decoded(body=body, trailers=trailers, chunks=tuple(found), trailer_signature=trailer_signature)


def verify(raw: bytes, *, seed: str, key: bytes, timestamp: str, region: str, service: str, trailer: bool) -> Decoded:
    """Decode a body of signed chunks and verify their signatures, each of which covers the previous one.

    `seed` is the signature of the request, `key` the signing key, `trailer` whether a signed trailer was announced.
    Raises `errors.NotAuthenticated` (`SignatureDoesNotMatch`), `errors.Malformed`.
    """
    decoded = decode(raw)
    scope = f"{timestamp}\n{timestamp[:8]}/{region}/{service}/{TERMINATOR}"
    previous = seed
    for chunk in decoded.chunks:
        hashed = hashlib.sha256(chunk.data).hexdigest()
        previous = _verified(
            key, f"AWS4-HMAC-SHA256-PAYLOAD\n{scope}\n{previous}\n{EMPTY_SHA256}\n{hashed}", chunk.signature
        )
    if trailer:
        text = "".join(f"{name}:{value}\n" for name, value in sorted(decoded.trailers))
        hashed = hashlib.sha256(text.encode()).hexdigest()
        _verified(key, f"AWS4-HMAC-SHA256-TRAILER\n{scope}\n{previous}\n{hashed}", decoded.trailer_signature)
    elif decoded.trailers or decoded.trailer_signature:
        _malformed("The body has a trailer that was not announced.")
    return decoded


def _verified(key: bytes, text: str, given: str) -> str:
    """The expected signature of the text, if the given one equals it."""
    expected = hmac.digest(key, text.encode(), "sha256").hex()
    if not hmac.compare_digest(expected, given):
        raise NotAuthenticated(
            "A chunk's signature does not match its bytes, so the body was changed in transit or signed with another key.",
            aws_code="SignatureDoesNotMatch",
        )
    return expected


def _line(raw: bytes, at: int) -> tuple[bytes, int]:
    end = raw.find(b"\r\n", at, at + _MAX_LINE)
    if end < 0:
        _malformed("The chunked body is truncated, or one of its lines is too long.")
    return raw[at:end], end + 2


def _chunk(raw: bytes, at: int) -> tuple[Chunk, int]:
    line, at = _line(raw, at)
    match = _CHUNK_HEADER.fullmatch(line)
    if match is None:
        _malformed("A chunk header is not a size with an optional signature.")
    size = int(match[1], 16)
    signature = (match[2] or b"").decode()
    if size == 0:
        return Chunk(data=b"", signature=signature), at
    if raw[at + size : at + size + 2] != b"\r\n":
        _malformed("A chunk is not as long as its header says.")
    return Chunk(data=raw[at : at + size], signature=signature), at + size + 2


def _trailers(raw: bytes, at: int) -> tuple[list[tuple[str, str]], int]:
    fields: list[tuple[str, str]] = []
    while True:
        line, at = _line(raw, at)
        if not line:
            return fields, at
        match = _TRAILER.fullmatch(
            line.decode("latin-1").lower().partition(":")[0] + ":" + line.decode("latin-1").partition(":")[2].strip()
        )
        if match is None or match[1] in dict(fields) or len(fields) >= MAX_TRAILERS:
            _malformed(f"A trailer field is malformed or repeated, or there are more than {MAX_TRAILERS}.")
        fields.append((match[1], match[2]))


def _verify_checksums(body: bytes, trailers: tuple[tuple[str, str], ...]) -> None:
    for name, value in trailers:
        match name.removeprefix("x-amz-checksum-"):
            case "crc32":
                found = zlib.crc32(body).to_bytes(4, "big")
            case "sha1":
                found = hashlib.sha1(body, usedforsecurity=False).digest()
            case "sha256":
                found = hashlib.sha256(body).digest()
            case _:
                continue
        if base64.b64encode(found).decode() != value:
            raise Malformed(
                f"The body does not have the {name} that its trailer states.", aws_code="BadDigest", code="bad_digest"
            )


def _malformed(reason: str) -> NoReturn:
    raise Malformed(f"{reason} Nothing was sent.", aws_code="IncompleteBody", code="bad_chunks")
