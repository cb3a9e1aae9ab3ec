"""Writes the head of a request as bytes. What could be read as more than one request, or as another one, is refused."""

import re
from collections.abc import AsyncIterator, Sequence

_WITHOUT_LENGTH = frozenset({"GET", "HEAD"})
"""Methods that state no length of an empty body."""
_TARGET = re.compile(r"/[!-~]*")
_METHOD = re.compile(r"[A-Z]{1,10}")
_BREAK = re.compile(r"[\r\n\0]")
_LENGTH = "content-length"


def head_bytes(
    method: str, origin: str, target: str, headers: Sequence[tuple[str, str]], body: bytes | AsyncIterator[bytes]
) -> bytes:
    """The request line and the headers, with `host` and the framing of the body where `headers` do not state them.

    Names are lower-case. Raises `ValueError` for a line break in a header, or a method or target that is not one.
    """
    if _METHOD.fullmatch(method) is None or _TARGET.fullmatch(target) is None:
        raise ValueError("the method or the target is not one of HTTP")
    lines = [f"{name}: {value}" for name, value in headers]
    names = {name for name, _ in headers}
    if "host" not in names:
        lines.append(f"host: {origin.partition('//')[2]}")
    if _LENGTH not in names:
        if not isinstance(body, bytes):
            lines.append("transfer-encoding: chunked")
        elif body or method not in _WITHOUT_LENGTH:
            lines.append(f"{_LENGTH}: {len(body)}")
    if any(map(_BREAK.search, lines)):
        raise ValueError("a header has a line break")
    return "\r\n".join((f"{method} {target} HTTP/1.1", *lines, "", "")).encode("latin-1")


def is_chunked(headers: Sequence[tuple[str, str]]) -> bool:
    """Whether a body in pieces is sent in chunks, because no header states its length."""
    return all(name != _LENGTH for name, _ in headers)


async def in_pieces(body: bytes, size: int) -> AsyncIterator[bytes]:
    """A long body in pieces: written as one it would hold up the event loop."""
    for start in range(0, len(body), size):
        yield body[start : start + size]
