"""Serializes errors in the caller's own AWS protocol, so that every SDK raises its usual exception.

The formats are those of Smithy's pages on awsJson, restJson1, awsQuery, ec2Query, restXml and rpcv2Cbor, with the header
`x-amzn-query-error` for services that migrated from the query protocol. SDKs retry 429 and 5xx, so a refusal has such a status only if
nothing was sent and the client should try again.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import TypeAlias
from xml.sax.saxutils import escape

from gateway.aws.door.operation_router import FORM_TYPE, guess_protocol
from gateway.aws.door.request_head import is_form_upload, scope_of
from gateway.aws.models.routing_index import Protocol, Service, shipped
from gateway.core.model.inbound import Inbound

ErrorResponse: TypeAlias = tuple[int, list[tuple[str, str]], bytes]
"""Status, headers and body."""

MAX_MESSAGE = 4096
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_CODE = re.compile(r"[^A-Za-z0-9_.]")
_MODERN = frozenset({Protocol.JSON, Protocol.REST_JSON, Protocol.CBOR})
_MODERN_CODES = {
    "AccessDenied": "AccessDeniedException",
    "InvalidAction": "UnknownOperationException",
    "InvalidClientTokenId": "UnrecognizedClientException",
    "IncompleteSignature": "IncompleteSignatureException",
    "InvalidRequest": "ValidationException",
    "InvalidURI": "ValidationException",
    "MalformedQueryString": "ValidationException",
    "MissingAuthenticationToken": "MissingAuthenticationTokenException",
    "MissingParameter": "ValidationException",
    "NoSuchVersion": "UnknownOperationException",
    "SignatureDoesNotMatch": "InvalidSignatureException",
    "Throttling": "ThrottlingException",
    "ValidationError": "ValidationException",
}
_EC2_CODES = {
    "AccessDenied": "UnauthorizedOperation",
    "IncompleteSignature": "AuthFailure",
    "InvalidClientTokenId": "AuthFailure",
    "MalformedQueryString": "InvalidQueryParameter",
    "MissingAuthenticationToken": "AuthFailure",
    "SignatureDoesNotMatch": "AuthFailure",
    "Throttling": "RequestLimitExceeded",
    "ValidationError": "InvalidParameterValue",
}
_S3_CODES = {
    "Throttling": "SlowDown",
    "IncompleteSignature": "AuthorizationHeaderMalformed",
    "InvalidAction": "MethodNotAllowed",
    "InvalidClientTokenId": "InvalidAccessKeyId",
    "MissingAuthenticationToken": "AccessDenied",
    "MissingParameter": "InvalidRequest",
    "RequestEntityTooLargeException": "EntityTooLarge",
    "SerializationException": "MalformedXML",
    "ValidationError": "InvalidArgument",
}
_STATUS = {
    "AccessDenied": 403,
    "ConcurrentRequest": 409,
    "Conflict": 409,
    "ConflictException": 409,
    "IdempotentParameterMismatch": 400,
    "InternalFailure": 409,
    "InvalidClientTokenId": 403,
    "MethodNotAllowed": 405,
    "MissingContentLength": 411,
    "MissingAuthenticationToken": 403,
    "NotImplemented": 501,
    "OutcomeUnknown": 409,
    "RequestEntityTooLargeException": 413,
    "RequestHeaderSectionTooLarge": 431,
    "RequestTimeTooSkewed": 403,
    "RequestUriTooLong": 414,
    "ServiceUnavailable": 503,
    "SignatureDoesNotMatch": 403,
    "Throttling": 429,
    "ThrottlingException": 400,
    "UnsupportedMediaTypeException": 415,
    "XAmzContentSHA256Mismatch": 400,
}


_UNAVAILABLE = frozenset({"RequestLimitExceeded", "SlowDown"})
"""Codes by which EC2 and S3 ask a client to slow down; they have the status 503."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorFormat:
    """The format of an error response."""

    protocol: Protocol
    s3: bool = False
    json_version: str = "1.0"
    query_compatible: bool = False
    head: bool = False
    """Whether the request was a HEAD, whose response has no body."""


def error_response(
    inbound: Inbound,
    *,
    code: str,
    message: str,
    status: int,
    request_id: str,
    service: str | None = None,
    now: datetime | None = None,
) -> ErrorResponse:
    """An error response as AWS would send it, in the protocol of the request.

    `code` is the error code of the query protocol (`errors.Malformed.aws_code` …); the response has the equivalent code of the request's
    protocol. `message` is cut to `MAX_MESSAGE` characters, without control characters. `service` is botocore's name if the request was
    routed, otherwise it is guessed from the credential scope. `now` is sent as `Date`, from which SDKs correct their clock.
    """
    error_format = error_format_of(inbound, service)
    own_code = protocol_code(_CODE.sub("", code)[:128], error_format)
    if own_code in _UNAVAILABLE:
        status = 503
    body, headers = _body_and_headers(error_format, own_code, clean(message), request_id)
    if error_format.head:
        body = b""
    date = format_datetime((now or datetime.now(UTC)).astimezone(UTC), usegmt=True)
    headers += [("date", date), ("content-length", str(len(body)))]
    return status, headers, body


