"""Serializes a parsed call into an AWS request with botocore's serializers. The client's own bytes are never used.

botocore clients also run "handlers" before serializing. Their conveniences (base64 of user data, default account ids) must not run here:
the client already ran them, and a parsed call contains the result. The few that AWS needs are repeated below, each with its reason.
"""

import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, Final
from urllib.parse import quote, urlencode

from botocore.awsrequest import prepare_request_dict
from botocore.exceptions import BotoCoreError
from botocore.httpchecksum import apply_request_checksum, resolve_request_checksum_algorithm
from botocore.model import OperationModel
from botocore.serialize import create_serializer

from gateway.aws.client.endpoints import Endpoint
from gateway.core.errors import NotSendable
from gateway.core.model.mutation import Call
from gateway.core.quick_init import quick_init

CBOR = "smithy-rpc-v2-cbor"
_TOKENS = uuid.UUID("5f0e6c1a-6d0b-5a53-9d6e-3c1f1f0f7a11")
_CHECKSUMS = SimpleNamespace(request_checksum_calculation="when_required", signature_version="s3")
"""The client configuration that botocore's checksum functions read: only required checksums, in a header rather than a trailer."""
_AMBIGUOUS = re.compile(r"/(?:\.|%2e){1,2}(?:/|$)|//", re.IGNORECASE)
_ROUTE53_IDS = frozenset({"ResourceId", "DelegationSetId", "ChangeId"})


@quick_init
@dataclass(frozen=True, slots=True, kw_only=True)
class UnsignedRequest:
    """A serialized request before it is signed."""

    method: str
    target: str
    """Path and query as sent on the wire."""
    headers: tuple[tuple[str, str], ...]
    """Names lower-case; without host, date and authorization, which signing adds, and content-length, which the HTTP client adds."""
    body: bytes


def protocol_of(call: Call, operation: OperationModel) -> str:
    """The protocol to send a call in: the caller's own, otherwise the service's first one other than CBOR. Raises `errors.NotSendable`."""
    metadata = operation.service_model.metadata
    supported: list[str] = metadata.get("protocols") or [metadata["protocol"]]
    if not call.protocol:
        return next((name for name in supported if name != CBOR), supported[0])
    if call.protocol not in supported:
        raise NotSendable(
            f"AWS {call.service} does not speak {call.protocol[:40]!r} but {', '.join(supported)}; nothing was sent."
        )
    return call.protocol


def idempotency_tokens(operation: OperationModel, mutation_id: str) -> dict[str, str]:
    """A token for each member that the model marks as an idempotency token. The same mutation always gets the same tokens (UUIDs, which
    every service accepts).
    """
    return {
        name: str(uuid.uuid5(_TOKENS, f"{mutation_id}/{operation.service_model.service_name}/{operation.name}/{name}"))
        for name in operation.idempotent_members
    }


def serialize(
    call: Call, operation: OperationModel, endpoint: Endpoint, *, mutation_id: str, streamed: bool = False
) -> UnsignedRequest:
    """The request for a call. Missing idempotency tokens are filled in. `streamed`: the body is not here, so nothing is calculated from it.

    Raises `errors.NotSendable` for parameters that the model does not allow.
    """
    parameters = idempotency_tokens(operation, mutation_id) | dict(call.parameters)
    _shorten_route53_ids(operation, parameters)
    _require_labels(operation, parameters)
    request = _request(call, operation, parameters)
    request.pop("host_prefix", None)  # the endpoint's host already contains it
    if call.service == "s3":
        request["url_path"] = _without_bucket(request["url_path"], operation, parameters, endpoint)
    try:
        prepare_request_dict(
            request, endpoint_url=endpoint.origin + endpoint.path, context={"client_config": _CHECKSUMS}
        )
        if not streamed:
            resolve_request_checksum_algorithm(request, operation, parameters)
            apply_request_checksum(request)
        url, body = str(request["url"]), _body(request["body"])
    except (BotoCoreError, ValueError, TypeError) as error:
        raise NotSendable(
            f"{call.service} {call.operation} cannot be turned into a request: {error}. Nothing was sent."
        ) from error
    target = url.removeprefix(endpoint.origin)
    path = target.partition("?")[0]
    if not endpoint.literal and _AMBIGUOUS.search(path):
        raise NotSendable(
            f"A name in {call.service} {call.operation} makes the path {path[:100]!r}, which AWS would read as another one; nothing was sent."
        )
    headers = {name.lower(): _text(value) for name, value in request["headers"].items()}
    headers.pop("content-length", None)
    for name, value in headers.items():
        if not (value.isascii() and value.isprintable()):
            # botocore refuses them too: S3 stores header values as ASCII, and a line break would let the caller add a header.
            raise NotSendable(
                f"{call.service} {call.operation} puts a value that is not printable ASCII into the header {name[:60]}; nothing was sent."
            )
    if call.service == "apigateway":
        headers["accept"] = (
            "application/json"  # otherwise API Gateway answers in HAL (botocore.handlers.add_accept_header)
        )
    return UnsignedRequest(
        method=request["method"],
        target=target or "/",
        headers=tuple(sorted(headers.items())),
        body=body,
    )


