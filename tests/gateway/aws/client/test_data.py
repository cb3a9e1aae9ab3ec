"""Calls of the data plane: serialized anew from what was understood, sent once, and answered with AWS's own reply, errors too."""

from typing import Any

import pytest

from gateway.aws.client.mutations import Aws
from gateway.aws.client.streams import AwsData
from gateway.core.errors import NotSendable, UpstreamUnavailable
from gateway.core.model.mutation import Call

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

PUT = Call(
    service="dynamodb",
    operation="PutItem",
    parameters={"TableName": "t", "Item": {"k": {"S": "é"}}},
    region="us-east-1",
)


@pytest.fixture
def data(aws: Aws, parts: Any, server: Any) -> AwsData:
    return AwsData(aws, parts(server.url)["client"])


@pytest.mark.parametrize(("status", "body"), [(200, b"{}"), (400, b'{"__type":"X"}'), (500, b"oops")])
async def test_the_reply_is_not_judged(data: AwsData, server: Any, reply: Any, status: int, body: bytes) -> None:
    server.replies = [reply(status, body, x_amzn_requestid="r")]
    response = await data.open(await data.prepare(PUT))
    assert (response.status, await response.read()) == (status, body)
    (sent,) = server.seen
    assert sent.partition(b"\r\n\r\n")[2].decode() == '{"TableName": "t", "Item": {"k": {"S": "\\u00e9"}}}'
    assert b"Credential=AKIASIMULATED" in sent


@pytest.mark.parametrize("broken", [b"", b"HTTP/1.1 200", b"not http at all\r\n\r\n"])
async def test_no_answer_is_unavailable_and_is_not_sent_again(data: AwsData, server: Any, broken: bytes) -> None:
    server.replies = [broken]
    prepared = await data.prepare(PUT)
    with pytest.raises(UpstreamUnavailable, match="Whether it was carried out is not known"):
        await data.open(prepared)
    assert len(server.seen) == 1


async def test_what_does_not_fit_is_not_sendable(data: AwsData, server: Any) -> None:
    strange = Call(service="dynamodb", operation="PutItem", parameters={"TableName": 7}, region="us-east-1")
    with pytest.raises(NotSendable):
        await data.prepare(strange)
    assert server.seen == []
