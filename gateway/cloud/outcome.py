"""What a reply proves about the change: that AWS did it, that AWS refused it, or nothing.

botocore alone takes a captive portal's HTML page for success (reliability.md F2), so success needs a 2xx status, an AWS request id and a
body of the operation's own form that botocore's parser reads. Whatever is neither that nor a definite refusal leaves the change in doubt.
"""

import json
from functools import lru_cache
from typing import Any
from xml.etree.ElementTree import ParseError, fromstring

from botocore.awsrequest import HeadersDict
from botocore.exceptions import BotoCoreError
from botocore.model import OperationModel
from botocore.parsers import ResponseParserError, create_parser

from gateway.cloud.http_client import HttpResponse
from gateway.cloud.serialize import CBOR
from gateway.model.outcome import Applied, Failed, InDoubt, Reply, Sent

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
"""Codes by which AWS turns a request away before it acts, whatever the status (`botocore.retries.standard.ThrottledRetryableChecker`).

`ServiceUnavailable` is not among them: AWS's common errors call it "a temporary failure of the server", which may come after the act.
"""
_MOVED = frozenset({"PermanentRedirect", "Redirect", "TemporaryRedirect"})
"""S3 refuses with these, status 301 or 307, what belongs to another region ("Error responses", S3 API Reference)."""
_REQUEST_ID_HEADERS = ("x-amzn-requestid", "x-amz-request-id", "x-amzn-request-id")
_MAX_MESSAGE = 2000


def outcome_of(answer: HttpResponse, operation: OperationModel, protocol: str) -> Sent:
    """Applied, failed or in doubt. Never raises."""
    try:
        return _judged(answer, operation, protocol)
    except Exception as error:  # noqa: BLE001  whatever a reply does to a parser, the change was sent and must be settled
        return _doubt(answer, operation, f"the reply could not be read ({type(error).__name__})")


def _judged(answer: HttpResponse, operation: OperationModel, protocol: str) -> Sent:
    parsed = _parsed(answer, operation, protocol)
    request_id = _request_id(answer, parsed)
    reply = Reply(status=answer.status, headers=answer.headers, body=answer.body)
    if not request_id:
        return _doubt(answer, operation, "the reply bears no AWS request id")
    success = 200 <= answer.status < 300  # noqa: PLR2004  RFC 9110 section 15.3
    if success and not _is_error_document(answer, protocol):
        if not _has_form(answer, operation, protocol, parsed):
            return _doubt(answer, operation, "the reply does not have the form of this operation's")
        return Applied(reply=reply, request_id=request_id)
    # S3 answers 200 with an error inside where it fails after it began to answer ("CopyObject", S3 API Reference).
    code, message = _error(answer) if success else _parsed_error(parsed)
    refused = 400 <= answer.status < 500 or (300 <= answer.status < 400 and code in _MOVED)  # noqa: PLR2004  RFC 9110 section 15
    if code and not code.isdigit() and (refused or code in THROTTLED):
        return Failed(code=code, message=message[:_MAX_MESSAGE], reply=reply, request_id=request_id)
    return _doubt(
        answer, operation, f"AWS answered with {code or 'an error'} (status {answer.status}, request {request_id})"
    )


def _parsed(answer: HttpResponse, operation: OperationModel, protocol: str) -> dict[str, Any]:
    """The reply as botocore reads it, empty where it cannot."""
    if operation.has_event_stream_output and answer.status < 300:  # noqa: PLR2004  a stream of events is not parsed whole
        return {}
    response = {
        "headers": HeadersDict(dict(answer.headers)),
        "status_code": answer.status,
        "body": answer.body,
    }
    try:
        parsed: dict[str, Any] = _parser(protocol).parse(response, operation.output_shape)
    except (ResponseParserError, BotoCoreError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}
    return parsed


@lru_cache(None)
def _parser(protocol: str) -> Any:
    """Botocore's parser of a protocol: one serves all, as in botocore's own clients."""
    return create_parser(protocol)


def _request_id(answer: HttpResponse, parsed: dict[str, Any]) -> str:
    in_header = next((value for name in _REQUEST_ID_HEADERS if (value := answer.header(name))), "")
    return in_header or str(parsed.get("ResponseMetadata", {}).get("RequestId") or "")


def _parsed_error(parsed: dict[str, Any]) -> tuple[str, str]:
    error = parsed.get("Error", {})
    return str(error.get("Code") or ""), str(error.get("Message") or "")


def _has_form(answer: HttpResponse, operation: OperationModel, protocol: str, parsed: dict[str, Any]) -> bool:
    """Whether a successful body is of the operation's own form. `parsed` is what botocore read in it."""
    if operation.has_event_stream_output:
        return answer.header("content-type").startswith("application/vnd.amazon.eventstream")
    if operation.has_streaming_output:
        return True
    if not parsed:
        return False
    match protocol:
        case "query" | "ec2":
            return _root(answer.body) == f"{operation.name}Response"
        case "rest-xml":
            return not answer.body or _root(answer.body).lower() not in ("", "html", "error", "errorresponse")
        case "json" | "rest-json":
            return not answer.body or _is_blob(operation) or isinstance(json.loads(answer.body), dict)
        case _:
            return protocol == CBOR and answer.header("smithy-protocol") == "rpc-v2-cbor"


def _is_blob(operation: OperationModel) -> bool:
    """Whether the whole body of a reply is one member's bytes or text."""
    shape = operation.output_shape
    payload = shape.serialization.get("payload") if shape is not None else None
    return payload is not None and shape.members[payload].type_name in ("blob", "string")


def _is_error_document(answer: HttpResponse, protocol: str) -> bool:
    return protocol == "rest-xml" and answer.body[:512].find(b"<Error>") >= 0 and _root(answer.body) == "Error"


def _error(answer: HttpResponse) -> tuple[str, str]:
    document = fromstring(answer.body)  # noqa: S314  from AWS over TLS; expat of today limits entity growth
    return document.findtext("Code", ""), document.findtext("Message", "")


def _root(body: bytes) -> str:
    """Local name of an XML document's root, empty where it is none."""
    try:
        return fromstring(body).tag.rpartition("}")[2]  # noqa: S314  as above
    except ParseError:
        return ""


def _doubt(answer: HttpResponse, operation: OperationModel, reason: str) -> InDoubt:
    return InDoubt(
        reason=f"{operation.name} was sent, and {reason}; status {answer.status}. The change may have happened."
    )
