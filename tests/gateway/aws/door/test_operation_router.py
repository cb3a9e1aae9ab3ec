"""A request is routed to exactly one operation, or refused if it is ambiguous."""

from typing import Any

import pytest

from gateway.aws.door.operation_router import OperationRouter, Routed, guess_protocol
from gateway.aws.door.request_head import head_of
from gateway.aws.models.call_classes import CallClassTable
from gateway.aws.models.routing_index import Protocol, RoutingIndex
from gateway.core.errors import Malformed, UnknownOperation
from gateway.core.http.strict_parsers import form
from gateway.core.model.inbound import Inbound


@pytest.fixture
def router(routes: RoutingIndex, table: CallClassTable) -> OperationRouter:
    return OperationRouter(routes, table)


def _routed(router: OperationRouter, inbound: Inbound, body: bytes = b"") -> Routed:
    head = head_of(inbound)
    candidates = router.candidates(head)
    fields = form(body) if router.needs_form(head) else None
    return router.route(head, candidates, fields)


S3 = {
    ("GET", "/"): "ListBuckets",
    ("GET", "/b"): "ListObjects",
    ("GET", "/b/"): "ListObjects",
    ("GET", "/b?list-type=2"): "ListObjectsV2",
    ("GET", "/b?acl"): "GetBucketAcl",
    ("GET", "/b?versions"): "ListObjectVersions",
    ("GET", "/b/k/with/slash/"): "GetObject",
    ("GET", "/b/k?acl"): "GetObjectAcl",
    ("GET", "/b/k?uploadId=7"): "ListParts",
    ("HEAD", "/b"): "HeadBucket",
    ("HEAD", "/b/k"): "HeadObject",
    ("PUT", "/b"): "CreateBucket",
    ("PUT", "/b?acl"): "PutBucketAcl",
    ("PUT", "/b/k"): "PutObject",
    ("PUT", "/b/k?tagging"): "PutObjectTagging",
    ("PUT", "/b/k?partNumber=1&uploadId=7"): "UploadPart",
    ("POST", "/b?delete"): "DeleteObjects",
    ("POST", "/b/k?uploads"): "CreateMultipartUpload",
    ("POST", "/b/k?uploadId=7"): "CompleteMultipartUpload",
    ("DELETE", "/b"): "DeleteBucket",
    ("DELETE", "/b?policy"): "DeleteBucketPolicy",
    ("DELETE", "/b/k"): "DeleteObject",
    ("DELETE", "/b/k?uploadId=7"): "AbortMultipartUpload",
}


@pytest.mark.parametrize(("request_line", "operation"), S3.items(), ids=[f"{m} {t}" for m, t in S3])
def test_s3_is_routed_by_sub_resource(
    router: OperationRouter, wire: Any, request_line: tuple[str, str], operation: str
) -> None:
    method, target = request_line
    assert _routed(router, wire.inbound("s3", method=method, target=target)).operation == operation


def test_s3_copies_are_routed_by_their_header(router: OperationRouter, wire: Any) -> None:
    inbound = wire.inbound("s3", method="PUT", target="/b/k", headers={"x-amz-copy-source": "b/other"})
    assert _routed(router, inbound).operation == "CopyObject"


ROUTED = [
    ("bedrock", "POST", "/agents/a1/", "bedrock-agent", "PrepareAgent"),
    ("bedrock", "POST", "/agents/a1", "bedrock-agent-runtime", "InvokeInlineAgent"),
    ("lambda", "POST", "/2015-03-31/functions/f/invocations", "lambda", "Invoke"),
    ("lambda", "GET", "/2015-03-31/functions/", "lambda", "ListFunctions"),
    ("lambda", "GET", "/2015-03-31/functions", "lambda", "ListFunctions"),
    ("s3", "GET", "/v20180820/configuration/publicAccessBlock", "s3control", "GetPublicAccessBlock"),
    ("route53", "GET", "/2013-04-01/hostedzone", "route53", "ListHostedZones"),
    ("apigateway", "GET", "/v2/apis", "apigatewayv2", "GetApis"),
    ("apigateway", "GET", "/restapis", "apigateway", "GetRestApis"),
]


@pytest.mark.parametrize("case", ROUTED, ids=[case[-1] for case in ROUTED])
def test_rest_is_routed_by_path(router: OperationRouter, wire: Any, case: tuple[str, str, str, str, str]) -> None:
    signing, method, target, service, operation = case
    headers = {"x-amz-account-id": "123456789012"} if service == "s3control" else {}
    routed = _routed(router, wire.inbound(signing, method=method, target=target, headers=headers))
    assert (routed.service.name, routed.operation) == (service, operation)


