"""Classifies AWS's reply to a mutation: applied (with the id that AWS chose), failed, or in doubt.

botocore alone parses the HTML page of a captive portal as a success. So `Applied` needs a 2xx status, an AWS request id and a body of the
operation's own form that botocore can parse; an operation that returns nothing may have an empty body. `Failed` needs a definite refusal
by AWS. A 2xx reply is in doubt if AWS documents that it can contain a failure, and it contains one. So is every other reply.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final
from xml.etree.ElementTree import ParseError, fromstring

from botocore.awsrequest import HeadersDict
from botocore.exceptions import BotoCoreError
from botocore.model import OperationModel
from botocore.parsers import ResponseParserError, create_parser

from gateway.aws.client.serialize import CBOR
from gateway.core.model.outcome import Applied, Failed, InDoubt, Reply, Sent
from gateway.core.outbound.response import HttpResponse

_PATHS: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {
    ("ec2", "RunInstances"): ("Instances", "InstanceId"),
    ("ec2", "CreateSecurityGroup"): ("GroupId",),
    ("ec2", "AuthorizeSecurityGroupIngress"): ("SecurityGroupRules", "SecurityGroupRuleId"),
    ("ec2", "AuthorizeSecurityGroupEgress"): ("SecurityGroupRules", "SecurityGroupRuleId"),
    ("elbv2", "CreateLoadBalancer"): ("LoadBalancers", "LoadBalancerArn"),
    ("elbv2", "CreateTargetGroup"): ("TargetGroups", "TargetGroupArn"),
    ("elbv2", "CreateListener"): ("Listeners", "ListenerArn"),
}
"""The members that lead to the id, by service and operation. A list counts only if it has one item."""
_BY_NAME: Final = frozenset({"CreateKeyPair"})
"""Operations of EC2 whose resource Terraform knows by its name, although AWS gives it an id, too."""
_LONGEST: Final = 500


def assigned_id(service: str, operation: str, parsed: Mapping[str, Any]) -> str:
    """The id in a reply as botocore parses it; empty if AWS chose none, or chose several."""
    value: Any = parsed
    for name in _PATHS.get((service, operation)) or _path_in_ec2(service, operation, parsed):
        if isinstance(value, list):
            value = value[0] if len(value) == 1 else None
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if isinstance(value, str) and len(value) <= _LONGEST else ""


def _path_in_ec2(service: str, operation: str, parsed: Mapping[str, Any]) -> tuple[str, ...]:
    """The way to the id of what EC2 creates: `SnapshotId` of CreateSnapshot, `Vpc.VpcId` of CreateVpc; empty for other operations."""
    noun = operation.removeprefix("Create")
    if service != "ec2" or noun == operation or operation in _BY_NAME:
        return ()
    return (f"{noun}Id",) if f"{noun}Id" in parsed else (noun, f"{noun}Id")


THROTTLED = frozenset(
    {
        "BandwidthLimitExceeded",
        "EC2ThrottledException",
        "LimitExceededException",
        "PriorRequestNotComplete",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestThrottledException",
        "SlowDown",
        "ThrottledException",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
        "TransactionInProgressException",
    }
)
"""Codes with which AWS rejects a request before acting on it, whatever the status (`botocore.retries.standard.ThrottledRetryableChecker`).

`ServiceUnavailable` is not among them: AWS's common errors call it "a temporary failure of the server", which may follow the act.
"""
_MOVED = frozenset({"PermanentRedirect", "Redirect", "TemporaryRedirect"})
"""S3 answers with these codes (status 301 or 307) if the bucket is in another region ("Error responses", S3 API Reference)."""
_RESULT_ROOTS = {
    "CompleteMultipartUpload": "CompleteMultipartUploadResult",
    "CopyObject": "CopyObjectResult",
    "UploadPartCopy": "CopyPartResult",
}
"""S3 starts to reply 200 to these before it has finished, so only the result itself is a success; an empty body is none (S3 API Reference)."""
_FAILURE_MEMBERS = {
    ("autoscaling", "BatchDeleteScheduledAction"): "FailedScheduledActions",
    ("autoscaling", "BatchPutScheduledUpdateGroupAction"): "FailedScheduledUpdateGroupActions",
    ("events", "PutTargets"): "FailedEntryCount",
    ("events", "RemoveTargets"): "FailedEntryCount",
    ("glue", "BatchDeleteTable"): "Errors",
    ("s3", "DeleteObjects"): "Errors",
}
"""The output member in which a 2xx reply names resources that were not changed. In EC2 they all begin with `Unsuccessful`."""
_REQUEST_ID_HEADERS = ("x-amzn-requestid", "x-amz-request-id", "x-amzn-request-id")
_ROOTED = frozenset({"query", "ec2"})
"""Protocols whose replies are XML with a root that has the operation's name."""
_MAX_MESSAGE = 2000


