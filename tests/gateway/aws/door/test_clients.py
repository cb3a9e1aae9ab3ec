"""Requests as boto3 really sends them, with headers and signature, decode to the original call."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import botocore.session
import pytest
from botocore.config import Config

from gateway.aws.door.decoder import AwsDecoder
from gateway.core.model.caller import Caller
from gateway.core.model.inbound import Inbound

CALLS: list[tuple[str, str, dict[str, Any]]] = [
    ("sqs", "create_queue", {"QueueName": "q", "Attributes": {"DelaySeconds": "5"}, "tags": {"a": "b"}}),
    ("ec2", "create_security_group", {"GroupName": "g", "Description": "d", "VpcId": "vpc-1"}),
    ("ec2", "terminate_instances", {"InstanceIds": ["i-1", "i-2"]}),
    ("autoscaling", "set_desired_capacity", {"AutoScalingGroupName": "kafka", "DesiredCapacity": 6}),
    ("cloudwatch", "delete_alarms", {"AlarmNames": ["a", "b"]}),
    ("cloudwatch", "put_metric_data", {"Namespace": "n", "MetricData": [{"MetricName": "m" * 200, "Value": 1.5}] * 90}),
    ("iam", "attach_role_policy", {"RoleName": "r", "PolicyArn": "arn:aws:iam::aws:policy/ReadOnlyAccess"}),
    (
        "sns",
        "subscribe",
        {"TopicArn": "arn:aws:sns:x", "Protocol": "sqs", "Attributes": {"RawMessageDelivery": "true"}},
    ),
    ("dynamodb", "put_item", {"TableName": "t", "Item": {"k": {"S": "é"}, "b": {"B": b"\x00"}}}),
    ("kms", "disable_key", {"KeyId": "k"}),
    ("logs", "put_retention_policy", {"logGroupName": "/a/b", "retentionInDays": 7}),
    ("lambda", "update_function_configuration", {"FunctionName": "f", "Timeout": 30}),
    ("lambda", "invoke", {"FunctionName": "f", "Payload": b'{"a": NaN}'}),
    ("eks", "update_nodegroup_config", {"clusterName": "c", "nodegroupName": "n", "scalingConfig": {"desiredSize": 3}}),
    ("apigateway", "create_rest_api", {"name": "api"}),
    ("s3", "create_bucket", {"Bucket": "b", "CreateBucketConfiguration": {"LocationConstraint": "eu-west-1"}}),
    ("s3", "put_object", {"Bucket": "b", "Key": "a b/c+d&e=f?g#h/é", "Body": b"x", "Metadata": {"k": "v"}}),
    ("s3", "put_bucket_versioning", {"Bucket": "b", "VersioningConfiguration": {"Status": "Enabled"}}),
    ("s3", "put_bucket_tagging", {"Bucket": "b", "Tagging": {"TagSet": [{"Key": "k", "Value": "v"}]}}),
    ("s3", "delete_objects", {"Bucket": "b", "Delete": {"Objects": [{"Key": "a"}, {"Key": "b"}]}}),
    ("s3", "copy_object", {"Bucket": "b", "Key": "k", "CopySource": "b/other"}),
    ("s3", "put_bucket_policy", {"Bucket": "b", "Policy": '{"Version": "2012-10-17"}'}),
    (
        "route53",
        "change_resource_record_sets",
        {
            "HostedZoneId": "Z1",
            "ChangeBatch": {
                "Changes": [
                    {
                        "Action": "UPSERT",
                        "ResourceRecordSet": {
                            "Name": "a.example",
                            "Type": "A",
                            "TTL": 60,
                            "ResourceRecords": [{"Value": "10.0.0.1"}],
                        },
                    }
                ]
            },
        },
    ),
    ("cloudfront", "tag_resource", {"Resource": "arn", "Tags": {"Items": [{"Key": "k", "Value": "v"}]}}),
    ("events", "put_rule", {"Name": "r", "ScheduleExpression": "rate(5 minutes)"}),
    ("secretsmanager", "put_secret_value", {"SecretId": "s", "SecretString": "x"}),
    ("ssm", "put_parameter", {"Name": "p", "Value": "v", "Type": "String"}),
    ("rds", "modify_db_instance", {"DBInstanceIdentifier": "d", "AllocatedStorage": 100}),
    ("elbv2", "modify_target_group", {"TargetGroupArn": "arn", "HealthCheckEnabled": True}),
    ("ecs", "update_service", {"service": "s", "desiredCount": 3}),
]


class _Sent(Exception):
    """A way out of botocore, no error."""

    def __init__(self, request: Any) -> None:
        super().__init__("sent")
        self.request = request


@contextmanager
def _caught() -> Iterator[list[Any]]:
    caught: list[Any] = []
    try:
        yield caught
    except _Sent as sent:
        caught.append(sent.request)


@pytest.fixture(scope="module")
def session() -> Any:
    """One for all: what it has loaded is most of a client's cost."""
    return botocore.session.get_session()


def _sent(session: Any, service: str, method: str, parameters: dict[str, Any]) -> Inbound:
    client: Any = session.create_client(
        service,
        region_name="eu-west-1",
        endpoint_url="http://gateway.internal:8484",
        aws_access_key_id="SNTLAAAAAAAAAAAAAAAA",
        aws_secret_access_key="secret",
        config=Config(retries={"total_max_attempts": 1}),
    )

    def stop(request: Any, **_: Any) -> None:
        raise _Sent(request)

    client.meta.events.register("before-send", stop)
    with _caught() as caught:
        getattr(client, method)(**parameters)
    request = caught[0]
    headers = {name.lower(): _text(value) for name, value in request.headers.items()}
    headers["host"] = "gateway.internal:8484"
    body = request.body or b""
    content = body.read() if hasattr(body, "read") else body.encode() if isinstance(body, str) else bytes(body)

    async def read() -> bytes:
        return content

    return Inbound(
        method=request.method,
        target=request.url.removeprefix("http://gateway.internal:8484"),
        headers=tuple(headers.items()),
        read_body=read,
        received_at=datetime.now(UTC),
    )


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


@pytest.mark.parametrize("call", CALLS, ids=[f"{service}.{method}" for service, method, _ in CALLS])
async def test_a_boto3_call_is_read_as_it_was_made(
    decoder: AwsDecoder, caller: Caller, session: Any, call: tuple[str, str, dict[str, Any]]
) -> None:
    service, method, parameters = call
    request = await decoder.read(_sent(session, service, method, parameters), caller)
    assert request.call.service == service
    assert request.call.operation.lower() == method.replace("_", "")
    for name, value in parameters.items():
        assert request.call.parameters[name] == value
    assert request.idempotency_key.startswith("SNTLAAAAAAAAAAAAAAAA:")
