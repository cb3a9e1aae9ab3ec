"""Both outbound clients: each request is sent once, says whether it was sent, and reads no more than its limit."""

import asyncio
import gzip
import ipaddress
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeAlias

import pytest

from gateway.core.outbound.blocking import blocking_request
from gateway.core.outbound.client import OutboundClient
from gateway.core.outbound.response import (
    AddressRefused,
    HttpResponse,
    NoAnswer,
    NotSent,
    ResponseOverdue,
    ResponseTooLong,
)
from tests.kit.hook import HookStub, receiving

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
Send: TypeAlias = Callable[[str, str], Awaitable[HttpResponse]]
MOST = 1000


async def on_the_loop(method: str, url: str) -> HttpResponse:
    return await OutboundClient(seconds=300.0, most_bytes=MOST).request(method, url, headers={"x-a": "b"}, body=b"{}")


async def in_a_thread(method: str, url: str) -> HttpResponse:
    def send() -> HttpResponse:
        return blocking_request(
            method, url, headers={"x-a": "b"}, body=b"{}", connect_seconds=300.0, wait_seconds=300.0, most_bytes=MOST
        )

    return await asyncio.to_thread(send)


BOTH = pytest.mark.parametrize("send", [on_the_loop, in_a_thread])


@pytest.fixture
def stub() -> Iterator[HookStub]:
    with receiving(HookStub()) as made:
        yield made


@BOTH
async def test_a_response_is_read_whatever_its_status(send: Send, stub: HookStub) -> None:
    stub.behaviour, stub.bodies["/hook?a=%2Fb+c"] = "418 X-Odd: yes", b'{"a": 1}'
    reply = await send("POST", f"{stub.url}?a=%2Fb+c")
    assert (reply.status, reply.header("x-odd"), reply.header("x-none"), reply.document()) == (418, "yes", "", {"a": 1})
    [received] = stub.received
    assert (received.path, received.body, received.headers["x-a"]) == ("/hook?a=%2Fb+c", b"{}", "b")
    assert received.headers["accept-encoding"] == "identity"


@BOTH
async def test_neither_redirects_nor_cookies_nor_proxies_lead_elsewhere(
    send: Send, stub: HookStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    with receiving(HookStub()) as other:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
            monkeypatch.setenv(name, other.url)
        stub.behaviour = f"307 Location: {other.url}\r\nSet-Cookie: a=b"
        assert (await send("GET", stub.url)).status == 307
        await send("GET", stub.url)
        assert "cookie" not in stub.received[1].headers
        assert not other.received


@BOTH
@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("behaviour", ["drop", "garbage"])
async def test_what_may_have_been_sent_has_no_answer_and_is_not_sent_again(
    send: Send, stub: HookStub, method: str, behaviour: str
) -> None:
    stub.behaviour = behaviour
    with pytest.raises(NoAnswer) as failed:
        await send(method, stub.url)
    assert len(stub.received) == 1
    assert "127.0.0.1" not in str(failed.value)


@BOTH
@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:1/x", "https://127.0.0.1:1/x", "http://[::1/x", "http://127.0.0.1:port/x"]
)
async def test_without_a_connection_nothing_was_sent(send: Send, url: str) -> None:
    with pytest.raises(NotSent):
        await send("POST", url)


@BOTH
async def test_a_body_that_ends_early_is_no_answer(send: Send) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"{}")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\nhalf")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        with pytest.raises(NoAnswer):
            await send("POST", f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/")


@BOTH
async def test_a_body_is_read_up_to_its_limit(send: Send, stub: HookStub) -> None:
    stub.bodies["/hook"] = b"x" * MOST
    assert len((await send("GET", stub.url)).body) == MOST
    stub.bodies["/hook"] = b"x" * (MOST + 1)
    with pytest.raises(ResponseTooLong, match="more than 1000 bytes") as failed:
        await send("GET", stub.url)
    assert failed.value.head.status == 200
    stub.behaviour = "endless"
    with pytest.raises(ResponseTooLong):
        await send("GET", stub.url)
    assert await asyncio.to_thread(stub.ended.wait, 300)


async def test_a_whole_exchange_has_one_limit_of_time(stub: HookStub) -> None:
    stub.behaviour = "silent"
    with pytest.raises(ResponseOverdue):
        await OutboundClient(seconds=0.2, most_bytes=1).request("GET", stub.url)
    stub.behaviour = "drip"  # a head without an end has too many headers, or lasts too long
    with pytest.raises(NoAnswer):
        await OutboundClient(seconds=0.2, most_bytes=1).request("GET", stub.url)


async def test_without_a_limit_of_bytes_no_body_is_read(stub: HookStub) -> None:
    stub.behaviour = "endless"
    reply = await OutboundClient(seconds=300.0, most_bytes=0).request("GET", stub.url)
    assert (reply.status, reply.body) == (200, b"")
    assert await asyncio.to_thread(stub.ended.wait, 300)


async def test_a_packed_response_is_unpacked_only_on_demand_and_within_the_limit(stub: HookStub) -> None:
    stub.behaviour, stub.bodies["/hook"] = "200 Content-Encoding: gzip", gzip.compress(b"x" * 1000)
    packed = await OutboundClient(seconds=300.0, most_bytes=1000).request("GET", stub.url)
    assert packed.body == stub.bodies["/hook"]
    unpacking = OutboundClient(seconds=300.0, most_bytes=1000, unpack=True)
    assert (await unpacking.request("GET", stub.url)).body == b"x" * 1000
    stub.bodies["/hook"] = gzip.compress(b"x" * 1001)
    with pytest.raises(ResponseTooLong):
        await unpacking.request("GET", stub.url)


async def test_a_proxy_is_used_if_it_is_given(stub: HookStub) -> None:
    client = OutboundClient(seconds=300.0, most_bytes=1)
    assert (
        await client.request("GET", "http://hub.example/a%2Fb?c", proxy=f"http://127.0.0.1:{stub.port}")
    ).status == 200
    assert [received.path for received in stub.received] == ["http://hub.example/a%2Fb?c"]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_a_guarded_client_asks_only_the_internet_and_its_networks(stub: HookStub, host: str) -> None:
    url = f"http://{host}:{stub.port}/hook"
    with pytest.raises(AddressRefused, match="nothing was sent"):
        await OutboundClient(seconds=300.0, most_bytes=1, networks=()).request("GET", url)
    assert not stub.received
    own = [ipaddress.ip_network("127.0.0.0/8"), ipaddress.ip_network("::1/128")]
    assert (await OutboundClient(seconds=300.0, most_bytes=1, networks=own).request("GET", url)).status == 200


@pytest.mark.parametrize("url", ["http://127.0.0.1/a b", "http://127.0.0.1/a\r\nx: y", "http://127.0.0.1/é"])
async def test_a_url_that_is_no_request_line_is_not_sent(url: str) -> None:
    with pytest.raises(NotSent):
        await on_the_loop("GET", url)


@pytest.mark.parametrize("body", [b"", b"{", b"[" * 100_000, b'"\xff"'])
def test_a_body_that_is_not_json_is_no_document(body: bytes) -> None:
    assert HttpResponse(status=200, headers=(), body=body).document() is None