def _request(call: Call, operation: OperationModel, parameters: dict[str, Any]) -> dict[str, Any]:
    try:
        request: dict[str, Any] = _serializer(protocol_of(call, operation)).serialize_to_request(parameters, operation)
    except (BotoCoreError, ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
        reason = " ".join(str(error).split())[:500]
        raise NotSendable(
            f"The parameters do not fit {call.service} {call.operation}: {reason}. Nothing was sent."
        ) from error
    return request


@lru_cache(None)
def _serializer(protocol: str) -> Any:
    """Botocore's serializer of a protocol, which also validates. Shared by all calls, as in botocore's own clients."""
    return create_serializer(protocol)


def _require_labels(operation: OperationModel, parameters: dict[str, Any]) -> None:
    """Refuse an empty path parameter: PutObject with an empty bucket would be sent as CreateBucket, another operation than was checked."""
    shape = operation.input_shape
    members = shape.members.items() if shape is not None else ()
    for name, member in members:
        if member.serialization.get("location") != "uri":
            continue
        value = str(parameters.get(name, ""))
        if value in ("", ".", "..") or (name == "Bucket" and "/" in value and not value.startswith("arn:")):
            raise NotSendable(
                f"{operation.name} cannot be sent with {parameters.get(name)!r} as {name}; nothing was sent."
            )


def _without_bucket(path: str, operation: OperationModel, parameters: dict[str, Any], endpoint: Endpoint) -> str:
    """The path, without the bucket if the endpoint's host or path already contains it (botocore edits its model instead)."""
    bucket = parameters.get("Bucket")
    in_path = operation.http.get("requestUri", "").startswith("/{Bucket}") and isinstance(bucket, str)
    if not in_path or not endpoint.has_bucket:
        return path
    rest = path.removeprefix("/" + quote(str(bucket), safe="-._~"))
    return rest if rest.startswith("/") else "/" + rest


def _shorten_route53_ids(operation: OperationModel, parameters: dict[str, Any]) -> None:
    """Shorten ids such as `/hostedzone/Z1` in place: Route 53 returns that form and accepts only `Z1` (botocore.handlers does the same)."""
    if operation.service_model.service_name != "route53" or operation.input_shape is None:
        return
    for name, shape in operation.input_shape.members.items():
        if shape.name in _ROUTE53_IDS and isinstance(parameters.get(name), str):
            parameters[name] = parameters[name].rpartition("/")[2]


def _text(value: object) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


_PLAIN: Final = re.compile(r"[A-Za-z0-9_.~-]*")
"""Texts that a form has as they are, as most names and values are: to ask `urlencode` about each takes five steps of Python."""
_WRITTEN_ALIKE: Final = frozenset({str, int})


def _form(members: Mapping[str, Any]) -> bytes:
    """The members as an HTML form, as `urlencode` writes it."""
    texts = (*members, *members.values())
    if _WRITTEN_ALIKE.issuperset(map(type, texts)) and _PLAIN.fullmatch("".join(map(str, texts))):
        return "&".join([f"{name}={value}" for name, value in members.items()]).encode()
    return urlencode(members, doseq=True).encode()


def _body(body: Any) -> bytes:
    """The serialized body as bytes; parameters of the query protocols in the form of HTML forms, as `botocore.awsrequest` writes them."""
    match body:
        case None:
            return b""
        case dict():
            return _form(body)
        case str():
            return body.encode()
        case bytes() | bytearray():
            return bytes(body)
        case _:
            return bytes(body.read())
