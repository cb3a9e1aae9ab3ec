"""Rejects malformed requests before routing: anything two HTTP parsers could read differently, and anything over the size limits.

Do not rely on uvicorn's parsers: both accept requests that must be refused (see `tests/gateway/aws/door/test_bad_http.py`).
The limits are our own; the rules are those of RFC 9112 (HTTP/1.1) 3.2, 6.1 and 6.3, RFC 9110 7.2 and 15.5, and RFC 6585 5.
"""

import re
from itertools import chain

from gateway.core.errors import Malformed
from gateway.core.http.asgi import Scope, fields_of

MAX_TARGET_BYTES = 8 * 1024
MAX_HEADER_BYTES = 8 * 1024
MAX_HEADERS_BYTES = 32 * 1024
MAX_HEADERS = 100
"""Limits of the request target, of one header (name and value), of all headers together (in bytes), and of the number of headers."""

_HOST = re.compile(rb"(?:[A-Za-z0-9](?:[A-Za-z0-9._-]{0,253})|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")
_TARGET = re.compile(rb"[!-~]*")
_NAME, _LENGTH, _ENCODING = b"host", b"content-length", b"transfer-encoding"
_VERSIONS = frozenset({"1.0", "1.1"})


class TargetTooLong(Malformed):
    """The path and query are longer than `MAX_TARGET_BYTES`, which no AWS client exceeds."""

    def __init__(self) -> None:
        super().__init__(
            f"The request target is longer than {MAX_TARGET_BYTES} bytes. Nothing was sent.",
            aws_code="RequestUriTooLong",
            code="target_too_long",
        )


class HeadersTooLarge(Malformed):
    """The headers exceed one of the limits, which no AWS client does."""

    def __init__(self) -> None:
        super().__init__(
            f"The request has more than {MAX_HEADERS} headers, one of more than {MAX_HEADER_BYTES} bytes, or more than "
            f"{MAX_HEADERS_BYTES} bytes of them. Nothing was sent.",
            aws_code="RequestHeaderSectionTooLarge",
            code="headers_too_large",
        )


def head_error(scope: Scope) -> Malformed | None:
    """The error in a request's head, None if it is well-formed and within the limits. Reads neither body nor signature."""
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    raw: bytes = scope.get("raw_path") or b""
    query: bytes = scope["query_string"]
    if len(raw) + len(query) > MAX_TARGET_BYTES:
        return TargetTooLong()
    if len(headers) > MAX_HEADERS:
        return HeadersTooLarge()
    total = sum(map(len, chain.from_iterable(headers)))
    if total > MAX_HEADER_BYTES and (
        total > MAX_HEADERS_BYTES or max(len(name) + len(value) for name, value in headers) > MAX_HEADER_BYTES
    ):
        return HeadersTooLarge()
    if scope["http_version"] not in _VERSIONS:
        return _malformed("Sentinel speaks HTTP/1.1.", "http_version")
    if not _TARGET.fullmatch(raw) or b"%00" in raw or (query and (not _TARGET.fullmatch(query) or b"%00" in query)):
        return _malformed("The request target contains a control character or raw bytes outside ASCII.", "target")
    return _host_or_framing_error(scope, headers)


def _host_or_framing_error(scope: Scope, headers: list[tuple[bytes, bytes]]) -> Malformed | None:
    """An ambiguity about the request's host or about where its body ends."""
    fields = fields_of(scope)
    names = [name for name, _ in headers] if len(fields) < len(headers) else ()
    host, length, encoding = fields.get(_NAME), fields.get(_LENGTH), fields.get(_ENCODING)
    if host is None or names.count(_NAME) > 1 or _HOST.fullmatch(host) is None:
        return _malformed("A request needs exactly one Host header, of the form host or host:port.", "host")
    if length is not None and (names.count(_LENGTH) > 1 or not length.isdigit()):
        return _malformed("Content-Length must be sent only once and be a number.", "framing")
    if encoding is not None and (
        names.count(_ENCODING) > 1
        or encoding.lower() != b"chunked"
        or length is not None
        or scope["http_version"] == "1.0"
    ):
        return _malformed("A request must have either one Content-Length or Transfer-Encoding: chunked.", "framing")
    return None


def _malformed(reason: str, code: str) -> Malformed:
    return Malformed(f"{reason} Nothing was sent.", aws_code="InvalidRequest", code=code)
