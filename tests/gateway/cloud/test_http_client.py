"""The HTTP client's guarantees. What they mean for a mutation is in test_aws.py."""

from typing import Any

import pytest

from gateway.cloud.http_client import Client, HttpResponse, NoAnswer, NotSent, text_headers

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


def test_hop_by_hop_headers_are_left_out() -> None:
    raw = [(b"Connection", b"close"), (b"X-A", b"\xe9"), (b"TRANSFER-ENCODING", b"chunked"), (b"Keep-Alive", b"1")]
    assert text_headers(raw) == (("X-A", "é"),)


def test_an_absent_header_is_empty() -> None:
    assert HttpResponse(status=200, headers=(("X-A", "1"),), body=b"").header("x-a") == "1"
    assert HttpResponse(status=200, headers=(), body=b"").header("x-a") == ""


async def test_no_cookie_is_kept_and_nothing_is_decompressed(client: Client, server: Any, reply: Any) -> None:
    server.replies = [reply(200, b"\x1f\x8b", Set_Cookie="a=b; Path=/", Content_Encoding="gzip")]
    for _ in range(2):
        answer = await client.send_once(method="GET", url=server.url + "/", headers=[("host", "x")], body=b"")
        assert answer.body == b"\x1f\x8b"
    assert b"cookie" not in server.seen[1].lower()


async def test_refused_is_not_sent_and_broken_is_no_answer(client: Client, server: Any) -> None:
    server.replies = [b""]
    with pytest.raises(NoAnswer):
        await client.send_once(method="PUT", url=server.url + "/", headers=[], body=b"x")
    with pytest.raises(NotSent):
        await client.send_once(method="PUT", url="http://127.0.0.1:1/", headers=[], body=b"x")


async def test_no_http_over_tls_is_not_sent(client: Client, server: Any) -> None:
    server.replies = [b"HTTP/1.1 400 plain\r\n\r\n"]
    with pytest.raises(NotSent):
        await client.send_once(method="PUT", url=server.url.replace("http", "https") + "/", headers=[], body=b"x")


async def test_it_can_be_closed_and_used_again(client: Client, server: Any, reply: Any) -> None:
    server.replies = [reply(200, b"a")]
    await client.close()
    await client.send_once(method="GET", url=server.url + "/", headers=[], body=b"")
    await client.close()
    assert (await client.send_once(method="GET", url=server.url + "/", headers=[], body=b"")).status == 200