def access_denied(inbound: Inbound, *, message: str, request_id: str, service: str | None = None) -> ErrorResponse:
    """A refusal (403) with the protocol's own code for it."""
    return error_response(
        inbound, code="AccessDenied", message=message, status=403, request_id=request_id, service=service
    )


def status_of(code: str) -> int:
    """The HTTP status for an error code of the query protocol; 400 for every code outside the table."""
    return _STATUS.get(code, 400)


def error_format_of(inbound: Inbound, service: str | None = None) -> ErrorFormat:
    """The format of an error response to this request. Works for any request, also one that is malformed or not authenticated."""
    routes = shipped()
    guessed, protocol = guess_protocol(inbound, routes)
    known = routes.services.get(service or ("s3" if _is_form_upload(inbound) else "")) or guessed
    if known is not None and protocol not in known.protocols and not _names_protocol(inbound):
        protocol = known.protocols[0]
    return _format(known, protocol, head=inbound.method == "HEAD")


def protocol_code(code: str, error_format: ErrorFormat) -> str:
    """The protocol's own code for an error code of the query protocol."""
    if error_format.s3:
        return _S3_CODES.get(code, code)
    if error_format.protocol is Protocol.EC2:
        return _EC2_CODES.get(code, code)
    return _MODERN_CODES.get(code, code) if error_format.protocol in _MODERN else code


def clean(message: str) -> str:
    """The message in a form that every format can contain: no control characters, no surrogates, at most `MAX_MESSAGE` characters."""
    text = _CONTROL.sub(" ", message)
    return text if len(text) <= MAX_MESSAGE else text[: MAX_MESSAGE - 1] + "…"


def _format(service: Service | None, protocol: Protocol, *, head: bool) -> ErrorFormat:
    if service is None:
        return ErrorFormat(protocol=protocol, head=head)
    return ErrorFormat(
        protocol=protocol,
        s3=service.name == "s3",
        json_version=service.json_version,
        query_compatible=service.query_compatible,
        head=head,
    )


def _is_form_upload(inbound: Inbound) -> bool:
    """Whether the request is a browser form for a bucket: its proof is in its body, so that its head names no service."""
    content = inbound.header("content-type") or ""
    return is_form_upload(inbound.method, content, inbound.path, inbound.bucket) and scope_of(inbound) is None


def _names_protocol(inbound: Inbound) -> bool:
    """Whether the request shows its protocol itself; a form does, also where this service's form protocol is not spoken here (SQS)."""
    return (
        inbound.header("smithy-protocol") is not None
        or inbound.header("x-amz-target") is not None
        or (inbound.header("content-type") or "").startswith(FORM_TYPE)
        or "Action=" in inbound.query
    )


def _body_and_headers(
    error_format: ErrorFormat, code: str, message: str, request_id: str
) -> tuple[bytes, list[tuple[str, str]]]:
    headers = [("x-amz-request-id" if error_format.s3 else "x-amzn-requestid", request_id)]
    if error_format.query_compatible and error_format.protocol in _MODERN:
        headers.append(("x-amzn-query-error", f"{code};Sender"))
    match error_format.protocol:
        case Protocol.JSON:
            headers += [
                ("content-type", f"application/x-amz-json-{error_format.json_version}"),
                ("x-amzn-errortype", code),
            ]
            return _json({"__type": code, "message": message}), headers
        case Protocol.REST_JSON:
            headers += [("content-type", "application/json"), ("x-amzn-errortype", code)]
            # Most services' models name the member `message`, some `Message`; clients read the one in their model.
            return _json({"__type": code, "message": message, "Message": message}), headers
        case Protocol.CBOR:
            headers += [("content-type", "application/cbor"), ("smithy-protocol", "rpc-v2-cbor")]
            return b"\xa2" + b"".join(map(_cbor_text, ("__type", code, "message", message))), headers
        case Protocol.EC2 | Protocol.QUERY | Protocol.REST_XML:
            headers.append(("content-type", "application/xml" if error_format.s3 else "text/xml"))
            return _xml(error_format, escape(code), escape(message), escape(request_id)), headers


def _json(document: Mapping[str, str]) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode()


def _xml(error_format: ErrorFormat, code: str, message: str, request_id: str) -> bytes:
    error = f"<Code>{code}</Code><Message>{message}</Message>"
    if error_format.s3:
        text = f"<Error>{error}<RequestId>{request_id}</RequestId><HostId>sentinel</HostId></Error>"
    elif error_format.protocol is Protocol.EC2:
        text = f"<Response><Errors><Error>{error}</Error></Errors><RequestID>{request_id}</RequestID></Response>"
    else:
        text = f"<ErrorResponse><Error><Type>Sender</Type>{error}</Error><RequestId>{request_id}</RequestId></ErrorResponse>"
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}'.encode()


def _cbor_text(text: str) -> bytes:
    """A CBOR text string (RFC 8949, major type 3) of at most 64 KB."""
    data = text.encode()
    length = len(data)
    if length < 24:  # noqa: PLR2004  the lengths that fit into the first byte
        return bytes([0x60 | length]) + data
    if length <= 0xFF:  # noqa: PLR2004  one byte of length
        return bytes([0x78, length]) + data
    return b"\x79" + length.to_bytes(2, "big") + data
