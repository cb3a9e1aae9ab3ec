"""Decodes `aws-chunked` bodies, whole or while they pass, and verifies their chain of chunk signatures.

Source: "Signature calculations: transferring payload in multiple chunks", S3 API Reference
(https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming.html and sigv4-streaming-trailers.html). A body that passes hands on a chunk
before the chunk's signature is verified: a reader must not pass on the end of the body before `finish` has returned.
"""

import base64
import hashlib
import hmac
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import NoReturn

from gateway.core.errors import Malformed, NotAuthenticated
from gateway.core.hmac_sha256 import hmac_sha256
from gateway.core.model.signature import PayloadKind
from gateway.identity.canonical import EMPTY_SHA256, TERMINATOR
from gateway.identity.signed_body import BodyCheck, Checksum, PlainCheck

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
    expected = hmac_sha256(key, text.encode()).hex()
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


_HEADER = re.compile(rb"([0-9a-fA-F]{1,16})(?:;chunk-signature=([0-9a-f]{64}))?")
_FIELD = re.compile(r"([a-z0-9-]{1,64}):([\x21-\x7e ]{1,1024})")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkSigning:
    """The inputs of the signatures of the chunks."""

    seed: str
    """The signature of the request."""
    key: bytes
    timestamp: str
    region: str
    service: str

    def of_chunk(self, previous: str, hashed: str) -> str:
        """The signature of a chunk whose data has this SHA-256."""
        return self._signed(f"AWS4-HMAC-SHA256-PAYLOAD\n{self._scope}\n{previous}\n{EMPTY_SHA256}\n{hashed}")

    def of_trailer(self, previous: str, fields: Sequence[tuple[str, str]]) -> str:
        """The signature of the trailer."""
        text = "".join(f"{name}:{value}\n" for name, value in sorted(fields))
        hashed = hashlib.sha256(text.encode()).hexdigest()
        return self._signed(f"AWS4-HMAC-SHA256-TRAILER\n{self._scope}\n{previous}\n{hashed}")

    @property
    def _scope(self) -> str:
        return f"{self.timestamp}\n{self.timestamp[:8]}/{self.region}/{self.service}/{TERMINATOR}"

    def _signed(self, text: str) -> str:
        return hmac_sha256(self.key, text.encode()).hex()


class _Expects(Enum):
    """What comes next in the stream."""

    HEADER = auto()
    DATA = auto()
    DATA_END = auto()
    TRAILER = auto()
    NOTHING = auto()


