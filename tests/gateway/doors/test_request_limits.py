"""Validating request heads: malformed ones, ones over the limits, and ones that every client sends."""

from typing import Any

import pytest

from gateway.doors.request_limits import MAX_HEADER_BYTES, MAX_HEADERS, MAX_HEADERS_BYTES, MAX_TARGET_BYTES, head_error

HOST = (b"host", b"localhost:8484")


def _scope(
    *headers: tuple[bytes, bytes], raw: bytes = b"/", query: bytes = b"", version: str = "1.1"
) -> dict[str, Any]:
    return {"headers": list(headers), "raw_path": raw, "query_string": query, "http_version": version}


@pytest.mark.parametrize(
    "host", [b"localhost", b"localhost:8484", b"127.0.0.1:8484", b"[::1]:8484", b"my-bucket.s3.us-east-1.amazonaws.com", b"a_b.local"]
)  # fmt: skip
def test_a_plain_host_passes(host: bytes) -> None:
    assert head_error(_scope((b"host", host))) is None


@pytest.mark.parametrize(
    "host",
    [b"", b"a/b", b"user@a", b"a?b", b"a#b", b"a b", b"a:b", b"a:123456", b"http://a", b"a,b", b"a:1@b", b".a", b"-a",
     b"\xc3\xa4.de", b"a\\b", b"[::1", b"a%2e"],
)  # fmt: skip
def test_an_ambiguous_host_is_refused(host: bytes) -> None:
    error = head_error(_scope((b"host", host)))
    assert error is not None
    assert error.code == "host"


@pytest.mark.parametrize("hosts", [(), (HOST, HOST), (HOST, (b"host", b"other"))], ids=["none", "twice", "two"])
def test_there_is_exactly_one_host(hosts: tuple[tuple[bytes, bytes], ...]) -> None:
    error = head_error(_scope(*hosts))
    assert error is not None
    assert error.code == "host"


@pytest.mark.parametrize(
    ("fields", "version"),
    [
        (((b"content-length", b"3"), (b"content-length", b"3")), "1.1"),
        (((b"content-length", b"3,3"),), "1.1"),
        (((b"content-length", b"+3"),), "1.1"),
        (((b"content-length", b"-3"),), "1.1"),
        (((b"content-length", b""),), "1.1"),
        (((b"content-length", b"3"), (b"transfer-encoding", b"chunked")), "1.1"),
        (((b"transfer-encoding", b"gzip, chunked"),), "1.1"),
        (((b"transfer-encoding", b"identity"),), "1.1"),
        (((b"transfer-encoding", b"chunked"), (b"transfer-encoding", b"chunked")), "1.1"),
        (((b"transfer-encoding", b"chunked"),), "1.0"),
    ],
)
def test_a_body_has_one_end(fields: tuple[tuple[bytes, bytes], ...], version: str) -> None:
    error = head_error(_scope(HOST, *fields, version=version))
    assert error is not None
    assert error.code == "framing"


@pytest.mark.parametrize("field", [(b"content-length", b"3"), (b"transfer-encoding", b"chunked"), (b"transfer-encoding", b"Chunked")])  # fmt: skip
def test_both_valid_framings_pass(field: tuple[bytes, bytes]) -> None:
    assert head_error(_scope(HOST, field)) is None


@pytest.mark.parametrize("version", ["0.9", "2", "9.9", ""])
def test_another_version_is_refused(version: str) -> None:
    assert head_error(_scope(HOST, version=version)) is not None


@pytest.mark.parametrize("raw", [b"/a\0b", b"/a%00b", b"/a b", b"/\xff", b"/a\x7f"])
def test_a_malformed_target_is_refused(raw: bytes) -> None:
    error = head_error(_scope(HOST, raw=raw))
    assert error is not None
    assert error.code == "target"


def test_raw_bytes_in_the_query_are_refused() -> None:
    assert head_error(_scope(HOST, query=b"a=\xc3\xa4")) is not None


@pytest.mark.parametrize("raw", [b"/", b"/bucket/a%2Fb//c/../d", b"/bucket/%E4%BD%A0", b"/a?b"])
def test_any_other_path_is_left_to_the_doors(raw: bytes) -> None:
    assert head_error(_scope(HOST, raw=raw)) is None


@pytest.mark.parametrize(
    ("scope", "code"),
    [
        (_scope(HOST, raw=b"/" * (MAX_TARGET_BYTES + 1)), "target_too_long"),
        (_scope(HOST, query=b"a" * MAX_TARGET_BYTES, raw=b"/"), "target_too_long"),
        (_scope(HOST, (b"x", b"a" * MAX_HEADER_BYTES)), "headers_too_large"),
        (_scope(HOST, *[(b"x", b"")] * MAX_HEADERS), "headers_too_large"),
        (_scope(HOST, *[(b"x", b"a" * 4000)] * 9), "headers_too_large"),
    ],
    ids=["path", "query", "one header", "too many headers", "all headers"],
)
def test_what_is_over_a_limit_is_refused(scope: dict[str, Any], code: str) -> None:
    error = head_error(scope)
    assert error is not None
    assert error.code == code


def test_at_the_limits_it_passes() -> None:
    assert head_error(_scope(HOST, raw=b"/" * MAX_TARGET_BYTES)) is None
    assert head_error(_scope(HOST, (b"x", b"a" * (MAX_HEADER_BYTES - 1)))) is None
    assert head_error(_scope(HOST, *[(b"x", b"")] * (MAX_HEADERS - 1))) is None
    room = MAX_HEADERS_BYTES - len(HOST[0]) - len(HOST[1])
    assert head_error(_scope(HOST, *[(b"x", b"a" * (room // 8 - 1))] * 8)) is None
