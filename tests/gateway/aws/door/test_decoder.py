"""The AWS decoder parses a request completely, or refuses it with AWS's own code."""

import contextlib
import gzip
import json
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.aws.door.decoder import AwsDecoder
from gateway.core.errors import BodyTooLarge, Malformed, SentinelError
from gateway.core.model.caller import Caller
from gateway.core.model.motive import Intent, Motivation
from gateway.core.model.mutation import CallClass

SET_CAPACITY = "Action=SetDesiredCapacity&Version=2011-01-01&AutoScalingGroupName=kafka&DesiredCapacity=6"
MOTIVE = {
    "x-sentinel-intent": "availability",
    "x-sentinel-motivation": 'incident; evidence=ALERT-42; for=1h; text="lag"',
}


async def test_a_mutation_is_parsed_in_full(decoder: AwsDecoder, wire: Any, caller: Caller) -> None:
    request = await decoder.read(wire.form("autoscaling", SET_CAPACITY, headers=MOTIVE), caller)
    call = request.call
    assert (call.service, call.operation, call.region, call.account, call.protocol) == (
        "autoscaling",
        "SetDesiredCapacity",
        "eu-west-1",
        "123456789012",
        "query",
    )
    assert call.parameters == {"AutoScalingGroupName": "kafka", "DesiredCapacity": 6}
    assert request.call_class is CallClass.MUTATION
    assert request.motive is not None
    assert (request.motive.intent, request.motive.motivation) == (Intent.AVAILABILITY, Motivation.INCIDENT)
    assert request.motive.wanted_for == timedelta(hours=1)
    assert request.idempotency_key == f"{caller.key_id}:signature:{'0' * 64}"


async def test_a_read_is_not_parsed(decoder: AwsDecoder, wire: Any, caller: Caller) -> None:
    inbound = wire.json("sqs", "AmazonSQS.GetQueueUrl", b"not even JSON")
    request = await decoder.read(inbound, caller)
    assert (request.call_class, request.call.parameters) == (CallClass.READ, {})


async def test_a_read_whose_host_is_made_from_a_parameter_is_parsed(
    decoder: AwsDecoder, wire: Any, caller: Caller
) -> None:
    inbound = wire.inbound(
        "s3",
        method="GET",
        target="/v20180820/configuration/publicAccessBlock",
        headers={"x-amz-account-id": "123456789012"},
    )
    assert (await decoder.read(inbound, caller)).call.parameters == {"AccountId": "123456789012"}


async def test_the_sdks_invocation_id_binds_its_attempts_together(
    decoder: AwsDecoder, wire: Any, caller: Caller
) -> None:
    inbound = wire.form(
        "autoscaling", SET_CAPACITY, headers={"amz-sdk-invocation-id": "0a-1b"}, unsigned=("amz-sdk-invocation-id",)
    )
    assert (await decoder.read(inbound, caller)).idempotency_key == "SNTLAAAAAAAAAAAAAAAA:0a-1b"


@pytest.mark.parametrize("invocation", ["", "x" * 250, "é", "a\x01b"])
async def test_an_invalid_invocation_id_is_refused(
    decoder: AwsDecoder, wire: Any, caller: Caller, invocation: str
) -> None:
    inbound = wire.form(
        "autoscaling", SET_CAPACITY, headers={"amz-sdk-invocation-id": invocation}, unsigned=("amz-sdk-invocation-id",)
    )
    with pytest.raises(Malformed):
        await decoder.read(inbound, caller)


