"""Sending a mutation: exactly once, with the true outcome."""

import socket
from dataclasses import replace
from typing import Any

import pytest

from gateway.aws.client.mutations import Aws
from gateway.core.errors import NotSendable
from gateway.core.model.mutation import Call
from gateway.core.model.outcome import Applied, Failed, InDoubt

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

CAPACITY = Call(
    service="autoscaling",
    operation="SetDesiredCapacity",
    parameters={"AutoScalingGroupName": "kafka", "DesiredCapacity": 6},
    region="us-east-1",
)
DELETE = Call(service="s3", operation="DeleteBucket", parameters={"Bucket": "orders"}, region="us-east-1")
DONE = b"<SetDesiredCapacityResponse><ResponseMetadata><RequestId>r-1</RequestId></ResponseMetadata></SetDesiredCapacityResponse>"
ERROR = b"<ErrorResponse><Error><Type>Sender</Type><Code>%s</Code><Message>no</Message></Error><RequestId>r-2</RequestId></ErrorResponse>"


async def execute(aws: Aws, call: Call = CAPACITY) -> Any:
    return await aws.send(await aws.prepare(call, "mut_1"))


async def test_what_aws_confirms_is_applied_and_passed_on_as_it_is(aws: Any, server: Any, reply: Any) -> None:
    server.replies = [reply(200, DONE, Content_Type="text/xml", Connection="keep-alive")]
    outcome = await execute(aws)
    assert isinstance(outcome, Applied)
    assert (outcome.request_id, outcome.reply.body, outcome.reply.status) == ("r-1", DONE, 200)
    assert ("Content-Type", "text/xml") in outcome.reply.headers
    assert not any(name.lower() == "connection" for name, _ in outcome.reply.headers)


async def test_the_request_is_serialised_by_us_and_says_which_mutation_it_is(aws: Any, server: Any, reply: Any) -> None:
    server.replies = [reply(200, DONE)]
    await execute(aws)
    head, _, body = server.seen[0].partition(b"\r\n\r\n")
    assert body == b"Action=SetDesiredCapacity&Version=2011-01-01&AutoScalingGroupName=kafka&DesiredCapacity=6"
    lines = head.lower().split(b"\r\n")
    assert any(line.startswith(b"user-agent: sentinel/") and line.endswith(b" mutation/mut_1") for line in lines)
    assert len([line for line in lines if line.startswith(b"host:")]) == 1
    assert len([line for line in lines if line.startswith(b"content-type:")]) == 1
    assert not any(line.startswith((b"accept", b"cookie")) for line in lines)


REPLIES = {
    "HTML page": ((200, b"<html><body>Please log in</body></html>"), {}, InDoubt),
    "HTML page with a request id": ((200, b"<html><body>hi</body></html>"), {"x_amzn_requestid": "r"}, InDoubt),
    "empty body": ((200, b""), {"x_amzn_requestid": "r"}, Applied),
    "empty root": ((200, b"<a/>"), {"x_amzn_requestid": "r"}, InDoubt),
    "another operation's reply": ((200, DONE.replace(b"SetDesiredCapacity", b"DeletePolicy")), {}, InDoubt),
    "no request id": ((200, b"<SetDesiredCapacityResponse/>"), {}, InDoubt),
    "cut XML": ((200, DONE[:-9]), {"x_amzn_requestid": "r"}, InDoubt),
    "JSON where XML is due": ((200, b"{}"), {"x_amzn_requestid": "r"}, InDoubt),
    "redirect": ((302, b""), {"Location": "http://127.0.0.1:1/", "x_amzn_requestid": "r"}, InDoubt),
    "AWS says no": ((400, ERROR % b"ValidationError"), {}, Failed),
    "AWS says no such thing": ((404, ERROR % b"NoSuchEntity"), {}, Failed),
    "a proxy says no": ((403, b"<html>Forbidden</html>"), {}, InDoubt),
    "a proxy says no, in JSON": ((407, b'{"message": "no"}'), {"x_amzn_requestid": "r"}, InDoubt),
    "AWS error without request id": (
        (400, b"<ErrorResponse><Error><Code>A</Code></Error></ErrorResponse>"),
        {},
        InDoubt,
    ),
    "throttled": ((400, ERROR % b"Throttling"), {}, Failed),
    "throttled as a server fault": ((503, ERROR % b"Throttling"), {}, Failed),
    "request limit": ((503, ERROR % b"RequestLimitExceeded"), {}, Failed),
    "slow down": ((503, ERROR % b"SlowDown"), {}, Failed),
    "service unavailable": ((503, ERROR % b"ServiceUnavailable"), {}, InDoubt),
    "internal failure": ((500, ERROR % b"InternalFailure"), {}, InDoubt),
    "bad gateway": ((502, b"bad gateway"), {}, InDoubt),
    "too many requests of a proxy": ((429, b"slow"), {}, InDoubt),
    "informational nonsense": ((299, b"?"), {"x_amzn_requestid": "r"}, InDoubt),
}


@pytest.mark.parametrize("name", REPLIES)
async def test_a_reply_proves_what_it_proves(aws: Any, server: Any, reply: Any, name: str) -> None:
    (status, body), headers, expected = REPLIES[name]
    server.replies = [reply(status, body, **headers)]
    outcome = await execute(aws)
    assert type(outcome) is expected
    assert len(server.seen) == 1


async def test_a_refusal_carries_code_message_and_reply(aws: Any, server: Any, reply: Any) -> None:
    server.replies = [reply(400, ERROR % b"ValidationError")]
    outcome = await execute(aws)
    assert (outcome.code, outcome.message, outcome.request_id) == ("ValidationError", "no", "r-2")
    assert outcome.reply.body == ERROR % b"ValidationError"


