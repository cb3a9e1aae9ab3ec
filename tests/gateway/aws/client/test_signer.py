"""Sentinel's signatures equal botocore's, byte for byte."""

from datetime import UTC, datetime
from hashlib import sha256
from typing import Any
from unittest import mock

import botocore.auth
import botocore.awsrequest
import botocore.credentials
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.aws.client.credentials import Credentials, FixedCredentials
from gateway.aws.client.endpoints import Endpoint, Endpoints
from gateway.aws.client.serialize import serialize
from gateway.aws.client.signer import RequestSigner, signed_headers
from gateway.core.model.mutation import Call
from tests.kit.doubles import FixedClock

BOTO: Any = botocore
"""Untyped."""
AT = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"


def of_botocore(method: str, url: str, headers: dict[str, str], body: bytes, *, endpoint: Endpoint, token: str) -> str:
    request = BOTO.awsrequest.AWSRequest(method=method, url=url, headers=headers, data=body)
    signer = BOTO.auth.S3SigV4Auth if endpoint.literal else BOTO.auth.SigV4Auth
    request.context["payload_signing_enabled"] = True
    with mock.patch("botocore.auth.get_current_datetime", return_value=AT.replace(tzinfo=None)):
        signer(
            BOTO.credentials.Credentials("AKID", SECRET, token or None), endpoint.signing_name, endpoint.region
        ).add_auth(request)
    return str(request.headers["Authorization"])


def check(
    method: str, target: str, headers: dict[str, str], body: bytes, *, endpoint: Endpoint, token: str = ""
) -> None:
    payload = sha256(body).hexdigest()
    sent = headers | ({"x-amz-content-sha256": payload} if endpoint.literal else {})
    ours = signed_headers(
        method=method,
        target=target,
        headers=list(sent.items()),
        payload=payload,
        endpoint=endpoint,
        credentials=Credentials(access_key_id="AKID", secret=SECRET, token=token),
        at=AT,
    )
    assert dict(ours)["authorization"] == of_botocore(
        method, endpoint.origin + target, headers, body, endpoint=endpoint, token=token
    )


CALLS: list[tuple[str, str, dict[str, object]]] = [
    ("autoscaling", "SetDesiredCapacity", {"AutoScalingGroupName": "a", "DesiredCapacity": 6}),
    (
        "ec2",
        "AuthorizeSecurityGroupIngress",
        {"GroupId": "sg-1", "IpPermissions": [{"FromPort": 1, "IpProtocol": "tcp"}]},
    ),
    (
        "cloudwatch",
        "PutMetricAlarm",
        {"AlarmName": "ü", "EvaluationPeriods": 1, "ComparisonOperator": "GreaterThanThreshold"},
    ),
    ("sqs", "CreateQueue", {"QueueName": "q"}),
    ("dynamodb", "DeleteTable", {"TableName": "orders"}),
    (
        "lambda",
        "UpdateFunctionConfiguration",
        {"FunctionName": "arn:aws:lambda:us-east-1:123456789012:function:f", "MemorySize": 256},
    ),
    ("lambda", "DeleteFunction", {"FunctionName": "f", "Qualifier": "1"}),
    ("iam", "CreateRole", {"RoleName": "r", "AssumeRolePolicyDocument": '{"a": "b c+d"}'}),
    ("route53", "CreateHostedZone", {"Name": "e.com", "CallerReference": "1"}),
    ("s3", "PutObject", {"Bucket": "orders", "Key": "a b/../é+", "Body": b"x", "Metadata": {"note": "two  blanks"}}),
    ("s3", "DeleteObject", {"Bucket": "orders", "Key": "k", "VersionId": "a+b/c="}),
    ("s3", "PutBucketTagging", {"Bucket": "orders", "Tagging": {"TagSet": []}}),
    ("apigateway", "CreateRestApi", {"name": "x"}),
    ("eks", "CreateCluster", {"name": "c", "roleArn": "r", "resourcesVpcConfig": {}}),
    ("ssm", "PutParameter", {"Name": "/a", "Value": "v"}),
]