ATTACKS: dict[str, tuple[str, dict[str, Any], str]] = {
    "a second Action that only reads": (
        "ec2",
        {"text": "Action=CreateVpc&CidrBlock=10.0.0.0/16&Version=2016-11-15&Action=DescribeVpcs"},
        "duplicate_parameter",
    ),
    "a second Action in another case": (
        "ec2",
        {"text": "Action=DescribeVpcs&Version=2016-11-15&action=CreateVpc"},
        "duplicate_parameter",
    ),
    "an Action in the query and in the body": (
        "ec2",
        {"text": "Action=CreateVpc&Version=2016-11-15", "target": "/?Action=DescribeVpcs&Version=2016-11-15"},
        "duplicate_parameter",
    ),
    "an Action in the query and a body of no type": (
        "ec2",
        {
            "text": "Action=CreateVpc&Version=2016-11-15",
            "target": "/?Action=DescribeVpcs&Version=2016-11-15",
            "headers": {"content-type": "text/plain"},
        },
        "duplicate_parameter",
    ),
    "another charset": (
        "ec2",
        {
            "text": "Action=DescribeVpcs&Version=2016-11-15",
            "headers": {"content-type": "application/x-www-form-urlencoded; charset=ibm037"},
        },
        "content_type",
    ),
    "a parameter in another case": (
        "autoscaling",
        {"text": SET_CAPACITY + "&desiredcapacity=9"},
        "duplicate_parameter",
    ),
    "a parameter that does not exist": ("autoscaling", {"text": SET_CAPACITY + "&Force=true"}, "unknown_parameter"),
    "a number that is none": ("autoscaling", {"text": SET_CAPACITY.replace("=6", "=six")}, "wrong_type"),
    "a number in other digits": ("autoscaling", {"text": SET_CAPACITY.replace("=6", "=%D9%A7")}, "wrong_type"),
    "a number with an underscore": ("autoscaling", {"text": SET_CAPACITY.replace("=6", "=1_0")}, "wrong_type"),
    "a number with a space": ("autoscaling", {"text": SET_CAPACITY.replace("=6", "=+6")}, "wrong_type"),
    "a number over 32 bits": ("autoscaling", {"text": SET_CAPACITY.replace("=6", "=4294967302")}, "wrong_type"),
    "a fraction for an integer": ("autoscaling", {"text": SET_CAPACITY.replace("=6", "=6.0")}, "wrong_type"),
    "a required parameter left out": (
        "autoscaling",
        {"text": SET_CAPACITY.replace("&DesiredCapacity=6", "")},
        "missing_parameter",
    ),
    "an index over the cap": (
        "ec2",
        {"text": "Action=TerminateInstances&Version=2016-11-15&InstanceId.99999999=i-1"},
        "index",
    ),
    "an index that is padded": (
        "ec2",
        {"text": "Action=TerminateInstances&Version=2016-11-15&InstanceId.1=i-1&InstanceId.01=i-2"},
        "unknown_parameter",
    ),
    "a region that is not allowed": ("autoscaling", {"text": SET_CAPACITY, "region": "us-gov-west-1"}, "region"),
    "a compressed form": (
        "autoscaling",
        {"text": SET_CAPACITY, "headers": {"content-encoding": "br"}},
        "content_encoding",
    ),
    "an unsigned body": ("autoscaling", {"text": SET_CAPACITY, "payload": "UNSIGNED-PAYLOAD"}, "unsigned_payload"),
}


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS.keys())
async def test_an_ambiguous_form_is_refused(
    decoder: AwsDecoder, wire: Any, caller: Caller, attack: tuple[str, dict[str, Any], str]
) -> None:
    signing, given, code = attack
    with pytest.raises(Malformed) as refused:
        await decoder.read(wire.form(signing, **given), caller)
    assert refused.value.code == code


CREATE_QUEUE = "AmazonSQS.CreateQueue"
BAD_JSON = {
    "a member twice": (b'{"QueueName":"a","QueueName":"b"}', "duplicate_parameter"),
    "a member in another case": (b'{"QueueName":"a","queuename":"b"}', "unknown_parameter"),
    "an unknown member": (b'{"QueueName":"a","Evil":1}', "unknown_parameter"),
    "a number for a text": (b'{"QueueName":1}', "wrong_type"),
    "a list for a map": (b'{"QueueName":"a","Attributes":[]}', "wrong_type"),
    "nothing required": (b"{}", "missing_parameter"),
    "a list": (b"[]", "wrong_type"),
    "null": (b"null", "wrong_type"),
    "NaN": (b'{"QueueName":NaN}', "number"),
}


@pytest.mark.parametrize(("body", "code"), BAD_JSON.values(), ids=BAD_JSON.keys())
async def test_json_that_does_not_fit_is_refused(
    decoder: AwsDecoder, wire: Any, caller: Caller, body: bytes, code: str
) -> None:
    with pytest.raises(Malformed) as refused:
        await decoder.read(wire.json("sqs", CREATE_QUEUE, body), caller)
    assert refused.value.code == code


async def test_a_refusal_never_holds_the_value(decoder: AwsDecoder, wire: Any, caller: Caller) -> None:
    body = json.dumps({"Name": "n", "SecretString": ["hunter2"]}).encode()
    with pytest.raises(Malformed) as refused:
        await decoder.read(wire.json("secretsmanager", "secretsmanager.CreateSecret", body), caller)
    assert "hunter2" not in str(refused.value)
    assert "SecretString" in str(refused.value)


METRICS = {
    "Action": "PutMetricData",
    "Version": "2010-08-01",
    "Namespace": "app",
    "MetricData.member.1.MetricName": "lag",
    "MetricData.member.1.Value": "1.5",
}


