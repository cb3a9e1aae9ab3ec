"""Parses a routed request into the parameters that botocore's serializer accepts: the inverse of `botocore.serialize`, for all six protocols."""

from collections.abc import Mapping
from typing import Any

from gateway.doors.aws.operation_router import Routed
from gateway.doors.aws.protocols import document, form, rest
from gateway.doors.aws.request_head import RequestHead
from gateway.doors.aws.routing_index import Protocol
from gateway.doors.aws.strict_parsers import cbor_value, json_value
from gateway.service_models import Shape


def parse(
    routed: Routed, shape: Shape | None, head: RequestHead, body: bytes, fields: Mapping[str, str] | None
) -> dict[str, Any]:
    """The parameters of the operation whose input shape is `shape`. `fields` are those of the form, for the two form protocols.

    Raises `errors.Malformed` for an ambiguous body, and for a parameter that is unknown, missing, of the wrong type or out of range.
    """
    match routed.protocol:
        case Protocol.EC2 | Protocol.QUERY:
            return form.parse(shape, fields or {}, ec2=routed.protocol is Protocol.EC2)
        case Protocol.JSON:
            return document.parse(shape, json_value(body or b"{}"))
        case Protocol.CBOR:
            return document.parse(shape, cbor_value(body) if body else {})
        case Protocol.REST_JSON | Protocol.REST_XML:
            is_json = routed.protocol is Protocol.REST_JSON
            return rest.parse(shape, head, routed.labels, routed.literals, body, is_json=is_json)