@pytest.mark.parametrize(("service", "operation", "parameters"), CALLS, ids=[f"{s}-{o}" for s, o, _ in CALLS])
@pytest.mark.parametrize("token", ["", "session/token=="])
def test_our_signature_of_a_call_is_botocores(
    models: Any, service: str, operation: str, parameters: dict[str, object], token: str
) -> None:
    call = Call(service=service, operation=operation, parameters=parameters, region="us-east-1")
    endpoint = Endpoints(models=models, regions=("us-east-1",)).of(call)
    unsigned = serialize(call, models.operation(service, operation), endpoint, mutation_id="mut_1")
    headers = {name: value for name, value in unsigned.headers if name != "accept"}
    check(unsigned.method, unsigned.target, headers, unsigned.body, endpoint=endpoint, token=token)


NAMES = st.text(alphabet="abcdefghijklmnopqrstuvwxyz-", min_size=1, max_size=12).map("x-amz-meta-".__add__)
VALUES = st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126), max_size=30)
# Paths with dot segments are never signed: verifier and serialiser refuse them.
SEGMENTS = st.lists(
    st.text(alphabet="abcXYZ019-_.~%", max_size=6).filter(lambda part: part not in (".", "..")), max_size=4
).map(lambda parts: "/" + "/".join(parts).replace("%", "%25"))


@given(
    method=st.sampled_from(["GET", "PUT", "POST", "DELETE"]),
    path=SEGMENTS,
    query=st.lists(
        st.tuples(st.text(alphabet="abc-", min_size=1, max_size=5), st.text(alphabet="abc012~", max_size=5)), max_size=4
    ),
    headers=st.dictionaries(NAMES, VALUES, max_size=4),
    body=st.binary(max_size=50),
    literal=st.booleans(),
)
def test_our_signature_of_any_request_is_botocores(
    method: str, path: str, query: list[tuple[str, str]], headers: dict[str, str], body: bytes, *, literal: bool
) -> None:
    endpoint = Endpoint(
        origin="https://x.amazonaws.com",
        host="x.amazonaws.com",
        path="",
        signing_name="s3" if literal else "lambda",
        region="eu-west-1",
    )
    target = path + ("?" + "&".join(f"{name}={value}" for name, value in query) if query else "")
    check(method, target, headers, body, endpoint=endpoint)


def test_headers_that_intermediaries_change_are_not_signed() -> None:
    endpoint = Endpoint(origin="https://x", host="x", path="", signing_name="sqs", region="us-east-1")
    headers = [
        ("user-agent", "a"),
        ("accept-encoding", "gzip"),
        ("amz-sdk-request", "attempt=1"),
        ("content-type", "b"),
    ]
    signed = dict(
        signed_headers(
            method="POST",
            target="/",
            headers=headers,
            payload="0" * 64,
            endpoint=endpoint,
            credentials=Credentials(access_key_id="A", secret="s"),
            at=AT,
        )
    )
    assert "SignedHeaders=content-type;host;x-amz-date," in signed["authorization"]
    assert signed["user-agent"] == "a"


@pytest.mark.parametrize(("service", "has_payload_header"), [("sqs", False), ("s3", True)])
async def test_only_s3_gets_the_payload_hash_as_a_header(service: str, has_payload_header: bool) -> None:
    endpoint = Endpoint(origin="https://x", host="x", path="", signing_name=service, region="us-east-1")
    clock = FixedClock()
    credentials = Credentials(access_key_id="A", secret="s")
    signed = dict(
        await RequestSigner(FixedCredentials(credentials), clock).sign(
            method="POST", target="/", headers=[("content-type", "b")], payload="0" * 64, endpoint=endpoint
        )
    )
    assert ("x-amz-content-sha256" in signed) is has_payload_header
    assert signed["x-amz-date"] == f"{clock.now():%Y%m%dT%H%M%SZ}"