async def test_a_compressed_body_is_unpacked_where_the_operation_takes_one(
    decoder: AwsDecoder, wire: Any, caller: Caller
) -> None:
    inbound = wire.inbound(
        "monitoring",
        headers={"content-type": "application/x-www-form-urlencoded", "content-encoding": "gzip"},
        body=gzip.compress(urlencode(METRICS).encode()),
    )
    parameters = (await decoder.read(inbound, caller)).call.parameters
    assert parameters == {"Namespace": "app", "MetricData": [{"MetricName": "lag", "Value": 1.5}]}


@pytest.mark.parametrize(
    "case",
    [
        ("autoscaling", SET_CAPACITY, Malformed),
        ("monitoring", urlencode(METRICS) + "&x=" + "y" * (2 << 20), BodyTooLarge),
    ],
)
async def test_a_compressed_body_is_refused_elsewhere_and_over_the_limit(
    decoder: AwsDecoder, wire: Any, caller: Caller, case: tuple[str, str, type[Malformed]]
) -> None:
    signing, text, error = case
    headers = {"content-type": "application/x-www-form-urlencoded", "content-encoding": "gzip"}
    with pytest.raises(error):
        await decoder.read(wire.inbound(signing, headers=headers, body=gzip.compress(text.encode())), caller)


async def test_an_object_is_a_mutation_with_its_bytes(decoder: AwsDecoder, wire: Any, caller: Caller) -> None:
    inbound = wire.inbound(
        "s3",
        method="PUT",
        target="/b/a%20b?x-id=PutObject",
        headers={"content-type": "text/plain", "content-encoding": "gzip", "x-amz-meta-owner": "me"},
        body=b"\x1f\x8b raw",
    )
    request = await decoder.read(inbound, caller)
    assert request.call.parameters == {
        "Bucket": "b",
        "Key": "a b",
        "Body": b"\x1f\x8b raw",
        "ContentType": "text/plain",
        "ContentEncoding": "gzip",
        "Metadata": {"owner": "me"},
    }


async def test_a_body_in_signed_chunks_is_put_together(decoder: AwsDecoder, wire: Any, caller: Caller) -> None:
    chunked = b"5;chunk-signature=" + b"0" * 64 + b"\r\nhello\r\n0;chunk-signature=" + b"0" * 64 + b"\r\n\r\n"
    inbound = wire.inbound(
        "s3",
        method="PUT",
        target="/b/k",
        headers={"content-encoding": "aws-chunked", "x-amz-decoded-content-length": "5", "content-length": "999"},
        body=chunked,
        payload="STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
    )
    parameters = (await decoder.read(inbound, caller)).call.parameters
    assert parameters == {"Bucket": "b", "Key": "k", "Body": b"hello", "ContentLength": 5}


async def test_a_parameter_in_a_header_must_be_signed(decoder: AwsDecoder, wire: Any, caller: Caller) -> None:
    inbound = wire.inbound("s3", method="DELETE", target="/b/k", headers={"if-match": '"etag"'}, unsigned=("if-match",))
    with pytest.raises(Malformed) as refused:
        await decoder.read(inbound, caller)
    assert refused.value.code == "unsigned_header"


@pytest.mark.parametrize("target", ["/b?tagging&evil=1", "/b?tagging&Tagging=2"])
async def test_a_query_parameter_that_a_change_does_not_have_is_refused(
    decoder: AwsDecoder, wire: Any, caller: Caller, target: str
) -> None:
    with pytest.raises(Malformed):
        await decoder.read(wire.inbound("s3", method="DELETE", target=target), caller)


@pytest.mark.parametrize(
    "case",
    [
        ("sts", "Action=AssumeRole&Version=2011-06-15&RoleArn=arn&RoleSessionName=s", CallClass.CREDENTIAL),
        ("sts", "Action=GetCallerIdentity&Version=2011-06-15", CallClass.READ),
        ("iam", "Action=CreateAccessKey&Version=2010-05-08", CallClass.CREDENTIAL),
    ],
)
async def test_the_class_goes_with_the_request(
    decoder: AwsDecoder, wire: Any, caller: Caller, case: tuple[str, str, CallClass]
) -> None:
    signing, target, call_class = case
    assert (await decoder.read(wire.form(signing, target), caller)).call_class is call_class


