"""Reads: the client's own request, signed with the gateway's credentials."""

import socket
from typing import Any

import pytest

from gateway.aws.client.streams import AwsReads
from gateway.core.errors import NotSendable, UpstreamUnavailable
from gateway.core.model.mutation import Call

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

READ = Call(service="sqs", operation="GetQueueUrl", region="us-east-1")
OBJECT = Call(service="s3", operation="GetObject", region="us-east-1")
HEADERS = [
    ("content-type", "application/x-amz-json-1.0"),
    ("x-amz-target", "AmazonSQS.GetQueueUrl"),
    ("user-agent", "client/1"),
]


async def opened(reads: AwsReads, call: Call = READ, **changes: Any) -> Any:
    request: dict[str, Any] = {
        "method": "POST",
        "target": "/",
        "headers": HEADERS,
        "body": b'{"a":1}',
        "payload": "0" * 64,
    }
    return await reads.open(call, **(request | changes))


@pytest.fixture
def reads(parts: Any, server: Any) -> AwsReads:
    return AwsReads(**parts(server.url))


async def test_only_host_and_signature_are_replaced(reads: AwsReads, server: Any, reply: Any) -> None:
    server.replies = [reply(200, b"{}", x_amzn_requestid="r")]
    answer = await opened(reads)
    assert (answer.status, answer.length, await answer.read()) == (200, 2, b"{}")
    head, _, body = server.seen[0].partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    assert lines[0] == b"POST / HTTP/1.1"
    assert body == b'{"a":1}'
    names = [line.partition(b":")[0].lower() for line in lines[1:]]
    assert sorted(names) == sorted(
        [b"host", b"content-type", b"x-amz-target", b"user-agent", b"x-amz-date", b"authorization", b"content-length"]
    )
    assert b"Credential=AKIASIMULATED" in head


TARGETS = [
    "/b/a%20b",
    "/b/a/../c//d",
    "/b/%2E%2E/x",
    "/b/~'!*()",
    "/b?list-type=2&prefix=%2F",
    "/b?a=b+c&a=%7e&&x",
    "/b/%41",
]


@pytest.mark.parametrize("target", TARGETS)
async def test_the_target_stays_as_the_client_wrote_it(reads: AwsReads, server: Any, reply: Any, target: str) -> None:
    server.replies = [reply(200, b"")]
    await (await opened(reads, OBJECT, method="GET", target=target, headers=[], body=b"")).read()
    assert server.seen[0].startswith(f"GET {target} HTTP/1.1\r\n".encode())


async def test_a_compressed_reply_stays_compressed_and_a_redirect_is_an_answer(
    reads: AwsReads, server: Any, reply: Any
) -> None:
    server.replies = [reply(301, b"\x1f\x8bnot really gzip", Content_Encoding="gzip", Location="http://127.0.0.1:1/")]
    answer = await opened(reads)
    assert (answer.status, await answer.read()) == (301, b"\x1f\x8bnot really gzip")
    assert (b"Content-Encoding", b"gzip") in answer.headers
    assert len(server.seen) == 1


async def test_connections_are_kept_and_an_abandoned_one_is_closed(reads: AwsReads, server: Any, reply: Any) -> None:
    server.replies = [reply(200, b"{}")]
    for _ in range(3):
        answer = await opened(reads)
        await answer.read()
        answer.abandon()
    assert server.connections == 1
    server.replies = [reply(200, b"x" * 1_000_000)]
    (await opened(reads)).abandon()
    server.replies = [reply(200, b"{}")]
    await (await opened(reads)).read()
    assert server.connections == 2


@pytest.mark.parametrize("broken", [b"", b"HTTP/1.1 200 OK\r\nConte", b"nonsense"])
async def test_no_answer_is_unavailable_and_is_not_retried(reads: AwsReads, server: Any, broken: bytes) -> None:
    server.replies = [broken]
    with pytest.raises(UpstreamUnavailable, match="ask again"):
        await opened(reads, OBJECT, method="GET", body=b"")
    assert len(server.seen) == 1


async def test_a_body_cut_short_is_unavailable(reads: AwsReads, server: Any) -> None:
    server.replies = [b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 99\r\n\r\nabc"]
    with pytest.raises(UpstreamUnavailable):
        await (await opened(reads)).read()
    answer = await opened(reads)
    with pytest.raises(UpstreamUnavailable):
        assert [part async for part in answer.parts()]
    answer.abandon()


async def test_a_refused_connection_is_unavailable(parts: Any) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
    with pytest.raises(UpstreamUnavailable):
        await opened(AwsReads(**parts(f"http://127.0.0.1:{port}")))


async def test_a_region_that_is_not_allowed_gets_no_request(reads: AwsReads, server: Any) -> None:
    with pytest.raises(NotSendable, match="region"):
        await opened(reads, Call(service="sqs", operation="GetQueueUrl", region="evil.com/#"))
    assert server.seen == []