def outcome_of(response: HttpResponse, operation: OperationModel, protocol: str) -> Sent:
    """Applied, failed or in doubt. Never raises."""
    try:
        return _classified(response, operation, protocol)
    except Exception as error:  # noqa: BLE001  the change was sent and must be settled, whatever the parsers raise
        return _in_doubt(response, operation, f"the reply could not be read ({type(error).__name__})")


def _classified(response: HttpResponse, operation: OperationModel, protocol: str) -> Sent:
    success = 200 <= response.status < 300  # noqa: PLR2004  RFC 9110 section 15.3
    headers = {name.lower(): value for name, value in reversed(response.headers)}  # of several the first
    in_header = next(filter(None, map(headers.get, _REQUEST_ID_HEADERS)), "")
    # Of a reply without output botocore's parser would read nothing but the request id, and that its XML is well-formed.
    bare = success and bool(in_header) and _is_bare(operation, protocol, response.body)
    parsed = {} if bare else _parsed(response, operation, protocol)
    request_id = in_header or str(parsed.get("ResponseMetadata", {}).get("RequestId") or "")
    reply = Reply(status=response.status, headers=response.headers, body=response.body)
    if not request_id:
        return _in_doubt(response, operation, "the reply has no AWS request id")
    if success and not _is_error_document(response, protocol):
        if not _matches_operation(response, operation, protocol, readable=bare or bool(parsed)):
            return _in_doubt(response, operation, "the reply does not have the form of this operation's")
        if member := _failure_member(operation, parsed):
            doubt = _in_doubt(response, operation, f"AWS reports in {member} that a part of it failed")
            return replace(doubt, reply=reply)
        made = assigned_id(operation.service_model.service_name, operation.name, parsed)
        return Applied(reply=reply, request_id=request_id, made=made)
    # S3 replies 200 with an error document if it fails after it has started to reply ("CopyObject", S3 API Reference).
    code, message = _parsed_error_document(response) if success else _parsed_error(parsed)
    refused = 400 <= response.status < 500 or (300 <= response.status < 400 and code in _MOVED)  # noqa: PLR2004  RFC 9110 section 15
    if code and not code.isdigit() and (refused or code in THROTTLED):
        return Failed(code=code, message=message[:_MAX_MESSAGE], reply=reply, request_id=request_id)
    return _in_doubt(
        response, operation, f"AWS answered with {code or 'an error'} (status {response.status}, request {request_id})"
    )


def _parsed(response: HttpResponse, operation: OperationModel, protocol: str) -> dict[str, Any]:
    """The reply as botocore parses it; empty if it cannot."""
    if operation.has_event_stream_output and response.status < 300:  # noqa: PLR2004  a stream of events is not parsed whole
        return {}
    response_dict = {
        "headers": HeadersDict(dict(response.headers)),
        "status_code": response.status,
        "body": response.body,
    }
    try:
        parsed: dict[str, Any] = _parser(protocol).parse(response_dict, operation.output_shape)
    except (ResponseParserError, BotoCoreError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}
    return parsed


def parsed_reply(operation: OperationModel, reply: Reply) -> dict[str, Any]:
    """The reply as botocore parses it. Raises whatever botocore's parsers raise."""
    headers = {name.lower(): value for name, value in reply.headers}
    document = {"body": reply.body, "headers": headers, "status_code": reply.status}
    parsed: dict[str, Any] = _parser(operation.service_model.resolved_protocol).parse(document, operation.output_shape)
    return parsed