_HEADERS = st.dictionaries(
    st.sampled_from(
        [
            "content-type",
            "x-amz-target",
            "smithy-protocol",
            "content-encoding",
            "x-sentinel-intent",
            "x-sentinel-motivation",
            "x-amz-copy-source",
            "x-amz-account-id",
        ]
    ),
    st.sampled_from(
        [
            "application/x-www-form-urlencoded",
            "application/json",
            "application/cbor",
            "rpc-v2-cbor",
            "gzip",
            "cost",
            "budget; for=1h",
            "AmazonSQS.CreateQueue",
            "DynamoDB_20120810.PutItem",
        ]
    )
    | st.text(st.characters(codec="latin-1"), max_size=30),
)
_TARGETS = st.sampled_from(
    [
        "/",
        "/b/k?tagging",
        "/b?delete",
        "/service/GraniteServiceVersion20100801/operation/PutMetricAlarm",
        "/2015-03-31/functions/f/configuration",
        "/?Action=CreateVpc&Version=2016-11-15",
        "/_svc/sqs/",
    ]
) | st.text(st.characters(codec="latin-1"), max_size=40).map(lambda text: "/" + text)
_BODIES = st.binary(max_size=100) | st.sampled_from(
    [SET_CAPACITY.encode(), b'{"QueueName":"q"}', b"<a><b/></a>", b"\xa1aa\x01", b"{}"]
)
_SIGNING = st.sampled_from(
    ["sqs", "ec2", "s3", "lambda", "monitoring", "dynamodb", "autoscaling", "bedrock", "rds", "?"]
)


@pytest.mark.slow
@given(
    signing=_SIGNING,
    method=st.sampled_from(["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "TRACE"]),
    target=_TARGETS,
    headers=_HEADERS,
    body=_BODIES,
)
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_any_request_is_decoded_or_refused(decoder: AwsDecoder, wire: Any, caller: Caller, **given: Any) -> None:
    with contextlib.suppress(SentinelError):
        await decoder.read(wire.inbound(given.pop("signing"), **given), caller)


SIGNED_HASH = "a" * 64
LARGE: dict[str, tuple[dict[str, Any], int]] = {
    "an object": ({"signing": "s3", "method": "PUT", "target": "/bucket/key", "payload": SIGNED_HASH}, 64),
    "a part": (
        {"signing": "s3", "method": "PUT", "target": "/b/k?partNumber=1&uploadId=u", "payload": SIGNED_HASH},
        64,
    ),
    "an object in signed chunks": (
        {"signing": "s3", "method": "PUT", "target": "/b/k", "payload": "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"},
        64,
    ),
    "a function's payload": (
        {"signing": "lambda", "target": "/2015-03-31/functions/f/invocations", "payload": SIGNED_HASH},
        64,
    ),
    "an object whose hash is not stated": ({"signing": "s3", "method": "PUT", "target": "/bucket/key"}, 1),
    "a bucket's policy": ({"signing": "s3", "method": "PUT", "target": "/bucket?policy", "payload": SIGNED_HASH}, 1),
    "a lifecycle": ({"signing": "s3", "method": "PUT", "target": "/bucket?lifecycle", "payload": SIGNED_HASH}, 1),
    "a form": (
        {"signing": "iam", "headers": {"content-type": "application/x-www-form-urlencoded"}, "payload": SIGNED_HASH},
        1,
    ),
    "a change in JSON": (
        {
            "signing": "dynamodb",
            "headers": {"content-type": "application/x-amz-json-1.0", "x-amz-target": "DynamoDB_20120810.PutItem"},
            "payload": SIGNED_HASH,
        },
        1,
    ),
    "a read in JSON": (
        {
            "signing": "dynamodb",
            "headers": {"content-type": "application/x-amz-json-1.0", "x-amz-target": "DynamoDB_20120810.BatchGetItem"},
        },
        16,
    ),
    "a read whose hash is stated": (
        {
            "signing": "dynamodb",
            "headers": {"content-type": "application/x-amz-json-1.0", "x-amz-target": "DynamoDB_20120810.BatchGetItem"},
            "payload": SIGNED_HASH,
        },
        64,
    ),
    "nothing known": ({"signing": "nobody"}, 1),
    "no operation": ({"signing": "s3", "method": "PATCH", "target": "/bucket/key"}, 1),
}


@pytest.mark.parametrize("case", LARGE)
async def test_only_reads_and_uploads_may_be_large(routes: Any, table: Any, models: Any, wire: Any, case: str) -> None:
    decoder = AwsDecoder(
        account="",
        regions=("eu-west-1",),
        max_body_bytes=1 << 20,
        max_upload_bytes=64 << 20,
        index=routes,
        classes=table,
        models=models,
    )
    given, megabytes = LARGE[case]
    given = dict(given)
    assert await decoder.limit_of_large(wire.inbound(given.pop("signing"), **given)) == megabytes << 20
