"""Errors in the caller's own protocol: what each SDK's error parser wants, so that a refusal arrives as its usual exception.

Shapes: Smithy's pages on awsJson, restJson1, awsQuery, ec2Query, restXml and rpcv2Cbor; the header `x-amzn-query-error` for services
that moved away from the query protocol. A refusal is never 429 or 5xx but where nothing was sent and `try again` is meant: SDKs retry those.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import TypeAlias
from xml.sax.saxutils import escape

from gateway.doors.aws.operation_router import likely
from gateway.doors.aws.routing_index import Protocol, Service, shipped
from gateway.model.inbound import Inbound

Answer: TypeAlias = tuple[int, list[tuple[str, str]], bytes]
"""Status, headers and body."""

MAX_MESSAGE = 4096
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_CODE = re.compile(r"[^A-Za-z0-9_.]")
_MODERN = frozenset({Protocol.JSON, Protocol.REST_JSON, Protocol.CBOR})
_MODERN_NAMES = {
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
    "ValidationError": "ValidationException",
}
_EC2_NAMES = {
    "AccessDenied": "UnauthorizedOperation",
    "IncompleteSignature": "AuthFailure",
    "InvalidClientTokenId": "AuthFailure",
    "MalformedQueryString": "InvalidQueryParameter",
    "MissingAuthenticationToken": "AuthFailure",
    "SignatureDoesNotMatch": "AuthFailure",
    "ValidationError": "InvalidParameterValue",
}
_S3_NAMES = {
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
    "MissingAuthenticationToken": 403,
    "OutcomeUnknown": 409,
    "RequestEntityTooLargeException": 413,
    "RequestHeaderSectionTooLarge": 431,
    "RequestTimeTooSkewed": 403,
    "RequestUriTooLong": 414,
    "ServiceUnavailable": 503,
    "SignatureDoesNotMatch": 403,
    "UnsupportedMediaTypeException": 415,
    "XAmzContentSHA256Mismatch": 400,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorFormat:
    """What form an error must take."""

    protocol: Protocol
    s3: bool = False
    json_version: str = "1.0"
    query_compatible: bool = False
    head: bool = False
    """Whether the request was a HEAD, whose answer has no body."""


def refusal(
    inbound: Inbound,
    *,
    code: str,
    message: str,
    status: int,
    request_id: str,
    service: str | None = None,
    now: datetime | None = None,
) -> Answer:
    """An error as AWS would send it, in the protocol of the request.

    `code` is AWS's name in the spelling of the query protocol (`errors.Malformed.aws_code` …) and is sent as the request's own protocol
    spells it. `message` is cut at `MAX_MESSAGE` characters and cleaned of control characters. `service` is botocore's name where the
    request was routed, else it is guessed from the credential scope. `now` goes into `Date`, from which SDKs set their clock.
    """
    dress = error_format_of(inbound, service)
    body, headers = _written(dress, spelled(_CODE.sub("", code)[:128], dress), clean(message), request_id)
    if dress.head:
        body = b""
    moment = (now or datetime.now(UTC)).astimezone(UTC)
    headers += [("date", format_datetime(moment, usegmt=True)), ("content-length", str(len(body)))]
    return status, headers, body


def access_denied(inbound: Inbound, *, message: str, request_id: str, service: str | None = None) -> Answer:
    """A refusal (403) with the code that the protocol has for it."""
    return refusal(inbound, code="AccessDenied", message=message, status=403, request_id=request_id, service=service)


def status_of(code: str) -> int:
    """The HTTP status that goes with an AWS error name in the spelling of the query protocol; 400 for all that have none of their own."""
    return _STATUS.get(code, 400)


def error_format_of(inbound: Inbound, service: str | None = None) -> ErrorFormat:
    """What form an error to this request must take; lenient, because errors are also due to requests that say nothing true."""
    routes = shipped()
    guessed, protocol = likely(inbound, routes)
    known = routes.services.get(service or "") or guessed
    if known is not None and protocol not in known.protocols and not _marked(inbound):
        protocol = known.protocols[0]
    return _dress(known, protocol, head=inbound.method == "HEAD")


def spelled(name: str, dress: ErrorFormat) -> str:
    """The same error as this protocol spells it."""
    if dress.s3:
        return _S3_NAMES.get(name, name)
    if dress.protocol is Protocol.EC2:
        return _EC2_NAMES.get(name, name)
    return _MODERN_NAMES.get(name, name) if dress.protocol in _MODERN else name


def clean(message: str) -> str:
    """A message that every format can hold: no control characters, no surrogates, at most `MAX_MESSAGE` characters."""
    text = _CONTROL.sub(" ", message)
    return text if len(text) <= MAX_MESSAGE else text[: MAX_MESSAGE - 1] + "…"


def _dress(service: Service | None, protocol: Protocol, *, head: bool) -> ErrorFormat:
    if service is None:
        return ErrorFormat(protocol=protocol, head=head)
    return ErrorFormat(
        protocol=protocol,
        s3=service.name == "s3",
        json_version=service.json_version,
        query_compatible=service.query_compatible,
        head=head,
    )


def _marked(inbound: Inbound) -> bool:
    return inbound.header("smithy-protocol") is not None or inbound.header("x-amz-target") is not None


def _written(dress: ErrorFormat, code: str, message: str, request_id: str) -> tuple[bytes, list[tuple[str, str]]]:
    headers = [("x-amz-request-id" if dress.s3 else "x-amzn-requestid", request_id)]
    if dress.query_compatible and dress.protocol in _MODERN:
        headers.append(("x-amzn-query-error", f"{code};Sender"))
    match dress.protocol:
        case Protocol.JSON:
            headers += [("content-type", f"application/x-amz-json-{dress.json_version}"), ("x-amzn-errortype", code)]
            return _json({"__type": code, "message": message}), headers
        case Protocol.REST_JSON:
            headers += [("content-type", "application/json"), ("x-amzn-errortype", code)]
            # The model of most services calls the member `message`, of some `Message`; clients read either.
            return _json({"__type": code, "message": message, "Message": message}), headers
        case Protocol.CBOR:
            headers += [("content-type", "application/cbor"), ("smithy-protocol", "rpc-v2-cbor")]
            return b"\xa2" + b"".join(map(_cbor_text, ("__type", code, "message", message))), headers
        case Protocol.EC2 | Protocol.QUERY | Protocol.REST_XML:
            headers.append(("content-type", "application/xml" if dress.s3 else "text/xml"))
            return _xml(dress, escape(code), escape(message), escape(request_id)), headers


def _json(document: Mapping[str, str]) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode()


def _xml(dress: ErrorFormat, code: str, message: str, request_id: str) -> bytes:
    said = f"<Code>{code}</Code><Message>{message}</Message>"
    if dress.s3:
        text = f"<Error>{said}<RequestId>{request_id}</RequestId><HostId>sentinel</HostId></Error>"
    elif dress.protocol is Protocol.EC2:
        text = f"<Response><Errors><Error>{said}</Error></Errors><RequestID>{request_id}</RequestID></Response>"
    else:
        text = f"<ErrorResponse><Error><Type>Sender</Type>{said}</Error><RequestId>{request_id}</RequestId></ErrorResponse>"
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
