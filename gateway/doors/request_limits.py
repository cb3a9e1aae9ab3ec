"""The guard in front of every door: what two HTTP readers could take in two ways, or what is only there to wear us out, goes no further.

uvicorn's parsers are no judges (both let requests through that must be refused; `tests/gateway/doors/aws/test_bad_http.py` holds us to them).
The limits are ours; the rules are those of RFC 9112 (HTTP/1.1) 3.2, 6.1 and 6.3, RFC 9110 7.2 and 15.5, and RFC 6585 5.
"""

import re

from gateway.doors.asgi import Scope
from gateway.errors import Malformed

LONGEST_TARGET = 8 * 1024
LONGEST_HEADER = 8 * 1024
ALL_HEADERS = 32 * 1024
MOST_HEADERS = 100
"""How long a request target, one header and all headers may be, in bytes, and how many headers there may be."""

_HOST = re.compile(rb"(?:[A-Za-z0-9](?:[A-Za-z0-9._-]{0,253})|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")
_TARGET = re.compile(rb"[!-~]*")
_VERSIONS = frozenset({"1.0", "1.1"})


class TargetTooLong(Malformed):
    """The path and query are longer than any AWS client makes them."""

    def __init__(self) -> None:
        super().__init__(
            f"The request target is longer than {LONGEST_TARGET} bytes. Nothing was sent.",
            aws_code="RequestUriTooLong",
            code="target_too_long",
        )


class HeadersTooLarge(Malformed):
    """The headers are more than any AWS client sends."""

    def __init__(self) -> None:
        super().__init__(
            f"The request has more than {MOST_HEADERS} headers, one of more than {LONGEST_HEADER} bytes, or more than "
            f"{ALL_HEADERS} bytes of them. Nothing was sent.",
            aws_code="RequestHeaderSectionTooLarge",
            code="headers_too_large",
        )


def objection_to(scope: Scope) -> Malformed | None:
    """What is wrong with a request's head, None where nothing is. Reads neither body nor signature."""
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    raw: bytes = scope.get("raw_path") or b""
    query: bytes = scope["query_string"]
    if len(raw) + len(query) > LONGEST_TARGET:
        return TargetTooLong()
    if len(headers) > MOST_HEADERS:
        return HeadersTooLarge()
    sizes = [len(name) + len(value) for name, value in headers]
    if sum(sizes) > ALL_HEADERS or max(sizes, default=0) > LONGEST_HEADER:
        return HeadersTooLarge()
    if scope["http_version"] not in _VERSIONS:
        return _odd("Sentinel speaks HTTP/1.1.", "http_version")
    if not _TARGET.fullmatch(raw) or not _TARGET.fullmatch(query) or b"%00" in raw:
        return _odd("The request target holds a control character or raw bytes outside ASCII.", "target")
    return _framed(scope, headers)


def _framed(scope: Scope, headers: list[tuple[bytes, bytes]]) -> Malformed | None:
    """Host and framing: one reading of where the request goes and where it ends."""
    hosts: list[bytes] = []
    lengths: list[bytes] = []
    encodings: list[bytes] = []
    for name, value in headers:
        if name == b"host":
            hosts.append(value)
        elif name == b"content-length":
            lengths.append(value)
        elif name == b"transfer-encoding":
            encodings.append(value)
    if len(hosts) != 1 or _HOST.fullmatch(hosts[0]) is None:
        return _odd("A request needs exactly one Host header, of the form host or host:port.", "host")
    if len(lengths) > 1 or any(not length.isdigit() for length in lengths):
        return _odd("Content-Length must stand once and be a number.", "framing")
    if encodings and (
        len(encodings) > 1 or encodings[0].lower() != b"chunked" or lengths or scope["http_version"] == "1.0"
    ):
        return _odd("A request is framed by one Content-Length or by Transfer-Encoding: chunked.", "framing")
    return None


def _odd(reason: str, code: str) -> Malformed:
    return Malformed(f"{reason} Nothing was sent.", aws_code="InvalidRequest", code=code)
