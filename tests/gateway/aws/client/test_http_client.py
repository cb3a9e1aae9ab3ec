"""The HTTP client's guarantees. What they mean for a mutation is in test_aws.py."""

import asyncio
from typing import Any

import pytest

from gateway.aws.client.http_client import Client, text_headers
from gateway.core.outbound.response import HttpResponse, NoAnswer, NotSent

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


async def test_no_http_over_tls_is_not_sent(client: Client) -> None:
    """What answers the greeting of TLS with plain HTTP gets no request."""

    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 plain\r\n\r\n")
        await reader.read()
        writer.close()

    async with await asyncio.start_server(plain, "127.0.0.1", 0) as listening:
        url = f"https://127.0.0.1:{listening.sockets[0].getsockname()[1]}/"
        with pytest.raises(NotSent):
            await client.send_once(method="PUT", url=url, headers=[], body=b"x")


async def test_who_never_answers_the_greeting_of_tls_gets_no_request(server: Any) -> None:
    impatient = Client(connect_seconds=0.1, reply_seconds=300)
    with pytest.raises(NotSent):
        await impatient.send_once(method="PUT", url=server.url.replace("http", "https") + "/", headers=[], body=b"x")
    await impatient.close()
    assert not server.seen


async def test_it_can_be_closed_and_used_again(client: Client, server: Any, reply: Any) -> None:
    server.replies = [reply(200, b"a")]
    await client.close()
    await client.send_once(method="GET", url=server.url + "/", headers=[], body=b"")
    await client.close()
    assert (await client.send_once(method="GET", url=server.url + "/", headers=[], body=b"")).status == 200


async def test_an_idle_connection_that_died_is_replaced_before_a_byte_is_sent(
    client: Client, server: Any, reply: Any
) -> None:
    server.replies = [reply(200, b"a", Connection="close"), reply(200, b"b")]
    bodies = [
        (await client.send_once(method="PUT", url=server.url + "/", headers=[], body=b"x")).body for _ in range(3)
    ]
    assert bodies == [b"a", b"b", b"b"]
    assert (len(server.seen), server.connections) == (3, 2)


async def test_an_idle_connection_is_not_kept_for_long(
    client: Client, server: Any, reply: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.aws.client.http_client.IDLE_SECONDS", 0.05)
    server.replies = [reply(200, b"a")]
    await client.send_once(method="GET", url=server.url + "/", headers=[], body=b"")
    async with asyncio.timeout(300):
        while client._idle:  # noqa: ASYNC110  what changes has no event
            await asyncio.sleep(0.01)
    await client.send_once(method="GET", url=server.url + "/", headers=[], body=b"")
    assert server.connections == 2


async def test_a_reply_that_never_begins_is_no_answer(server: Any) -> None:
    server.hold, server.replies = 300, [b""]
    client = Client(connect_seconds=300, reply_seconds=0.01)
    with pytest.raises(NoAnswer, match="no reply in time"):
        await client.open(method="GET", url=server.url + "/", headers=[], body=b"")
    await client.close()


async def test_closing_ends_what_still_waits_and_keeps_nothing(client: Client, server: Any) -> None:
    server.hold, server.replies = 300, [b""]
    waiting = asyncio.ensure_future(client.open(method="GET", url=server.url + "/", headers=[], body=b""))
    async with asyncio.timeout(300):
        while not server.seen:  # noqa: ASYNC110  what changes has no event
            await asyncio.sleep(0.001)
    await client.close()
    done, _ = await asyncio.wait([waiting], timeout=60)
    assert done == {waiting}
    with pytest.raises(NoAnswer):
        waiting.result()
    async with asyncio.timeout(300):
        while client._open:  # noqa: ASYNC110  what changes has no event
            await asyncio.sleep(0.001)
    assert client._idle == {}


async def test_a_connection_that_closes_as_soon_as_it_is_open_is_not_sent(
    client: Client, server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.aws.client.connection.Connection.usable", False)
    with pytest.raises(NotSent, match="as soon as it was open"):
        await client.send_once(method="PUT", url=server.url + "/", headers=[], body=b"x")
    assert server.seen == []


async def test_a_request_that_is_no_http_is_not_sent(client: Client, server: Any) -> None:
    with pytest.raises(NotSent, match="line break"):
        await client.send_once(method="PUT", url=server.url + "/", headers=[("x-a", "b\r\nx-c: d")], body=b"")
    assert server.connections == 0


async def test_the_reply_to_a_head_has_no_body(client: Client, server: Any) -> None:
    server.replies = [b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"]
    for _ in range(2):
        assert (await client.send_once(method="HEAD", url=server.url + "/", headers=[], body=b"")).body == b""
    assert server.connections == 1


async def test_a_large_body_arrives_whole(client: Client, server: Any, reply: Any) -> None:
    server.replies = [reply(200, b"done")]
    body = bytes(range(256)) * 4096 * 3
    for _ in range(2):
        assert (await client.send_once(method="PUT", url=server.url + "/", headers=[], body=body)).body == b"done"
        assert server.seen[-1].partition(b"\r\n\r\n")[2] == body
    assert server.connections == 1
