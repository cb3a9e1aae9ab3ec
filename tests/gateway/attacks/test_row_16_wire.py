"""What was refused, or left in doubt, although nothing was wrong with it.

Found beside the audit: a success whose body is empty or `null`, of an operation that returns nothing, was taken as in doubt; a required
list or map given empty was refused as missing; the limit for the bodies of changes applied to reads and uploads, too. What must hold: each
of them passes, and its neighbours that are wrong still do not. (Replies in every form: `tests/gateway/aws/client/test_outcome.py`.)
"""

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.kit.gate import ASG, Gate
from tests.kit.signed_requests import FORM, MOTIVE, Signer, talk

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]

QUEUE = "https://sqs.us-east-1.amazonaws.com/123456789012/kafka-shard-0"
MEGABYTE = 1 << 20
SIGNED = {"payload_signing_enabled": True, "addressing_style": "path"}


# Replies without a body -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("behaviour", ["null", "empty"])
def test_a_success_of_an_operation_that_returns_nothing_is_applied(gate: Gate, behaviour: str) -> None:
    gate.upstream.behaviour = behaviour
    gate.client("sqs").set_queue_attributes(QueueUrl=QUEUE, Attributes={"VisibilityTimeout": "31"})
    assert gate.records()[-1].body.members["outcome"] == "applied"


@pytest.mark.parametrize("behaviour", ["empty"])
def test_so_it_is_in_a_form(gate: Gate, behaviour: str) -> None:
    gate.upstream.behaviour = behaviour
    answer = _form(gate, f"Action=SetDesiredCapacity&AutoScalingGroupName={ASG}&DesiredCapacity=6")
    assert answer.status == 200, answer.text
    assert gate.records()[-1].body.members["outcome"] == "applied"


def test_a_page_of_a_captive_portal_is_still_in_doubt(gate: Gate) -> None:
    gate.upstream.behaviour = "html"
    with pytest.raises(ClientError) as refused:
        gate.client("sqs").set_queue_attributes(QueueUrl=QUEUE, Attributes={"VisibilityTimeout": "32"})
    assert refused.value.response["Error"]["Code"] == "OutcomeUnknown"


# Empty lists and maps -------------------------------------------------------------------------------------------------


def _form(gate: Gate, text: str, service: str = "autoscaling", version: str = "2011-01-01") -> Any:
    key = gate.keys["agent"]
    signer = Signer(url=gate.url, key_id=key.id, secret=key.secret, service=service)
    wire = signer.signed(headers={"content-type": FORM, **MOTIVE}, body=f"{text}&Version={version}".encode())
    return talk(gate.url, wire.raw)


@pytest.mark.parametrize(
    ("service", "version", "text"),
    [
        ("autoscaling", "2011-01-01", "Action=DeleteTags&Tags="),
        ("autoscaling", "2011-01-01", "Action=DeleteTags"),
        (
            "autoscaling",
            "2011-01-01",
            f"Action=EnterStandby&AutoScalingGroupName={ASG}&ShouldDecrementDesiredCapacity=true&InstanceIds=",
        ),
        ("ec2", "2016-11-15", "Action=TerminateInstances"),
        ("ec2", "2016-11-15", "Action=DeleteTags"),
        ("elasticloadbalancing", "2015-12-01", "Action=RegisterTargets&TargetGroupArn=arn:x&Targets="),
        ("iam", "2010-05-08", "Action=TagRole&RoleName=r&Tags="),
    ],
)
def test_a_required_list_given_empty_is_not_missing(gate: Gate, service: str, version: str, text: str) -> None:
    answer = _form(gate, text, service, version)
    assert "is required" not in answer.text
    assert gate.records()[-1].stage.value != "turned_away"


def test_a_required_text_that_is_missing_still_is(gate: Gate) -> None:
    answer = _form(gate, "Action=SetDesiredCapacity&DesiredCapacity=6")
    assert (answer.status, "AutoScalingGroupName is required" in answer.text) == (400, True)


def test_a_list_that_json_leaves_out_is_missing(gate: Gate) -> None:
    key = gate.keys["agent"]
    signer = Signer(url=gate.url, key_id=key.id, secret=key.secret, service="sqs")
    headers = {"content-type": "application/x-amz-json-1.0", "x-amz-target": "AmazonSQS.SetQueueAttributes", **MOTIVE}
    answer = talk(gate.url, signer.signed(headers=headers, body=json.dumps({"QueueUrl": QUEUE}).encode()).raw)
    assert (answer.status, "Attributes is required" in answer.text) == (400, True)


# Bodies of reads and uploads ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [7 * MEGABYTE, 20 * MEGABYTE])
def test_an_upload_may_be_larger_than_a_change(gate: Gate, size: int) -> None:
    with pytest.raises(ClientError) as refused:
        gate.client("s3", s3=SIGNED).put_object(Bucket="anything", Key="k", Body=b"x" * size)
    # Nobody declared the bucket: the call was read, and decided.
    assert refused.value.response["ResponseMetadata"]["HTTPStatusCode"] == 403
    call: Any = gate.records()[-1].body.members["call"]
    assert call["operation"] == "PutObject"


def test_a_read_may_be_larger_than_a_change(gate: Gate) -> None:
    keys = [{"id": {"S": "x" * 1_000_000}} for _ in range(8)]
    gate.client("dynamodb").batch_get_item(RequestItems={"t": {"Keys": keys}})
    assert gate.upstream.asked == ["BatchGetItem"]
    assert len(gate.upstream.bodies[0]) > 7 * MEGABYTE


@pytest.mark.parametrize(
    ("service", "call"),
    [
        ("dynamodb", lambda client: client.put_item(TableName="t", Item={"id": {"S": "x" * (7 * MEGABYTE)}})),
        (
            "sqs",
            lambda client: client.set_queue_attributes(QueueUrl=QUEUE, Attributes={"Policy": "x" * (7 * MEGABYTE)}),
        ),
        ("iam", lambda client: client.create_role(RoleName="r", AssumeRolePolicyDocument="x" * (7 * MEGABYTE))),
        ("s3", lambda client: client.put_bucket_policy(Bucket="anything", Policy="x" * (7 * MEGABYTE))),
    ],
)
def test_a_change_may_not(gate: Gate, service: str, call: Any) -> None:
    more: dict[str, Any] = {"s3": SIGNED} if service == "s3" else {}
    with pytest.raises(ClientError) as refused:
        call(gate.client(service, **more))
    assert refused.value.response["ResponseMetadata"]["HTTPStatusCode"] == 413
    assert gate.upstream.asked == []


def test_an_upload_that_is_read_whole_has_a_limit_too(gate: Gate) -> None:
    with pytest.raises(ClientError) as refused:
        gate.client("apigateway").import_rest_api(body=b"x" * (65 * MEGABYTE))
    assert refused.value.response["ResponseMetadata"]["HTTPStatusCode"] == 413


def test_a_large_upload_of_a_stranger_is_not_read(gate: Gate) -> None:
    """Its signature is wrong, which shows before a byte of the body is read, since the hash is stated."""
    with pytest.raises(ClientError) as refused:
        gate.client("s3", secret="guessed", s3=SIGNED).put_object(Bucket="anything", Key="k", Body=b"x" * 7 * MEGABYTE)
    assert refused.value.response["Error"]["Code"] == "SignatureDoesNotMatch"