@lru_cache(None)
def _parser(protocol: str) -> Any:
    """Botocore's parser of a protocol. Shared by all replies, as in botocore's own clients."""
    return create_parser(protocol)


def _parsed_error(parsed: dict[str, Any]) -> tuple[str, str]:
    error = parsed.get("Error", {})
    return str(error.get("Code") or ""), str(error.get("Message") or "")


def _matches_operation(response: HttpResponse, operation: OperationModel, protocol: str, *, readable: bool) -> bool:
    """Whether a successful reply has the form of this operation's output. `readable`: nothing says that botocore cannot parse it."""
    if operation.has_event_stream_output:
        return response.header("content-type").startswith("application/vnd.amazon.eventstream")
    if operation.has_streaming_output:
        return True
    if response.body.strip() in (b"", b"null") and _returns_nothing(operation):
        return True
    if operation.name in _RESULT_ROOTS and protocol == "rest-xml":
        return _root_name(response.body) == _RESULT_ROOTS[operation.name]
    if not readable:
        return False
    match protocol:
        case "query":
            return _root_name(response.body) == f"{operation.name}Response"
        case "ec2":
            return _root_name(response.body) == f"{operation.name}Response" and not _is_false(response)
        case "rest-xml":
            return not response.body or _root_name(response.body).lower() not in ("", "html", "error", "errorresponse")
        case "json" | "rest-json":
            return not response.body or _is_blob(operation) or isinstance(json.loads(response.body), dict)
        case _:
            return protocol == CBOR and response.header("smithy-protocol") == "rpc-v2-cbor"


def _is_bare(operation: OperationModel, protocol: str, body: bytes) -> bool:
    """Whether the body can be nothing but a root with the operation's name, and with the request id in it."""
    return operation.output_shape is None and protocol in _ROOTED and body.startswith(b"<")


def _returns_nothing(operation: OperationModel) -> bool:
    """Whether a reply of the operation has no member in its body."""
    shape = operation.output_shape
    return shape is None or all("location" in member.serialization for member in shape.members.values())


def _is_false(response: HttpResponse) -> bool:
    """Whether an EC2 reply without any other output says `<return>false</return>`."""
    return any(
        element.tag.rpartition("}")[2] == "return" and (element.text or "").strip() == "false"
        for element in fromstring(response.body)  # noqa: S314  as above
    )


def _failure_member(operation: OperationModel, parsed: dict[str, Any]) -> str:
    """The member of a successful reply that names failures; empty if it names none."""
    service = operation.service_model.service_name
    named = _FAILURE_MEMBERS.get((service, operation.name))
    members = [name for name in parsed if name == named or (service == "ec2" and name.startswith("Unsuccessful"))]
    return next((name for name in members if parsed[name]), "")


def _is_blob(operation: OperationModel) -> bool:
    """Whether the whole body of the operation's reply is the bytes or text of one member."""
    shape = operation.output_shape
    payload = shape.serialization.get("payload") if shape is not None else None
    return payload is not None and shape.members[payload].type_name in ("blob", "string")


def _is_error_document(response: HttpResponse, protocol: str) -> bool:
    return protocol == "rest-xml" and b"<Error" in response.body and _root_name(response.body) == "Error"


def _parsed_error_document(response: HttpResponse) -> tuple[str, str]:
    document = fromstring(response.body.strip())  # noqa: S314  from AWS over TLS; current expat limits entity expansion
    return document.findtext("Code", ""), document.findtext("Message", "")


def _root_name(body: bytes) -> str:
    """Local name of an XML document's root element; empty if the body is not XML."""
    try:
        return fromstring(body.strip()).tag.rpartition("}")[2]  # noqa: S314  as above
    except ParseError:
        return ""


def _in_doubt(response: HttpResponse, operation: OperationModel, reason: str) -> InDoubt:
    return InDoubt(
        reason=f"{operation.name} was sent, and {reason}; status {response.status}. The change may have happened."
    )
