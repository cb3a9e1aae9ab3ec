"""Serializing parsed calls."""

import base64
import json
import zlib
from typing import Any

import pytest

from gateway.aws.client.endpoints import Endpoints
from gateway.aws.client.serialize import UnsignedRequest, idempotency_tokens, protocol_of, serialize
from gateway.core.errors import NotSendable
from gateway.core.model.mutation import Call


def request_for(
    models: Any, service: str, operation: str, protocol: str = "", mutation_id: str = "mut_1", **parameters: object
) -> UnsignedRequest:
    call = Call(service=service, operation=operation, parameters=parameters, region="us-east-1", protocol=protocol)
    endpoint = Endpoints(models=models, regions=("us-east-1",)).of(call)
    return serialize(call, models.operation(service, operation), endpoint, mutation_id=mutation_id)


def test_each_protocol_has_its_form(models: Any) -> None:
    query = request_for(models, "iam", "DeleteRole", RoleName="r")
    assert (query.method, query.target, query.body) == ("POST", "/", b"Action=DeleteRole&Version=2010-05-08&RoleName=r")
    ec2 = request_for(models, "ec2", "DeleteVpc", VpcId="vpc-1")
    assert ec2.body == b"Action=DeleteVpc&Version=2016-11-15&VpcId=vpc-1"
    as_json = request_for(models, "sqs", "CreateQueue", QueueName="q")
    assert dict(as_json.headers)["x-amz-target"] == "AmazonSQS.CreateQueue"
    assert json.loads(as_json.body) == {"QueueName": "q"}
    rest_json = request_for(models, "lambda", "DeleteFunction", FunctionName="a b")
    assert (rest_json.method, rest_json.target, rest_json.body) == ("DELETE", "/2015-03-31/functions/a%20b", b"")
    rest_xml = request_for(
        models, "s3", "PutBucketVersioning", Bucket="orders", VersioningConfiguration={"Status": "Enabled"}
    )
    assert rest_xml.target == "/?versioning"
    assert b"<Status>Enabled</Status>" in rest_xml.body


def test_a_service_is_spoken_to_in_the_callers_protocol(models: Any) -> None:
    query, as_json, cbor = (
        request_for(models, "cloudwatch", "DeleteAlarms", protocol, AlarmNames=["a"])
        for protocol in ("query", "json", "smithy-rpc-v2-cbor")
    )
    assert query.body == b"Action=DeleteAlarms&Version=2010-08-01&AlarmNames.member.1=a"
    assert json.loads(as_json.body) == {"AlarmNames": ["a"]}
    assert cbor.target == "/service/GraniteServiceVersion20100801/operation/DeleteAlarms"
    assert dict(cbor.headers)["smithy-protocol"] == "rpc-v2-cbor"
    nobodys = Call(service="cloudwatch", operation="DeleteAlarms")
    assert protocol_of(nobodys, models.operation("cloudwatch", "DeleteAlarms")) == "json"


@pytest.mark.parametrize(
    ("bucket", "key", "target"),
    [
        ("orders", "a", "/a"),
        ("orders", "a b/c+d&e=f?g#h", "/a%20b/c%2Bd%26e%3Df%3Fg%23h"),
        ("orders", "dir//double/../x", "/dir//double/../x"),
        ("orders", "/lead", "//lead"),
        ("orders", "orders/x", "/orders/x"),
        ("a.b", "x", "/a.b/x"),
        ("arn:aws:s3:us-east-1:123456789012:accesspoint/ap", "x", "/x"),
    ],
)
def test_the_bucket_occurs_once(models: Any, bucket: str, key: str, target: str) -> None:
    assert request_for(models, "s3", "PutObject", Bucket=bucket, Key=key).target == target


