"""One POST to receivers that answer, are slow, have no end, redirect, or are where nothing may be sent."""

import asyncio
import ipaddress
from collections.abc import Iterator

import pytest

from reconciler.notify.post import Post, PostAnswer
from tests.kit.hook import HookStub, receiving

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
LOOPBACK = [ipaddress.ip_network("127.0.0.0/8")]


@pytest.fixture
def stub() -> Iterator[HookStub]:
    with receiving(HookStub()) as made:
        yield made


async def _sent(url: str, *, allowed: bool = True, seconds: float = 300.0) -> PostAnswer:
    post = Post(url, networks=LOOPBACK if allowed else [], seconds=seconds)
    try:
        return await post.send(b'{"a": 1}', {"content-type": "application/json", "webhook-id": "rec_1_a"})
    finally:
        await post.close()


async def test_it_is_sent_once_with_its_headers(stub: HookStub) -> None:
    assert await _sent(stub.url) == PostAnswer(status=200)
    [received] = stub.received
    assert (received.path, received.body, received.headers["webhook-id"]) == ("/hook", b'{"a": 1}', "rec_1_a")
    assert "cookie" not in received.headers


@pytest.mark.parametrize(
    ("behaviour", "answer"),
    [
        ("204", PostAnswer(status=204)),
        ("500", PostAnswer(status=500, error="It answered 500.")),
        ("503 Retry-After: 7", PostAnswer(status=503, error="It answered 503.", retry_after=7)),
        ("503 Retry-After: 999999", PostAnswer(status=503, error="It answered 503.", retry_after=86_400)),
        ("429 Retry-After: -1", PostAnswer(status=429, error="It answered 429.")),
    ],
)
async def test_the_status_counts(stub: HookStub, behaviour: str, answer: PostAnswer) -> None:
    stub.behaviour = behaviour
    assert await _sent(stub.url) == answer


async def test_a_redirect_is_not_followed(stub: HookStub) -> None:
    with receiving(HookStub()) as other:
        stub.behaviour = f"307 Location: {other.url}"
        answer = await _sent(stub.url)
        assert (answer.status, answer.error) == (307, "It answered 307; redirects are not followed.")
        assert not other.received


async def test_an_answer_without_an_end_is_not_waited_for(stub: HookStub) -> None:
    stub.behaviour = "endless"
    assert await _sent(stub.url) == PostAnswer(status=200)
    assert await asyncio.to_thread(stub.ended.wait, 300)


@pytest.mark.parametrize("behaviour", ["silent", "drip"])
async def test_a_receiver_that_never_answers_is_left(stub: HookStub, behaviour: str) -> None:
    stub.behaviour = behaviour
    answer = await _sent(stub.url, seconds=0.3)
    assert answer.status == 0
    assert answer.error


@pytest.mark.parametrize("behaviour", ["garbage", "drop"])
async def test_what_is_not_http_is_a_failure(stub: HookStub, behaviour: str) -> None:
    stub.behaviour = behaviour
    answer = await _sent(stub.url)
    assert (answer.status, "could not be reached, or its answer is not HTTP" in answer.error) == (0, True)
    assert "127.0.0.1" not in answer.error


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "127.1", "2130706433", "0x7f000001", "[::ffff:127.0.0.1]", "0"],
)
async def test_this_machine_is_not_reached_by_any_of_its_names(stub: HookStub, host: str) -> None:
    answer = await _sent(f"http://{host}:{stub.port}/hook", allowed=False)
    assert answer.status == 0
    assert "nothing was sent" in answer.error or "InvalidUrl" in answer.error
    assert not stub.received


@pytest.mark.parametrize(
    "url", ["https://169.254.169.254/latest/meta-data", "https://[fd00:ec2::254]/", "https://10.0.0.1/"]
)
async def test_private_addresses_are_not_reached_over_https(url: str) -> None:
    assert "not one of the public internet" in (await _sent(url, allowed=False)).error


async def test_nobody_listens() -> None:
    answer = await _sent("http://127.0.0.1:9/secret-path")
    assert answer.status == 0
    assert "secret-path" not in answer.error