class ChunkStream:
    """One `aws-chunked` body. Keeps at most one line of it."""

    def __init__(self, *, signing: ChunkSigning | None, trailer: str) -> None:
        """`signing` is None if the chunks are not signed; `trailer` is the announced trailer field, empty if there is none."""
        self._signing = signing
        self._previous = signing.seed if signing else ""
        self._trailer = trailer
        self._checksum = Checksum(trailer) if trailer else None
        self._expects = _Expects.HEADER
        self._line = b""
        self._left = 0
        self._stated = ""
        self._hash = hashlib.sha256()
        self._fields: list[tuple[str, str]] = []

    def feed(self, raw: bytes) -> Iterator[bytes]:
        """The data in these bytes. Raises `errors.Malformed`, and `errors.NotAuthenticated` at the end of a chunk that was changed."""
        at = 0
        while at < len(raw):
            if self._expects is _Expects.DATA:
                data = raw[at : at + self._left]
                at += len(data)
                self._take(data)
                yield data
            elif self._expects is _Expects.NOTHING:
                _chunk_stream_malformed("There are bytes after the end of the chunked body.")
            else:
                at = self._read_line(raw, at)

    def finish(self) -> Sequence[tuple[str, str]]:
        """The trailer. Raises `errors.Malformed` if the body is truncated."""
        if self._expects is not _Expects.NOTHING:
            _chunk_stream_malformed("The chunked body is truncated.")
        return tuple(field for field in self._fields if field[0] != _TRAILER_SIGNATURE)

    def _take(self, data: bytes) -> None:
        self._left -= len(data)
        if self._signing:
            self._hash.update(data)
        if self._checksum:
            self._checksum.update(data)
        if not self._left:
            self._expects = _Expects.DATA_END

    def _read_line(self, raw: bytes, at: int) -> int:
        """Take the bytes up to the end of a line, and handle the line if it is complete."""
        # The line's end may be split between two pieces.
        line = self._line + raw[at : at + _MAX_LINE]
        end = line.find(b"\r\n")
        if end < 0:
            if len(line) > _MAX_LINE:
                _chunk_stream_malformed("A line of the chunked body is too long.")
            self._line = line
            return at + len(raw[at : at + _MAX_LINE])
        consumed = end + 2 - len(self._line)
        self._line = b""
        self._handle(line[:end])
        return at + consumed

    def _handle(self, line: bytes) -> None:
        match self._expects:
            case _Expects.HEADER:
                self._begin_chunk(line)
            case _Expects.DATA_END:
                if line:
                    _chunk_stream_malformed("A chunk is not as long as its header says.")
                self._end_chunk()
                self._expects = _Expects.HEADER
            case _:
                self._trailer_line(line)

    def _begin_chunk(self, line: bytes) -> None:
        found = _HEADER.fullmatch(line)
        if found is None:
            _chunk_stream_malformed("A chunk header is not a size with an optional signature.")
        self._left, self._stated = int(found[1], 16), (found[2] or b"").decode()
        self._hash = hashlib.sha256()
        if self._left:
            self._expects = _Expects.DATA
        else:
            self._end_chunk()
            self._expects = _Expects.TRAILER

    def _end_chunk(self) -> None:
        if self._signing:
            expected = self._signing.of_chunk(self._previous, self._hash.hexdigest())
            self._previous = _same(expected, self._stated)

    def _trailer_line(self, line: bytes) -> None:
        if not line:
            self._end_body()
            return
        name, _, value = line.decode("latin-1").partition(":")
        field = _FIELD.fullmatch(f"{name.lower()}:{value.strip()}")
        if field is None or field[1] in dict(self._fields) or len(self._fields) >= MAX_TRAILERS:
            _chunk_stream_malformed(f"A trailer field is malformed or repeated, or there are more than {MAX_TRAILERS}.")
        self._fields.append((field[1], field[2]))

    def _end_body(self) -> None:
        fields = dict(self._fields)
        signature = fields.pop(_TRAILER_SIGNATURE, "")
        if set(fields) != ({self._trailer} if self._trailer else set()):
            _chunk_stream_malformed("The trailer is not the one that x-amz-trailer announces.")
        if self._signing and self._trailer:
            _same(self._signing.of_trailer(self._previous, tuple(fields.items())), signature)
        elif signature:
            _chunk_stream_malformed("The body has a signature of a trailer that was not announced.")
        if self._checksum:
            self._checksum.compare(fields[self._trailer])
        self._expects = _Expects.NOTHING


def check_of(kind: PayloadKind, sha256: str, signing: ChunkSigning, trailer: str) -> BodyCheck:
    """The check for a body that is signed in this way. Raises `errors.NotAuthenticated` for a trailer that nothing would verify."""
    if not kind.chunked:
        return PlainCheck(sha256)
    name = trailer.strip().lower()
    if name and kind is PayloadKind.SIGNED_CHUNKS:
        raise NotAuthenticated(
            "x-amz-trailer is announced, but x-amz-content-sha256 does not end in -TRAILER.",
            aws_code="IncompleteSignature",
        )
    return ChunkStream(signing=signing if kind.binds else None, trailer=name)


def _same(expected: str, given: str) -> str:
    if not hmac.compare_digest(expected, given):
        raise NotAuthenticated(
            "A chunk's signature does not match its bytes, so the body was changed in transit or signed with another key.",
            aws_code="SignatureDoesNotMatch",
        )
    return expected


def _chunk_stream_malformed(reason: str) -> NoReturn:
    raise Malformed(f"{reason} AWS stores nothing of it.", aws_code="IncompleteBody", code="bad_chunks")
