"""From a routed request to parameters as botocore's serializer takes them: the reverse of `botocore.serialize`, all six protocols."""

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
    """The parameters. `fields` are the form's, for the two form protocols.

    Raises `errors.Malformed` for a body that has more than one reading, and for what does not fit the operation's input shape:
    unknown, missing, of the wrong type or out of range.
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