def test_labels_are_decoded_once(router: OperationRouter, wire: Any) -> None:
    routed = _routed(router, wire.inbound("s3", method="GET", target="/b/a%2Fb%2541"))
    assert routed.labels == {"Bucket": "b", "Key": "a/b%41"}


def test_a_form_is_routed_by_action_and_version(router: OperationRouter, wire: Any) -> None:
    body = "Action=DescribeDBInstances&Version=2014-10-31"
    routed = _routed(router, wire.form("rds", body), body.encode())
    assert (routed.service.name, routed.operation, routed.protocol) == ("rds", "DescribeDBInstances", Protocol.QUERY)


def test_the_service_in_the_path_selects_among_equal_signing_names(router: OperationRouter, wire: Any) -> None:
    body = "Action=DescribeDBInstances&Version=2014-10-31"
    routed = _routed(router, wire.form("rds", body, target="/_svc/neptune"), body.encode())
    assert routed.service.name == "neptune"


def test_an_action_in_the_query_is_routed(router: OperationRouter, wire: Any) -> None:
    inbound = wire.inbound("ec2", method="GET", target="/?Action=DescribeVpcs&Version=2016-11-15")
    assert _routed(router, inbound).operation == "DescribeVpcs"


CBOR = {"smithy-protocol": "rpc-v2-cbor", "content-type": "application/cbor"}


@pytest.mark.parametrize("namespace", ["", "com.amazonaws.cloudtrail.v20131101."], ids=["SDK for Go", "botocore"])
def test_a_target_names_the_service_with_or_without_its_namespace(
    router: OperationRouter, wire: Any, namespace: str
) -> None:
    target = f"{namespace}CloudTrail_20131101.CreateTrail"
    headers = {"x-amz-target": target, "content-type": "application/x-amz-json-1.1"}
    routed = _routed(router, wire.inbound("cloudtrail", headers=headers))
    assert (routed.service.name, routed.operation) == ("cloudtrail", "CreateTrail")


def test_a_target_is_remembered_unless_its_headers_are_long(router: OperationRouter, wire: Any) -> None:
    def asked(content_type: str) -> Routed | None:
        headers = {"x-amz-target": "CloudTrail_20131101.CreateTrail", "content-type": content_type}
        head = head_of(wire.inbound("cloudtrail", headers=headers))
        usual = router.by_target(head)
        assert usual in (None, router.route(head, router.candidates(head), None))
        return usual

    assert asked("application/x-amz-json-1.1") is not None
    known = router._usual_targets.cache_info().currsize
    assert asked(f"application/x-amz-json-1.1; x={'a' * 600}") is None
    assert router._usual_targets.cache_info().currsize == known


JSON = {"x-amz-target": "AmazonSQS.GetQueueUrl", "content-type": "application/x-amz-json-1.0"}
FORM = {"content-type": "application/x-www-form-urlencoded"}

AMBIGUOUS: dict[str, tuple[str, dict[str, Any], bytes]] = {
    "target and form": ("sqs", {"headers": {**JSON, **FORM}}, b"Action=ListQueues&Version=2012-11-05"),
    "target and Action in the query": (
        "sqs",
        {"headers": JSON, "target": "/?Action=DeleteQueue&Version=2012-11-05"},
        b"",
    ),
    "target and rpc-v2": ("sqs", {"headers": {**JSON, "smithy-protocol": "rpc-v2-cbor"}}, b""),
    "rpc-v2 and form": ("monitoring", {"headers": {**CBOR, **FORM}}, b"Action=ListMetrics&Version=2010-08-01"),
    "target with a body of another kind": ("sqs", {"headers": {**JSON, "content-type": "text/plain"}}, b""),
    "target without a content type": ("sqs", {"headers": {"x-amz-target": "AmazonSQS.GetQueueUrl"}}, b""),
    "rpc-v2 with JSON": (
        "monitoring",
        {
            "headers": {**CBOR, "content-type": "application/json"},
            "target": "/service/GraniteServiceVersion20100801/operation/ListMetrics",
        },
        b"",
    ),
    "target with a path": ("sqs", {"headers": JSON, "target": "/queue"}, b""),
    "target with a query": ("sqs", {"headers": JSON, "target": "/?x=1"}, b""),
    "target of another service": (
        "sqs",
        {"headers": {**JSON, "x-amz-target": "DynamoDB_20120810.DeleteTable"}},
        b"",
    ),
    "target on a REST service": ("lambda", {"headers": JSON, "target": "/2015-03-31/functions", "method": "GET"}, b""),
    "rpc-v2 of another service": (
        "sqs",
        {"headers": CBOR, "target": "/service/GraniteServiceVersion20100801/operation/ListMetrics"},
        b"",
    ),
    "another version": ("ec2", {"headers": FORM}, b"Action=DescribeVpcs&Version=2010-01-01"),
    "version of another service with the signing name": (
        "iam",
        {"headers": FORM},
        b"Action=ListUsers&Version=2016-11-15",
    ),
    "a service that does not exist": ("evil", {}, b""),
    "a service that is not signed for": ("sqs", {"target": "/_svc/iam/"}, b""),
    "a read that also names a deletion": (
        "s3",
        {"target": "/b/k?select&select-type=2&uploadId=7"},
        b"",
    ),
    "two services, one a change": ("lex", {"target": "/imports/"}, b""),
    "two Actions in the query": ("ec2", {"method": "GET", "target": "/?Action=A&Version=2016-11-15&action=B"}, b""),
}


