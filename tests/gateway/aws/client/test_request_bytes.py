"""The head of a request: framed by its body, and never more than one request."""

import pytest

from gateway.aws.client.http_client import head_bytes, in_pieces, is_chunked


def head(
    *, method: str = "POST", target: str = "/", headers: tuple[tuple[str, str], ...] = (), body: bytes = b""
) -> bytes:
    return head_bytes(method, "https://sqs.us-east-1.amazonaws.com", target, headers, body)


def test_host_and_length_are_added_where_they_are_missing() -> None:
    assert head(body=b"abc") == b"POST / HTTP/1.1\r\nhost: sqs.us-east-1.amazonaws.com\r\ncontent-length: 3\r\n\r\n"
    given = (("host", "h"), ("content-length", "3"))
    assert head(body=b"abc", headers=given) == b"POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 3\r\n\r\n"


@pytest.mark.parametrize(("method", "stated"), [("GET", False), ("HEAD", False), ("DELETE", True), ("PUT", True)])
def test_an_empty_body_has_a_length_where_one_is_expected(method: str, *, stated: bool) -> None:
    assert (b"content-length: 0" in head(method=method)) is stated


async def test_a_body_in_pieces_of_unknown_length_is_chunked() -> None:
    pieces = in_pieces(b"abcde", 2)
    assert b"transfer-encoding: chunked" in head_bytes("PUT", "http://x", "/", (), pieces)
    assert b"chunked" not in head_bytes("PUT", "http://x", "/", (("content-length", "5"),), pieces)
    assert (is_chunked(()), is_chunked((("content-length", "5"),))) == (True, False)
    assert [piece async for piece in pieces] == [b"ab", b"cd", b"e"]


def test_a_value_goes_out_as_the_bytes_that_were_signed() -> None:
    assert b"x-a: \xe9\r\n" in head(headers=(("x-a", "é"),))


@pytest.mark.parametrize("value", ["a\r\nx-b: 1", "a\nb", "a\rb", "a\0b", "\u20ac"])
def test_a_value_that_is_more_than_a_value_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match=r"line break|codec"):
        head(headers=(("x-a", value),))


@pytest.mark.parametrize("target", ["", "x", "/a b", "/a\r\nb", "/é", "/ HTTP/1.1", "*"])
def test_a_target_that_is_more_than_a_target_is_refused(target: str) -> None:
    with pytest.raises(ValueError, match="target"):
        head(target=target)


@pytest.mark.parametrize("method", ["", "get", "PO ST", "GET\r\n", "GET /x"])
def test_a_method_that_is_none_is_refused(method: str) -> None:
    with pytest.raises(ValueError, match="method"):
        head(method=method)