BROKEN = {
    "closed at once": b"",
    "head cut": b"HTTP/1.1 200 OK\r\nContent-Le",
    "body cut": b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 900\r\n\r\n" + DONE,
    "no HTTP": b"SSH-2.0-OpenSSH\r\n\r\nconnection: close",
    "chunk cut": b"HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n50\r\nabc",
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("call", [CAPACITY, DELETE], ids=["POST", "DELETE"])
async def test_a_lost_answer_is_in_doubt_and_nothing_is_sent_again(
    aws: Any, server: Any, name: str, call: Call
) -> None:
    server.replies = [BROKEN[name]]
    server.hold = 0.01
    outcome = await execute(aws, call)
    assert isinstance(outcome, InDoubt)
    assert "may have happened" in outcome.reason
    assert len(server.seen) == 1


async def test_a_broken_kept_alive_connection_is_not_retried(aws: Any, server: Any, reply: Any) -> None:
    """The server closes a kept-alive connection instead of answering: the DELETE may have happened, so nothing is sent again."""
    server.replies = [reply(204, b"", x_amz_request_id="r"), b"", reply(204, b"", x_amz_request_id="r")]
    assert isinstance(await execute(aws, DELETE), Applied)
    assert isinstance(await execute(aws, DELETE), InDoubt)
    assert (len(server.seen), server.connections) == (2, 1)


async def test_no_connection_means_nothing_was_sent(parts: Any) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
    outcome = await execute(Aws(**parts(f"http://127.0.0.1:{port}")))
    assert isinstance(outcome, Failed)
    assert outcome.reply is None
    assert "nothing was sent" in outcome.message


async def test_a_server_that_never_answers_is_in_doubt(aws: Any, server: Any, client: Any) -> None:
    server.replies, server.hold = [b""], 5
    client._reply_seconds = 0.1
    assert isinstance(await execute(aws), InDoubt)
    assert len(server.seen) == 1


async def test_a_reply_without_end_is_in_doubt(aws: Any, server: Any, reply: Any) -> None:
    server.replies = [reply(200, b" " * (8 * 1024 * 1024 + 1), x_amzn_requestid="r")]
    assert isinstance(await execute(aws), InDoubt)


async def test_a_prepared_request_is_sent_only_once(aws: Any, server: Any, reply: Any) -> None:
    server.replies = [reply(200, DONE)]
    prepared = await aws.prepare(CAPACITY, "mut_1")
    assert isinstance(await aws.send(prepared), Applied)
    assert isinstance(await aws.send(prepared), InDoubt)
    assert len(server.seen) == 1


async def test_a_process_that_was_paused_after_it_had_signed_does_not_act_late(
    aws: Any, server: Any, reply: Any
) -> None:
    server.replies = [reply(200, DONE)]
    prepared = await aws.prepare(CAPACITY, "mut_1")
    outcome = await aws.send(replace(prepared, signed_at=prepared.signed_at - 61))
    assert isinstance(outcome, Failed)
    assert (outcome.code, len(server.seen)) == ("NotSent", 0)
    assert "stood still for 61 seconds" in outcome.message


async def test_what_aws_did_not_prepare_is_not_sent(aws: Any) -> None:
    assert isinstance(await aws.send(object()), Failed)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (Call(service="autoscaling", operation="SetDesiredCapacity", region="us-east-1"), "Missing required"),
        (Call(service="autoscaling", operation="Nope", region="us-east-1"), "no operation"),
        (Call(service="nope", operation="Nope", region="us-east-1"), "no AWS service"),
        (Call(service="sqs", operation="CreateQueue", parameters={"QueueName": 3}, region="us-east-1"), "QueueName"),
        (Call(service="sqs", operation="CreateQueue", parameters={"QueueName": "a"}, region="evil.com/#"), "region"),
        (Call(service="sqs", operation="CreateQueue", parameters={"QueueName": "a"}), "region"),
        (
            Call(
                service="sqs",
                operation="CreateQueue",
                parameters={"QueueName": "a"},
                region="us-east-1",
                protocol="ec2",
            ),
            "speak",
        ),
    ],
)
async def test_an_unsendable_call_is_explained_in_a_sentence(aws: Any, server: Any, call: Call, says: str) -> None:
    with pytest.raises(NotSendable, match=says) as refused:
        await aws.prepare(call, "mut_1")
    assert str(refused.value).endswith(".")
    assert server.seen == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AWS_ENDPOINT_URL", "http://127.0.0.1:9"),
        ("AWS_ENDPOINT_URL_AUTOSCALING", "http://127.0.0.1:9"),
        ("AWS_MAX_ATTEMPTS", "5"),
        ("AWS_RETRY_MODE", "adaptive"),
        ("HTTP_PROXY", "http://127.0.0.1:9"),
        ("http_proxy", "http://127.0.0.1:9"),
        ("ALL_PROXY", "http://127.0.0.1:9"),
        ("AWS_USE_FIPS_ENDPOINT", "true"),
        ("AWS_USE_DUALSTACK_ENDPOINT", "true"),
        ("AWS_CA_BUNDLE", "/nonexistent"),
        ("REQUESTS_CA_BUNDLE", "/nonexistent"),
        ("AWS_DATA_PATH", "/nonexistent"),
        ("AWS_S3_USE_ARN_REGION", "true"),
        ("AWS_DEFAULT_REGION", "eu-west-1"),
    ],
)
async def test_no_variable_changes_where_or_how_often(
    aws: Any, server: Any, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    server.replies = [b""]
    assert isinstance(await execute(aws), InDoubt)
    assert len(server.seen) == 1
    assert b"/us-east-1/autoscaling/aws4_request" in server.seen[0]