@pytest.mark.parametrize(("signing", "given", "body"), AMBIGUOUS.values(), ids=AMBIGUOUS.keys())
def test_an_ambiguous_operation_is_refused(
    router: OperationRouter, wire: Any, signing: str, given: dict[str, Any], body: bytes
) -> None:
    with pytest.raises(Malformed):
        _routed(router, wire.inbound(signing, body=body, **given), body)


UNKNOWN: dict[str, tuple[str, dict[str, Any], bytes]] = {
    "action": ("ec2", {"headers": FORM}, b"Action=MakeCoffee&Version=2016-11-15"),
    "action in another case": ("ec2", {"headers": FORM}, b"Action=describevpcs&Version=2016-11-15"),
    "no action": ("ec2", {"headers": FORM}, b"Version=2016-11-15"),
    "target": ("sqs", {"headers": {**JSON, "x-amz-target": "AmazonSQS.MakeCoffee"}}, b""),
    "path": ("lambda", {"method": "GET", "target": "/coffee"}, b""),
    "method": ("lambda", {"method": "PATCH", "target": "/2015-03-31/functions"}, b""),
    "rpc-v2 path": ("monitoring", {"headers": CBOR, "target": "/"}, b""),
    "rpc-v2 by GET": (
        "monitoring",
        {
            "headers": CBOR,
            "method": "GET",
            "target": "/service/GraniteServiceVersion20100801/operation/ListMetrics",
        },
        b"",
    ),
}


@pytest.mark.parametrize(("signing", "given", "body"), UNKNOWN.values(), ids=UNKNOWN.keys())
def test_an_unknown_operation_is_refused(
    router: OperationRouter, wire: Any, signing: str, given: dict[str, Any], body: bytes
) -> None:
    with pytest.raises(UnknownOperation):
        _routed(router, wire.inbound(signing, body=body, **given), body)


def test_ten_services_do_not_answer_for_each_other(router: OperationRouter, wire: Any, routes: RoutingIndex) -> None:
    names = ["dynamodb", "kms", "logs", "sqs", "ecs", "ssm", "secretsmanager", "events", "kinesis", "athena"]
    services = [routes.services[name] for name in names]
    for one in services:
        for other in services:
            target = f"{other.target}.{min(other.operations)}"
            inbound = wire.json(one.signing, target, b"{}")
            if one is other:
                assert _routed(router, inbound).service is one
            else:
                with pytest.raises(Malformed):
                    _routed(router, inbound)


@pytest.mark.parametrize(
    ("signing", "headers", "protocol"),
    [
        ("sqs", JSON, Protocol.JSON),
        ("monitoring", CBOR, Protocol.CBOR),
        ("ec2", FORM, Protocol.EC2),
        ("iam", FORM, Protocol.QUERY),
        ("s3", {}, Protocol.REST_XML),
        ("lambda", {}, Protocol.REST_JSON),
        ("evil", {}, Protocol.REST_XML),
        ("evil", {"content-type": "application/json"}, Protocol.REST_JSON),
    ],
)
def test_the_protocol_of_any_request_can_be_guessed(
    routes: RoutingIndex, wire: Any, signing: str, headers: dict[str, str], protocol: Protocol
) -> None:
    assert guess_protocol(wire.inbound(signing, headers=headers), routes)[1] is protocol


def test_the_old_protocol_of_sqs_is_refused_with_the_versions_that_left_it(router: OperationRouter, wire: Any) -> None:
    headers = {"content-type": "application/x-www-form-urlencoded; charset=utf-8"}
    body = b"Action=ListQueues&Version=2012-11-05"
    with pytest.raises(UnknownOperation, match=r"boto3 1\.28\.82"):
        _routed(router, wire.inbound("sqs", headers=headers, body=body), body)
