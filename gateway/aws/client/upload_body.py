"""Frames the body of an S3 object for AWS while it arrives, and gives the outcome of a body that stops before its end."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

from gateway.core.model.inbound import Upload
from gateway.core.model.mutation import Call
from gateway.core.model.outcome import Failed
from gateway.core.model.signature import PayloadKind

_CHUNK = 64 * 1024
"""Bytes of a chunk; S3 asks for at least 8 KiB."""
_DIGITS = {
    "crc32": 8,
    "crc32c": 8,
    "crc64nvme": 12,
    "md5": 24,
    "sha1": 28,
    "sha256": 44,
    "sha512": 88,
    "xxhash128": 24,
    "xxhash3": 12,
    "xxhash64": 12,
}
"""Length of each checksum in base64."""


def without_body(call: Call) -> Call:
    """The call without the parameter that stands for its body."""
    return replace(call, parameters={name: value for name, value in call.parameters.items() if name != "Body"})


def payload_of(upload: Upload) -> str:
    """The value of `x-amz-content-sha256`: the hash if the client signed one, so that AWS verifies it too."""
    if upload.trailer:
        return PayloadKind.UNSIGNED_CHUNKS_TRAILER.value
    return upload.sha256 or PayloadKind.UNSIGNED.value


def framed(headers: Sequence[tuple[str, str]], upload: Upload) -> list[tuple[str, str]]:
    """The headers of the request, with those that announce a checksum after the body."""
    if not upload.trailer:
        return list(headers)
    kept = dict(headers)
    encoding = kept.pop("content-encoding", "")
    return [
        *kept.items(),
        ("content-encoding", f"aws-chunked,{encoding}" if encoding else "aws-chunked"),
        ("x-amz-decoded-content-length", str(upload.length)),
        ("x-amz-trailer", upload.trailer),
    ]


async def body_of(upload: Upload) -> tuple[list[tuple[str, str]], bytes | AsyncIterator[bytes]]:
    """The headers that frame the body, and the body as it is sent. An empty body is verified first: its head alone completes the request.

    Raises what `upload.parts` raises, for an empty one.
    """
    parts = upload.parts()
    if not upload.length:
        parts = _pieces([part async for part in parts])
    if upload.trailer:
        return _chunked_length(upload), _chunked(upload, parts)
    return [("content-length", str(upload.length))], parts if upload.length else b""


def stopped(upload: Upload, operation: str) -> Failed:
    """The outcome of an upload whose last piece was never sent: AWS has a part of it, and stores nothing."""
    if upload.failure is not None:
        return Failed(code=upload.failure.code, message=str(upload.failure))
    return Failed(
        code="IncompleteBody",
        message=f"The connection to AWS broke before {operation} had sent the whole body, so AWS stored nothing. Try again.",
    )


async def _pieces(pieces: Sequence[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


async def _chunked(upload: Upload, parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The body as `aws-chunked`, in chunks of one size, with the client's own checksum at its end."""
    waiting = b""
    async for part in parts:
        waiting += part
        while len(waiting) >= _CHUNK:
            yield b"%x\r\n%b\r\n" % (_CHUNK, waiting[:_CHUNK])
            waiting = waiting[_CHUNK:]
    last = b"%x\r\n%b\r\n" % (len(waiting), waiting) if waiting else b""
    fields = "".join(f"{name}:{value}\r\n" for name, value in upload.trailers())
    yield last + f"0\r\n{fields}\r\n".encode("latin-1")


def _chunked_length(upload: Upload) -> list[tuple[str, str]]:
    """The header with the length of `_chunked`; none for a checksum of unknown length, which is sent with `transfer-encoding` instead."""
    digits = _DIGITS.get(upload.trailer.removeprefix("x-amz-checksum-"))
    if digits is None:
        return []
    full, rest = divmod(upload.length, _CHUNK)
    chunks = full * _framed_length(_CHUNK) + (_framed_length(rest) if rest else 0)
    return [("content-length", str(chunks + len(f"0\r\n{upload.trailer}:\r\n\r\n") + digits))]


def _framed_length(size: int) -> int:
    return len(f"{size:x}\r\n\r\n") + size