def test_tokens_follow_from_the_mutation_and_never_replace_the_clients(models: Any) -> None:
    run = models.operation("ec2", "RunInstances")
    tokens = idempotency_tokens(run, "mut_1")
    assert tokens == idempotency_tokens(run, "mut_1") != idempotency_tokens(run, "mut_2")
    assert set(tokens) == {"ClientToken"}
    assert tokens["ClientToken"].encode() in request_for(models, "ec2", "RunInstances", MinCount=1, MaxCount=1).body
    assert (
        b"ClientToken=mine&"
        in request_for(models, "ec2", "RunInstances", MinCount=1, MaxCount=1, ClientToken="mine").body
    )
    assert idempotency_tokens(models.operation("iam", "CreateRole"), "mut_1") == {}


def test_a_required_checksum_is_of_our_own_bytes_and_one_given_is_kept(models: Any) -> None:
    made = request_for(
        models, "s3", "PutBucketVersioning", Bucket="orders", VersioningConfiguration={"Status": "Enabled"}
    )
    assert (
        dict(made.headers)["x-amz-checksum-crc32"]
        == base64.b64encode(zlib.crc32(made.body).to_bytes(4, "big")).decode()
    )
    given = request_for(
        models,
        "s3",
        "PutObject",
        Bucket="orders",
        Key="k",
        Body=b"x",
        ChecksumAlgorithm="CRC64NVME",
        ChecksumCRC64NVME="abc=",
    )
    assert dict(given.headers)["x-amz-checksum-crc64nvme"] == "abc="
    with pytest.raises(NotSendable):
        request_for(models, "s3", "PutObject", Bucket="orders", Key="k", Body=b"x", ChecksumAlgorithm="CRC64NVME")


def test_ids_as_route_53_answers_them_are_taken(models: Any) -> None:
    assert request_for(models, "route53", "DeleteHostedZone", Id="/hostedzone/Z1").target == "/2013-04-01/hostedzone/Z1"


def test_user_data_is_taken_as_it_was_on_the_wire(models: Any) -> None:
    body = request_for(models, "ec2", "RunInstances", MinCount=1, MaxCount=1, UserData="aGk=").body
    assert b"UserData=aGk%3D" in body


@pytest.mark.parametrize(
    ("service", "operation", "parameters"),
    [
        ("sqs", "CreateQueue", {}),
        ("sqs", "CreateQueue", {"QueueName": "q", "Nope": 1}),
        ("sqs", "CreateQueue", {"QueueName": ["q"]}),
        ("autoscaling", "SetDesiredCapacity", {"AutoScalingGroupName": "a", "DesiredCapacity": "6"}),
        ("autoscaling", "SetDesiredCapacity", {"AutoScalingGroupName": "a", "DesiredCapacity": 6.5}),
        ("s3", "PutObject", {"Bucket": "a/b", "Key": "k"}),
        ("s3", "PutObject", {"Bucket": "..", "Key": "k"}),
        ("s3", "DeleteObject", {"Bucket": "orders", "Key": ""}),
        ("lambda", "DeleteFunction", {"FunctionName": ""}),
        ("lambda", "DeleteFunction", {"FunctionName": ".."}),
        ("mediastore-data", "PutObject", {"Path": "a/../../b", "Body": b""}),
        ("mediastore-data", "PutObject", {"Path": "/a", "Body": b""}),
        ("s3", "PutObject", {"Bucket": "", "Key": "k"}),
        ("s3", "PutObject", {"Bucket": "orders", "Key": "k", "Metadata": {"a": "b\r\nx-amz-acl: public-read"}}),
        ("s3", "PutObject", {"Bucket": "orders", "Key": "k", "Metadata": {"a": "日本"}}),
        ("s3", "PutObject", {"Bucket": "orders", "Key": "k", "ContentType": "a\x00b"}),
    ],
)
def test_parameters_that_do_not_fit_are_not_sendable(
    models: Any, service: str, operation: str, parameters: dict[str, Any]
) -> None:
    with pytest.raises(NotSendable, match="othing was sent"):
        request_for(models, service, operation, **parameters)
