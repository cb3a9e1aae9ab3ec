"""SNS is asked at the host of a region, without following it elsewhere."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from gateway.core.errors import UpstreamUnavailable
from gateway.signals.sns import SnsEndpoint, sns_url

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
TOPIC = "arn:aws:sns:eu-west-1:123456789012:alarms"


@pytest.fixture
async def site() -> AsyncIterator[tuple[SnsEndpoint, list[str]]]:
    """SNS on this machine, and what it was asked."""
    asked: list[str] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        asked.append(str(request.rel_url))
        if request.path == "/moved.pem":
            return web.Response(status=302, headers={"Location": "/a.pem"})
        if request.path == "/halves.pem":
            return await _in_two_segments(request)
        return web.Response(body=b"x" * 100_000 if request.path == "/large.pem" else b"pem")

    application = web.Application()
    application.router.add_route("*", "/{anything:.*}", answer)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield SnsEndpoint(lambda _: f"http://127.0.0.1:{runner.addresses[0][1]}"), asked
    await runner.cleanup()


async def _in_two_segments(request: web.Request) -> web.StreamResponse:
    """The second half is sent only after the first one had time to arrive."""
    reply = web.StreamResponse(headers={"Content-Length": "23"})
    await reply.prepare(request)
    await reply.write(b"first half, ")
    await asyncio.sleep(0.2)
    await reply.write(b"second half")
    return reply


def test_the_host_follows_from_the_region() -> None:
    assert sns_url("eu-west-1") == "https://sns.eu-west-1.amazonaws.com"
    assert sns_url("cn-north-1") == "https://sns.cn-north-1.amazonaws.com.cn"


async def test_certificates_and_confirmations(site: tuple[SnsEndpoint, list[str]]) -> None:
    endpoint, asked = site
    assert await endpoint.certificate("eu-west-1", "a.pem") == b"pem"
    await endpoint.confirm(TOPIC, "a&b=c")
    assert asked[0] == "/a.pem"
    assert "Token=a%26b%3Dc" in asked[1]
    with pytest.raises(UpstreamUnavailable, match="answered more than 65536 bytes"):
        await endpoint.certificate("eu-west-1", "large.pem")


async def test_a_certificate_that_arrives_in_two_segments_is_whole(site: tuple[SnsEndpoint, list[str]]) -> None:
    assert await site[0].certificate("eu-west-1", "halves.pem") == b"first half, second half"


async def test_a_redirect_is_not_followed_and_no_answer_is_a_sentence(site: tuple[SnsEndpoint, list[str]]) -> None:
    with pytest.raises(UpstreamUnavailable, match="answered 302"):
        await site[0].certificate("eu-west-1", "moved.pem")
    assert site[1] == ["/moved.pem"]
    with pytest.raises(UpstreamUnavailable, match="did not answer"):
        await SnsEndpoint(lambda _: "http://127.0.0.1:1").certificate("eu-west-1", "a.pem")
