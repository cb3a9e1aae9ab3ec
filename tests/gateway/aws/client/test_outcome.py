"""Classifying replies of every protocol: hand-written ones and those of a real moto."""

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from moto.server import ThreadedMotoServer

from gateway.aws.client.mutations import Aws
from gateway.aws.client.outcome import THROTTLED, assigned_id, outcome_of
from gateway.core.model.mutation import Call
from gateway.core.model.outcome import Applied, Failed, InDoubt
from gateway.core.outbound.response import HttpResponse

ID = ("x-amzn-RequestId", "r-1")


def judged(models: Any, *case: Any) -> Any:
    service, operation, protocol, status, body, *headers = case
    return outcome_of(
        HttpResponse(status=status, headers=tuple(headers), body=body), models.operation(service, operation), protocol
    )


EC2 = b"<CreateVpcResponse><requestId>r-1</requestId><vpc><vpcId>v</vpcId></vpc></CreateVpcResponse>"
EC2_ERROR = b"<Response><Errors><Error><Code>VpcLimitExceeded</Code><Message>m</Message></Error></Errors><RequestID>r-1</RequestID></Response>"
S3_ERROR = b"<Error><Code>%s</Code><Message>m</Message><RequestId>r-1</RequestId></Error>"
S3_ID = ("x-amz-request-id", "r-1")
CBOR = ("smithy-protocol", "rpc-v2-cbor")
CASES: dict[str, tuple[tuple[Any, ...], type]] = {
    "ec2": (("ec2", "CreateVpc", "ec2", 200, EC2), Applied),
    "ec2 error": (("ec2", "CreateVpc", "ec2", 400, EC2_ERROR), Failed),
    "ec2 error on 200": (("ec2", "CreateVpc", "ec2", 200, EC2_ERROR, ID), InDoubt),
    "ec2 other root": (("ec2", "CreateVpc", "ec2", 200, EC2.replace(b"CreateVpc", b"DeleteVpc")), InDoubt),
    "json": (("sqs", "CreateQueue", "json", 200, b'{"QueueUrl": "u"}', ID), Applied),
    "json nothing": (("logs", "CreateLogGroup", "json", 200, b"", ID), Applied),
    "json no id": (("sqs", "CreateQueue", "json", 200, b"{}"), InDoubt),
    "json HTML": (("sqs", "CreateQueue", "json", 200, b"<html>", ID), InDoubt),
    "json list": (("sqs", "CreateQueue", "json", 200, b"[]", ID), InDoubt),
    "json cut": (("sqs", "CreateQueue", "json", 200, b'{"QueueUrl": "u', ID), InDoubt),
    "json deep": (("sqs", "CreateQueue", "json", 200, b"[" * 100_000, ID), InDoubt),
    "json error": (("sqs", "CreateQueue", "json", 400, b'{"__type": "com.amazonaws.sqs#QueueNameExists", "message": "m"}', ID), Failed),
    "json throttled": (("dynamodb", "PutItem", "json", 400, b'{"__type": "x#ThrottlingException"}', ID), Failed),
    "json internal": (("dynamodb", "PutItem", "json", 500, b'{"__type": "x#InternalServerError"}', ID), InDoubt),
    "rest-json": (("lambda", "DeleteFunction", "rest-json", 204, b"", ID), Applied),
    "rest-json HTML": (("lambda", "CreateFunction", "rest-json", 201, b"<html>", ID), InDoubt),
    "rest-json blob": (("lambda", "Invoke", "rest-json", 200, b'"any text"', ID), Applied),
    "rest-json error": (("lambda", "DeleteFunction", "rest-json", 404, b'{"Message": "m"}', ID, ("x-amzn-ErrorType", "ResourceNotFoundException")), Failed),
    "rest-json error without code": (("lambda", "DeleteFunction", "rest-json", 404, b'{"message": "m"}', ID), InDoubt),
    "rest-xml empty": (("s3", "DeleteBucket", "rest-xml", 204, b"", S3_ID), Applied),
    "rest-xml": (("s3", "CopyObject", "rest-xml", 200, b"<CopyObjectResult><ETag>e</ETag></CopyObjectResult>", S3_ID), Applied),
    "rest-xml HTML": (("s3", "CopyObject", "rest-xml", 200, b"<html><body/></html>", S3_ID), InDoubt),
    "rest-xml no id": (("s3", "DeleteBucket", "rest-xml", 204, b""), InDoubt),
    "s3 error in a 200": (("s3", "CopyObject", "rest-xml", 200, S3_ERROR % b"InternalError", S3_ID), InDoubt),
    "s3 slow down in a 200": (("s3", "CopyObject", "rest-xml", 200, S3_ERROR % b"SlowDown", S3_ID), Failed),
    "s3 error": (("s3", "DeleteBucket", "rest-xml", 404, S3_ERROR % b"NoSuchBucket", S3_ID), Failed),
    "s3 error without body": (("s3", "DeleteBucket", "rest-xml", 403, b"", S3_ID), InDoubt),
    "s3 elsewhere": (("s3", "DeleteBucket", "rest-xml", 301, S3_ERROR % b"PermanentRedirect", S3_ID), Failed),
    "s3 slow down": (("s3", "DeleteBucket", "rest-xml", 503, S3_ERROR % b"SlowDown", S3_ID), Failed),
    # An operation that returns nothing: an empty body and `null` are success in every protocol.
    "json null": (("logs", "CreateLogGroup", "json", 200, b"null", ID), Applied),
    "json null with blanks": (("logs", "CreateLogGroup", "json", 200, b" null\n", ID), Applied),
    "json null without id": (("logs", "CreateLogGroup", "json", 200, b"null"), InDoubt),
    "json null where there is output": (("sqs", "CreateQueue", "json", 200, b"null", ID), InDoubt),
    "json null, empty output": (("ecs", "DeleteAttributes", "json", 200, b"null", ID), InDoubt),
    "json text": (("logs", "CreateLogGroup", "json", 200, b'"null"', ID), InDoubt),
    "rest-json null": (("lambda", "DeleteFunctionConcurrency", "rest-json", 204, b"null", ID), Applied),
    "rest-json, output in headers only": (("s3", "PutBucketLifecycleConfiguration", "rest-xml", 200, b"", S3_ID), Applied),
    "query nothing": (("iam", "DeleteRole", "query", 200, b"", ID), Applied),
    "query nothing without id": (("iam", "DeleteRole", "query", 200, b""), InDoubt),
    "query nothing where there is output": (("iam", "CreateRole", "query", 200, b"", ID), InDoubt),
    "ec2 nothing": (("ec2", "DeleteVpc", "ec2", 200, b"", ID), Applied),
    "ec2 true": (("ec2", "DeleteVpc", "ec2", 200, b"<DeleteVpcResponse><requestId>r-1</requestId><return>true</return></DeleteVpcResponse>"), Applied),
    "ec2 false": (("ec2", "DeleteVpc", "ec2", 200, b"<DeleteVpcResponse><requestId>r-1</requestId><return>false</return></DeleteVpcResponse>"), InDoubt),
    "query root only": (("iam", "DeleteRole", "query", 200, b"<DeleteRoleResponse/>", ID), Applied),
    "query root only without id": (("iam", "DeleteRole", "query", 200, b"<DeleteRoleResponse/>"), InDoubt),
    "query id in the body": (("iam", "DeleteRole", "query", 200, b"<DeleteRoleResponse><ResponseMetadata><RequestId>r-1</RequestId></ResponseMetadata></DeleteRoleResponse>"), Applied),
    "query other root": (("iam", "DeleteRole", "query", 200, b"<DeleteUserResponse/>", ID), InDoubt),
    "query cut": (("iam", "DeleteRole", "query", 200, b"<DeleteRoleResponse><Resp", ID), InDoubt),
    "query HTML": (("iam", "DeleteRole", "query", 200, b"<html><body></html>", ID), InDoubt),
    "query blanks before XML": (("iam", "DeleteRole", "query", 200, b" <?xml version='1.0'?><DeleteRoleResponse/>", ID), InDoubt),
    "query error on 200": (("iam", "DeleteRole", "query", 200, b"<ErrorResponse><Error><Code>Throttling</Code></Error></ErrorResponse>", ID), InDoubt),
    "ec2 true with id": (("ec2", "DeleteVpc", "ec2", 200, b"<DeleteVpcResponse><return>true</return></DeleteVpcResponse>", ID), Applied),
    "ec2 false with id": (("ec2", "DeleteVpc", "ec2", 200, b"<DeleteVpcResponse><return>false</return></DeleteVpcResponse>", ID), InDoubt),
    "cbor nothing": (("cloudwatch", "DeleteAlarms", "smithy-rpc-v2-cbor", 200, b"", ID), Applied),
    "null on an error": (("logs", "CreateLogGroup", "json", 500, b"null", ID), InDoubt),
    "null on a redirect": (("logs", "CreateLogGroup", "json", 302, b"null", ID), InDoubt),
    # AWS documents that these can fail within a 200.
    "copy with nothing": (("s3", "CopyObject", "rest-xml", 200, b"", S3_ID), InDoubt),
    "copy with blanks only": (("s3", "CopyObject", "rest-xml", 200, b" \n" * 400, S3_ID), InDoubt),
    "copy, the error after blanks": (("s3", "CopyObject", "rest-xml", 200, b" \n" * 400 + S3_ERROR % b"InternalError", S3_ID), InDoubt),
    "copy, the result after blanks": (("s3", "CopyObject", "rest-xml", 200, b" \n" * 400 + b"<CopyObjectResult/>", S3_ID), Applied),
    "copy, another's result": (("s3", "CopyObject", "rest-xml", 200, b"<CopyPartResult/>", S3_ID), InDoubt),
    "part copy": (("s3", "UploadPartCopy", "rest-xml", 200, b"<CopyPartResult><ETag>e</ETag></CopyPartResult>", S3_ID), Applied),
    "part copy, an error": (("s3", "UploadPartCopy", "rest-xml", 200, S3_ERROR % b"InternalError", S3_ID), InDoubt),
    "complete": (("s3", "CompleteMultipartUpload", "rest-xml", 200, b"<CompleteMultipartUploadResult/>", S3_ID), Applied),
    "complete, an error": (("s3", "CompleteMultipartUpload", "rest-xml", 200, S3_ERROR % b"InternalError", S3_ID), InDoubt),
    "complete with nothing": (("s3", "CompleteMultipartUpload", "rest-xml", 200, b"", S3_ID), InDoubt),
    "delete objects": (("s3", "DeleteObjects", "rest-xml", 200, b"<DeleteResult><Deleted><Key>a</Key></Deleted></DeleteResult>", S3_ID), Applied),
    "delete objects, quiet": (("s3", "DeleteObjects", "rest-xml", 200, b"<DeleteResult/>", S3_ID), Applied),
    "delete objects, one not": (("s3", "DeleteObjects", "rest-xml", 200, b"<DeleteResult><Deleted><Key>a</Key></Deleted><Error><Key>b</Key><Code>AccessDenied</Code></Error></DeleteResult>", S3_ID), InDoubt),
    "endpoints, one not": (("ec2", "DeleteVpcEndpoints", "ec2", 200, b"<DeleteVpcEndpointsResponse><requestId>r-1</requestId><unsuccessful><item><resourceId>e</resourceId></item></unsuccessful></DeleteVpcEndpointsResponse>"), InDoubt),
    "endpoints": (("ec2", "DeleteVpcEndpoints", "ec2", 200, b"<DeleteVpcEndpointsResponse><requestId>r-1</requestId><unsuccessful/></DeleteVpcEndpointsResponse>"), Applied),
    "targets, one not": (("events", "PutTargets", "json", 200, b'{"FailedEntryCount": 1, "FailedEntries": [{}]}', ID), InDoubt),
    "targets": (("events", "PutTargets", "json", 200, b'{"FailedEntryCount": 0, "FailedEntries": []}', ID), Applied),
    "cbor": (("cloudwatch", "DeleteAlarms", "smithy-rpc-v2-cbor", 200, b"\xbf\xff", ID, CBOR), Applied),
    "cbor unmarked": (("cloudwatch", "DeleteAlarms", "smithy-rpc-v2-cbor", 200, b"\xbf\xff", ID), InDoubt),
    "cbor error": (
        ("cloudwatch", "DeleteAlarms", "smithy-rpc-v2-cbor", 400, b"\xa1f__typedx#No", ID, CBOR),
        Failed,
    ),
    "cbor nonsense": (("cloudwatch", "DeleteAlarms", "smithy-rpc-v2-cbor", 400, b"\xff\xff", ID, CBOR), InDoubt),
    "cloudwatch in query": (
        ("cloudwatch", "DeleteAlarms", "query", 200, b"<DeleteAlarmsResponse><ResponseMetadata><RequestId>r-1</RequestId></ResponseMetadata></DeleteAlarmsResponse>"),
        Applied,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_reply_proves_no_more_than_it_says(models: Any, name: str) -> None:
    arguments, expected = CASES[name]
    outcome = judged(models, *arguments)
    assert type(outcome) is expected
    if isinstance(outcome, Applied | Failed):
        assert outcome.request_id == "r-1"


@pytest.mark.parametrize("name", CASES)
def test_only_a_reply_that_names_what_failed_is_kept_in_doubt(models: Any, name: str) -> None:
    """Any other reply of a call in doubt could be a captive portal's, so no client sees it."""
    outcome = judged(models, *CASES[name][0])
    if isinstance(outcome, InDoubt):
        assert (outcome.reply is not None) is name.endswith(", one not")


@pytest.mark.parametrize("code", sorted(THROTTLED))
@pytest.mark.parametrize("status", [400, 429, 500, 503])
def test_a_throttle_is_a_refusal_whatever_its_status(models: Any, code: str, status: int) -> None:
    outcome = judged(models, "s3", "DeleteBucket", "rest-xml", status, S3_ERROR % code.encode(), S3_ID)
    assert isinstance(outcome, Failed)
    assert outcome.code == code


@pytest.fixture(scope="module")
def moto() -> Iterator[str]:
    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
    running = ThreadedMotoServer(port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    yield f"http://{host.replace('0.0.0.0', '127.0.0.1')}:{port}"  # noqa: S104  moto's own words for its address
    running.stop()


ALARM: dict[str, object] = {
    "AlarmName": "lag",
    "ComparisonOperator": "GreaterThanThreshold",
    "EvaluationPeriods": 1,
    "MetricName": "m",
    "Namespace": "n",
    "Period": 60,
    "Statistic": "Sum",
    "Threshold": 500000.0,
}
MOTO: list[tuple[str, str, str, dict[str, object], type]] = [
    ("ec2", "CreateVpc", "", {"CidrBlock": "10.0.0.0/16"}, Applied),
    ("ec2", "DeleteVpc", "", {"VpcId": "vpc-1"}, Failed),
    ("autoscaling", "DeletePolicy", "", {"PolicyName": "p"}, Applied),
    ("cloudwatch", "PutMetricAlarm", "query", ALARM, Applied),
    ("cloudwatch", "PutMetricAlarm", "json", ALARM, Applied),
    ("sqs", "CreateQueue", "", {"QueueName": "q"}, Applied),
    ("sqs", "DeleteQueue", "", {"QueueUrl": "http://127.0.0.1/123456789012/none"}, Failed),
    ("sns", "CreateTopic", "", {"Name": "t"}, Applied),
    ("dynamodb", "DeleteTable", "", {"TableName": "none"}, Failed),
    ("iam", "CreateRole", "", {"RoleName": "r", "AssumeRolePolicyDocument": "{}"}, Applied),
    ("iam", "DeleteRole", "", {"RoleName": "none"}, Failed),
    ("lambda", "DeleteFunction", "", {"FunctionName": "none"}, Failed),
    ("logs", "CreateLogGroup", "", {"logGroupName": "g"}, Applied),
    ("s3", "CreateBucket", "", {"Bucket": "orders"}, Applied),
    ("s3", "PutObject", "", {"Bucket": "orders", "Key": "a b/../é+", "Body": b"x"}, Applied),
    ("s3", "PutBucketVersioning", "", {"Bucket": "orders", "VersioningConfiguration": {"Status": "Enabled"}}, Applied),
    ("s3", "DeleteBucket", "", {"Bucket": "none"}, Failed),
    ("route53", "CreateHostedZone", "", {"Name": "e.com", "CallerReference": "1"}, Applied),
    ("route53", "DeleteHostedZone", "", {"Id": "none"}, Failed),
    ("ssm", "PutParameter", "", {"Name": "/a", "Value": "b", "Type": "String"}, Applied),
    ("kms", "CreateKey", "", {}, Applied),
    ("rds", "CreateDBParameterGroup", "", {"DBParameterGroupName": "g", "DBParameterGroupFamily": "mysql8.0", "Description": "d"}, Applied),
    ("ecs", "CreateCluster", "", {"clusterName": "c"}, Applied),
    ("elbv2", "DeleteLoadBalancer", "", {"LoadBalancerArn": "arn:x"}, Applied),
    ("secretsmanager", "DeleteSecret", "", {"SecretId": "none"}, Failed),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.allow_hosts(["127.0.0.1"])
async def test_what_moto_answers_is_understood_in_every_protocol(parts: Any, client: Any, moto: str) -> None:
    client._reply_seconds = 300  # moto loads a service at its first call
    aws = Aws(**parts(moto))
    for service, operation, protocol, parameters, expected in MOTO:
        call = Call(service=service, operation=operation, protocol=protocol, parameters=parameters, region="us-east-1")
        outcome = await aws.send(await aws.prepare(call, "mut_1"))
        assert type(outcome) is expected, (service, operation, outcome)


@pytest.mark.parametrize(
    ("operation", "parsed", "found"),
    [
        ("RunInstances", {"Instances": [{"InstanceId": "i-1"}]}, "i-1"),
        ("RunInstances", {"Instances": [{"InstanceId": "i-1"}, {"InstanceId": "i-2"}]}, ""),
        ("RunInstances", {"Instances": []}, ""),
        ("CreateSecurityGroup", {"GroupId": "sg-1", "ResponseMetadata": {}}, "sg-1"),
        ("CreateSubnet", {"Subnet": {"SubnetId": "subnet-1"}}, "subnet-1"),
        ("AuthorizeSecurityGroupIngress", {"SecurityGroupRules": [{"SecurityGroupRuleId": "sgr-1"}]}, "sgr-1"),
        ("CreateSecurityGroup", {"GroupId": 3}, ""),
        ("CreateSecurityGroup", {"GroupId": "x" * 501}, ""),
        ("CreateVpc", {}, ""),
        ("CreateSnapshot", {"SnapshotId": "snap-1", "VolumeId": "vol-1"}, "snap-1"),
        ("CreateKeyPair", {"KeyPairId": "key-1", "KeyName": "web"}, ""),
        ("CreateTags", {}, ""),
        ("TerminateInstances", {"Instances": [{"InstanceId": "i-1"}]}, ""),
    ],
)
def test_the_id_of_one_new_resource_is_known(operation: str, parsed: Any, found: str) -> None:
    assert assigned_id("ec2", operation, parsed) == found
