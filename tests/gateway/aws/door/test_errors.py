"""Errors arrive as each protocol's own exception, according to botocore's parsers."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import botocore.parsers
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.aws.door import errors
from gateway.aws.models.routing_index import Protocol, RoutingIndex
from gateway.core.model.inbound import Inbound

FORM = {"content-type": "application/x-www-form-urlencoded"}
JSON = {"content-type": "application/x-amz-json-1.0", "x-amz-target": "AmazonSQS.CreateQueue"}
CBOR = {"content-type": "application/cbor", "smithy-protocol": "rpc-v2-cbor"}

CASES = {
    "ec2": ("ec2", FORM, Protocol.EC2, "UnauthorizedOperation"),
    "query": ("autoscaling", FORM, Protocol.QUERY, "AccessDenied"),
    "json": ("dynamodb", {**JSON, "x-amz-target": "DynamoDB_20120810.X"}, Protocol.JSON, "AccessDeniedException"),
    "json, query-compatible": ("sqs", JSON, Protocol.JSON, "AccessDeniedException"),
    "rest-json": ("lambda", {}, Protocol.REST_JSON, "AccessDeniedException"),
    "rest-xml": ("route53", {}, Protocol.REST_XML, "AccessDenied"),
    "s3": ("s3", {}, Protocol.REST_XML, "AccessDenied"),
    "rpc-v2-cbor": ("monitoring", CBOR, Protocol.CBOR, "AccessDeniedException"),
}
MESSAGE = 'Sentinel: <max> & "16"; path é → ü'


def _parsed(protocol: Protocol, response: errors.ErrorResponse) -> dict[str, Any]:
    status, headers, body = response
    parser = botocore.parsers.create_parser(protocol.value)
    given = botocore.awsrequest.HeadersDict(headers)
    result: dict[str, Any] = parser.parse({"status_code": status, "headers": given, "body": body}, None)
    return result


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_botocore_reads_code_message_and_request_id(wire: Any, case: tuple[str, dict[str, str], Protocol, str]) -> None:
    signing, headers, protocol, code = case
    response = errors.access_denied(
        wire.inbound(signing, headers=headers), message=MESSAGE, request_id="req_01", service=None
    )
    read = _parsed(protocol, response)
    assert response[0] == 403
    assert (read["Error"]["Code"], read["Error"]["Message"]) == (code, MESSAGE)
    assert read["ResponseMetadata"]["RequestId"] == "req_01"
    headers_sent = dict(response[1])
    assert headers_sent["date"].endswith(" GMT")
    assert int(headers_sent["content-length"]) == len(response[2])


def test_services_that_left_the_query_protocol_also_send_its_code(wire: Any, routes: RoutingIndex) -> None:
    response = errors.access_denied(wire.inbound("sqs", headers=JSON), message="no", request_id="r")
    assert routes.services["sqs"].query_compatible
    assert dict(response[1])["x-amzn-query-error"] == "AccessDeniedException;Sender"


def test_a_head_is_answered_without_a_body(wire: Any) -> None:
    status, headers, body = errors.access_denied(
        wire.inbound("s3", method="HEAD", target="/b/k"), message="no", request_id="r"
    )
    assert (status, body, dict(headers)["content-length"]) == (403, b"", "0")


SPELLED = [
    ("sqs", JSON, "InvalidClientTokenId", "UnrecognizedClientException"),
    ("ec2", FORM, "InvalidClientTokenId", "AuthFailure"),
    ("s3", {}, "InvalidClientTokenId", "InvalidAccessKeyId"),
    ("iam", FORM, "InvalidClientTokenId", "InvalidClientTokenId"),
    ("sqs", JSON, "ValidationError", "ValidationException"),
    ("sqs", JSON, "InvalidAction", "UnknownOperationException"),
    ("iam", FORM, "InvalidAction", "InvalidAction"),
    ("sqs", JSON, "OutcomeUnknown", "OutcomeUnknown"),
]


@pytest.mark.parametrize("case", SPELLED)
def test_each_protocol_has_its_own_error_code(wire: Any, case: tuple[str, dict[str, str], str, str]) -> None:
    signing, headers, code, protocol_code = case
    response = errors.error_response(
        wire.inbound(signing, headers=headers), code=code, message="m", status=400, request_id="r"
    )
    assert protocol_code.encode() in response[2]


@given(st.text(max_size=6000), st.sampled_from(sorted(CASES)))
def test_any_message_makes_a_valid_error(message: str, name: str) -> None:
    signing, headers, protocol, _ = CASES[name]
    response = errors.error_response(
        _inbound(signing, headers), code="AccessDenied", message=message, status=403, request_id="r"
    )
    read = _parsed(protocol, response)["Error"]["Message"] or ""
    assert len(read) <= errors.MAX_MESSAGE
    assert read == errors.clean(message)


def test_a_code_cannot_break_out_of_its_header(wire: Any) -> None:
    response = errors.error_response(
        wire.inbound("sqs", headers=JSON), code="X\r\nset-cookie: a<b>", message="m", status=400, request_id="r"
    )
    assert dict(response[1])["x-amzn-errortype"] == "Xsetcookieab"


def test_a_bare_request_still_gets_a_valid_error(wire: Any) -> None:
    bare = replace(wire.inbound("sqs"), headers=())
    response = errors.error_response(bare, code="MissingAuthenticationToken", message="m", status=403, request_id="r")
    assert _parsed(Protocol.REST_XML, response)["Error"]["Code"] == "MissingAuthenticationToken"


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("UnsupportedMediaTypeException", 415),
        ("RequestEntityTooLargeException", 413),
        ("AccessDenied", 403),
        ("SignatureDoesNotMatch", 403),
        ("ValidationError", 400),
        ("InternalFailure", 409),
        ("OutcomeUnknown", 409),
        ("ConflictException", 409),
        ("SomethingElse", 400),
    ],
)
def test_a_status_goes_with_each_code(code: str, status: int) -> None:
    assert errors.status_of(code) == status


def _inbound(signing: str, headers: dict[str, str]) -> Inbound:
    async def read() -> bytes:
        raise AssertionError("an error needs no body")

    proof = f"AWS4-HMAC-SHA256 Credential=A/20261121/eu-west-1/{signing}/aws4_request, SignedHeaders=host, Signature=0"
    return Inbound(
        method="POST",
        target="/",
        headers=(*headers.items(), ("authorization", proof)),
        read_body=read,
        received_at=datetime(2026, 11, 21, tzinfo=UTC),
    )


def test_an_error_for_sqs_in_its_old_protocol_is_xml(wire: Any) -> None:
    """Its client parses nothing else, although the service speaks JSON by now."""
    headers = {"content-type": "application/x-www-form-urlencoded; charset=utf-8"}
    asked = wire.inbound("sqs", headers=headers, body=b"Action=ListQueues&Version=2012-11-05")
    _, _, body = errors.error_response(asked, code="InvalidAction", message="Update.", status=400, request_id="r-1")
    assert body.startswith(b"<?xml")
    assert b"<Code>InvalidAction</Code>" in body
