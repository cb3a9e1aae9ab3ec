"""Decodes an `aws-chunked` body while it passes, and verifies the chain of its chunk signatures.

The same format and rules as `chunks.py`, which has the source and works on complete bodies. A chunk is passed on before its signature is
verified: a reader must not pass on the end of the body before `finish` has returned.
"""

import hashlib
import hmac
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import NoReturn

from gateway.authn.body_check import BodyCheck, Checksum, PlainCheck
from gateway.authn.canonical import EMPTY_SHA256, TERMINATOR
from gateway.authn.chunks import MAX_TRAILERS
from gateway.authn.payload import PayloadKind
from gateway.errors import Malformed, NotAuthenticated

_HEADER = re.compile(rb"([0-9a-fA-F]{1,16})(?:;chunk-signature=([0-9a-f]{64}))?")
_FIELD = re.compile(r"([a-z0-9-]{1,64}):([\x21-\x7e ]{1,1024})")
_TRAILER_SIGNATURE = "x-amz-trailer-signature"
_MAX_LINE = 1200


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkSigning:
    """What the signatures of the chunks are calculated from."""

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
        return hmac.digest(self.key, text.encode(), "sha256").hex()


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
                _malformed("There are bytes after the end of the chunked body.")
            else:
                at = self._read_line(raw, at)

    def finish(self) -> Sequence[tuple[str, str]]:
        """The trailer. Raises `errors.Malformed` if the body is truncated."""
        if self._expects is not _Expects.NOTHING:
            _malformed("The chunked body is truncated.")
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
                _malformed("A line of the chunked body is too long.")
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
                    _malformed("A chunk is not as long as its header says.")
                self._end_chunk()
                self._expects = _Expects.HEADER
            case _:
                self._trailer_line(line)

    def _begin_chunk(self, line: bytes) -> None:
        found = _HEADER.fullmatch(line)
        if found is None:
            _malformed("A chunk header is not a size with an optional signature.")
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
            _malformed(f"A trailer field is malformed or repeated, or there are more than {MAX_TRAILERS}.")
        self._fields.append((field[1], field[2]))

    def _end_body(self) -> None:
        fields = dict(self._fields)
        signature = fields.pop(_TRAILER_SIGNATURE, "")
        if set(fields) != ({self._trailer} if self._trailer else set()):
            _malformed("The trailer is not the one that x-amz-trailer announces.")
        if self._signing and self._trailer:
            _same(self._signing.of_trailer(self._previous, tuple(fields.items())), signature)
        elif signature:
            _malformed("The body has a signature of a trailer that was not announced.")
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


def _malformed(reason: str) -> NoReturn:
    raise Malformed(f"{reason} AWS stores nothing of it.", aws_code="IncompleteBody", code="bad_chunks")
