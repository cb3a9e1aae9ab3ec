"""The AWS door's `ports.RequestDecoder`: checks the head, routes and classifies the operation, and parses a mutation's body in full."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

from gateway.aws.door.advice import unsigned_payload_advice
from gateway.aws.door.operation_router import OperationRouter, Routed
from gateway.aws.door.protocols import document, rest
from gateway.aws.door.protocols import form as form_fields
from gateway.aws.door.request_head import OBJECT_BODIES, S3, RequestHead, head_of, upload_head, without_chunked_encoding
from gateway.aws.door.urls import aws_queue_url
from gateway.aws.models import call_classes, routing_index
from gateway.aws.models.call_classes import class_of_call
from gateway.aws.models.routing_index import Protocol, RoutingIndex, Service
from gateway.core.errors import Malformed, SentinelError
from gateway.core.http.motive_syntax import INTENT_HEADER, MOTIVATION_HEADER, read_motive
from gateway.core.http.strict_parsers import cbor_value, form, gunzipped, json_value, unique
from gateway.core.model.caller import UNKNOWN, Caller, Sender, account_of, sender_of
from gateway.core.model.inbound import Inbound
from gateway.core.model.motive import Motive
from gateway.core.model.mutation import Call, CallClass
from gateway.core.model.signature import PayloadKind
from gateway.core.off_loop import SMALL, off_loop
from gateway.core.partitions import region_refused
from gateway.core.ports import Request
from gateway.core.quick_init import maker
from gateway.core.service_models import ServiceModels, Shape
from gateway.identity import aws_chunked

_INVOCATION = "amz-sdk-invocation-id"
MAX_UNVERIFIED_BYTES = 16 * 1024 * 1024
"""Largest body of a read that must be read to verify the signature: no AWS API in JSON accepts more."""
_REMEMBERED = 4096
"""Operations whose class is remembered."""
_MAX_KEY_LENGTH = 255
_made = maker(Request)
_BYTES_OF_A_FIELD = 64
"""Size that a form field counts as, to decide whether a form is parsed in a thread."""
_CHARSETS = frozenset({"", "utf-8", "utf8", '"utf-8"'})


class AwsDecoder:
    """Decodes AWS requests. Created once; keeps the routing index, the table of classes and the recently used models in memory."""

    def __init__(
        self,
        *,
        account: str,
        regions: tuple[str, ...],
        max_body_bytes: int,
        max_upload_bytes: int = 0,
        index: RoutingIndex | None = None,
        classes: call_classes.CallClassTable | None = None,
        models: ServiceModels | None = None,
        accounts: Mapping[str, str] | None = None,
        looks_at: Callable[[str, str], bool] = lambda _service, _operation: False,
    ) -> None:
        """`accounts` are those that the calls of assumed roles go to, by role; every other call goes to `account`. `looks_at` says of which reads the line looks at the parameters; those of others are not parsed."""
        self._looks_at = looks_at
        self._account = account
        self._accounts = accounts or {}
        self._regions = frozenset(regions)
        self._max_body = max_body_bytes
        self._max_upload = max(max_body_bytes, max_upload_bytes)
        self._classes = classes or call_classes.shipped()
        self._class_of = lru_cache(_REMEMBERED)(self._classes.of)
        self._router = OperationRouter(index or routing_index.shipped(), self._classes)
        self._models = models or ServiceModels()

    async def read(self, inbound: Inbound, caller: Caller) -> Request:
        """The decoded request. Its parameters are empty for calls that are streamed, unless the endpoint's host depends on one of them.

        Raises `errors.Malformed`, `errors.UnknownOperation`, `errors.BodyTooLarge`.
        """
        head = head_of(inbound)
        self.check_region(head.scope.region)
        fields: Mapping[str, str] | None = None
        routed = self._router.by_target(head)
        if routed is None:
            routed, fields = await self._routed(inbound, head, self._router.candidates(head))
        call_class = self._class_of(routed.service.name, routed.operation)
        parameters: Mapping[str, Any] = {}
        if call_class.changes_state:
            _check_payload(inbound, head)
            parameters = await self._parameters(inbound, head, routed, fields)
        elif routed.operation in routed.service.labelled_hosts or self._looks_at(routed.service.name, routed.operation):
            if not head.payload.binds and await inbound.read_body():
                _check_payload(inbound, head)
            parameters = await self._parameters(inbound, head, routed, fields)
        call = self._call(head, routed, parameters, caller)
        if call_class is CallClass.EXECUTE:
            call_class = class_of_call(call, call_class)
        return _request(head, call, call_class, caller, sender_of(inbound))

    def uploads_object(self, inbound: Inbound) -> bool:
        """Whether the request uploads the body of an S3 object, told by its head alone. Such a body is streamed, not parsed."""
        if inbound.method != "PUT":
            return False
        try:
            head = head_of(inbound)
            if head.scope.signing != S3 or head.payload is PayloadKind.BODY:
                return False
            routed = self._router.route(head, self._router.candidates(head), None)
        except SentinelError:
            return False
        return routed.service.name == S3 and routed.operation in OBJECT_BODIES

    async def read_upload(self, inbound: Inbound, caller: Caller) -> Request:
        """The upload of an object, decoded from its head; `Body` holds what the head says about the body.

        Raises `errors.Malformed`, `errors.UnknownOperation`.
        """
        head = head_of(inbound)
        self.check_region(head.scope.region)
        routed = self._router.route(head, self._router.candidates(head), None)
        return await self.upload_request(upload_head(head), routed, caller)

    async def upload_request(self, head: RequestHead, routed: Routed, caller: Caller) -> Request:
        """The upload that a head states, whose `content-length` is the length of the object. Raises `errors.Malformed`."""
        shape = await self._models.input_of(routed.service.name, routed.operation)
        parameters = parse(routed, shape, head, b"", None)
        stated = head.headers["x-amz-content-sha256"] if head.payload is PayloadKind.HASH else None
        parameters.pop("ContentLength", None)
        parameters["Body"] = {"bytes": int(head.headers["content-length"]), "sha256": stated}
        call_class = self._classes.of(routed.service.name, routed.operation)
        return _request(head, self._call(head, routed, parameters, caller), call_class, caller)

    def _call(self, head: RequestHead, routed: Routed, parameters: Mapping[str, Any], caller: Caller) -> Call:
        service, operation, protocol = routed.service.name, routed.operation, routed.protocol._value_
        account = self._account if caller.assumed is None else account_of(caller, self._account, self._accounts)
        if not parameters:
            return _bare_call(service, operation, account, head.scope.region, protocol)
        return Call(
            service=service,
            operation=operation,
            parameters=parameters,
            account=account,
            region=head.scope.region,
            protocol=protocol,
            # The service's model is loaded: the parameters were parsed by it.
            tokens=self._models.idempotency_tokens(service, operation),
        )

    async def limit_of_large(self, inbound: Inbound) -> int:
        """The largest body of this request, decided by its head alone: more than the usual for a read, and for an upload of one blob.

        A body whose hash only the signature knows is read before the signature is verified, so its limit is lower.
        """
        try:
            head = head_of(inbound)
            candidates = self._router.candidates(head)
            if self._router.needs_form(head):
                return self._max_body
            routed = self._router.route(head, candidates, None)
            if self._classes.of(routed.service.name, routed.operation).changes_state:
                return self._max_upload if await self._is_upload(routed, head) else self._max_body
        except SentinelError:
            return self._max_body
        unverified = head.payload is PayloadKind.BODY
        return min(self._max_upload, MAX_UNVERIFIED_BYTES) if unverified else self._max_upload

    async def _is_upload(self, routed: Routed, head: RequestHead) -> bool:
        shape = await self._models.input_of(routed.service.name, routed.operation)
        payload = shape.serialization.get("payload") if shape is not None else None
        is_blob = shape is not None and payload is not None and shape.members[payload].type_name == "blob"
        return is_blob and head.payload is not PayloadKind.BODY

    async def _routed(
        self, inbound: Inbound, head: RequestHead, candidates: tuple[Service, ...]
    ) -> tuple[Routed, Mapping[str, str] | None]:
        fields: dict[str, str] | None = None
        if self._router.needs_form(head):
            if head.query:
                raise Malformed(
                    "The request has parameters in the query and in the body; only one place is allowed.",
                    aws_code="MalformedQueryString",
                    code="duplicate_parameter",
                )
            _check_charset(head)
            body = await inbound.read_body()
            if _is_compressed(head):
                body = await self._decompressed(body, head)
            fields = await off_loop(len(body), partial(form, body))
        routed = self._router.route(head, candidates, fields)
        if fields is None and routed.protocol in (Protocol.EC2, Protocol.QUERY):
            fields = await self._query_form(inbound, head)
        elif fields is not None and "content-encoding" in head.headers:
            _check_compressible(routed)
        return routed, fields

    async def _query_form(self, inbound: Inbound, head: RequestHead) -> dict[str, str]:
        """The fields of a form that was sent in the query. Refuses a body, because AWS could read that instead."""
        if await inbound.read_body():
            raise Malformed(
                "The Action is in the query, so the request must not have a body.",
                aws_code="MalformedQueryString",
                code="duplicate_parameter",
            )
        return unique(head.query)

    async def _parameters(
        self, inbound: Inbound, head: RequestHead, routed: Routed, fields: Mapping[str, str] | None
    ) -> dict[str, Any]:
        _check_charset(head)
        body = b"" if fields is not None else await inbound.read_body()
        if fields is None and _is_compressed(head) and not _takes_content_encoding(routed):
            body = await self._decompressed(body, head, routed)
        shape = await self._models.input_of(routed.service.name, routed.operation)
        size = len(body) if fields is None else _BYTES_OF_A_FIELD * len(fields)
        parameters = await off_loop(size, partial(_parse, routed, shape, head, body, fields))
        if routed.service.name == "sqs" and "QueueUrl" in parameters:
            parameters["QueueUrl"] = aws_queue_url(parameters["QueueUrl"], head.scope.region)
        return parameters

    async def _decompressed(self, body: bytes, head: RequestHead, routed: Routed | None = None) -> bytes:
        """The body without its compression. `routed` is None if the body names the operation.

        Raises `errors.Malformed` for another encoding than gzip, and for an operation that does not accept a compressed body.
        """
        if _content_encoding(head) != "gzip":
            raise Malformed(
                "Sentinel does not accept this Content-Encoding here.",
                aws_code="UnsupportedMediaTypeException",
                code="content_encoding",
            )
        if routed is not None:
            _check_compressible(routed)
        # Always in a thread: a small body can be large when it is decompressed.
        return await off_loop(SMALL + 1, partial(gunzipped, body, self._max_body))

    def put_object(self, bucket: str, key: str) -> Routed:
        """The route of a PutObject that comes as a form."""
        service = self._router.service(S3)
        return Routed(
            service=service, operation="PutObject", protocol=Protocol.REST_XML, labels={"Bucket": bucket, "Key": key}
        )

    def check_region(self, region: str) -> None:
        """Raise `errors.Malformed` unless the region may be called."""
        if region not in self._regions:
            # No wrong signature: SDKs answer that by another try with another clock.
            raise Malformed(region_refused(region, self._regions), aws_code="AccessDenied", code="region")


@lru_cache(_REMEMBERED)
def _bare_call(service: str, operation: str, account: str, region: str, protocol: str) -> Call:
    """A call whose parameters are not looked at, as of most reads. All its parts are names that are known, so few are remembered."""
    return Call(service=service, operation=operation, account=account, region=region, protocol=protocol)


def _request(head: RequestHead, call: Call, call_class: CallClass, caller: Caller, sender: Sender = UNKNOWN) -> Request:
    return _made(
        call=call,
        call_class=call_class,
        motive=motive_of_head(head),
        idempotency_key=_idempotency_key(head, caller),
        signature=head.signature,
        sender=sender,
    )


def _parse(
    routed: Routed, shape: Shape | None, head: RequestHead, body: bytes, fields: Mapping[str, str] | None
) -> dict[str, Any]:
    if head.payload.chunked:
        head, body = _unchunked(head, body)
    return parse(routed, shape, head, body, fields)


def _idempotency_key(head: RequestHead, caller: Caller) -> str:
    """The SDK's invocation id, which is the same for every attempt of one call; without one, the signature.

    The invocation id is not signed: anyone who saw the request can change it, or leave it out. That the same signed bytes are never
    applied twice is ensured by the ledger, which spends the signature.
    """
    invocation = head.headers.get(_INVOCATION)
    if invocation is None:
        return f"{caller.key_id}:signature:{head.signature}"
    key = f"{caller.key_id}:{invocation}"
    if (
        not invocation
        or len(key) > _MAX_KEY_LENGTH
        or not key.isascii()
        or not key.isprintable()
        or _INVOCATION in head.repeated
    ):
        raise Malformed(
            f"{_INVOCATION} must be sent once, of 1 to {_MAX_KEY_LENGTH - len(caller.key_id) - 1} printable ASCII characters.",
            aws_code="ValidationError",
            code="idempotency_key",
        )
    return key


def _check_charset(head: RequestHead) -> None:
    """Refuse any charset but UTF-8: a server might decode the body in the charset that the content type names."""
    for parameter in head.headers.get("content-type", "").split(";")[1:]:
        name, _, value = parameter.strip().lower().partition("=")
        if name == "charset" and value not in _CHARSETS:
            raise Malformed(
                "The charset of a body must be UTF-8.",
                aws_code="UnsupportedMediaTypeException",
                code="content_type",
            )


def _check_payload(inbound: Inbound, head: RequestHead) -> None:
    """Refuse a mutation whose body is not covered by the signature."""
    if not head.payload.binds:
        raise Malformed(
            "The body of a change must be covered by its signature, and this one is not. "
            f"{unsigned_payload_advice(inbound)} Nothing was sent.",
            aws_code="AccessDenied",
            code="unsigned_payload",
        )


def _unchunked(head: RequestHead, body: bytes) -> tuple[RequestHead, bytes]:
    """The head and body without the chunked upload encoding, whose signatures `authn` has verified."""
    decoded = aws_chunked.decode(body)
    headers = {
        **without_chunked_encoding(head.headers),
        "content-length": str(len(decoded.body)),
        **dict(decoded.trailers),
    }
    return replace(head, headers=headers, signed=head.signed | dict(decoded.trailers).keys()), decoded.body


def _check_compressible(routed: Routed) -> None:
    if routed.operation not in routed.service.compressible:
        raise Malformed(
            f"{routed.service.name}:{routed.operation} does not accept a compressed body.",
            aws_code="UnsupportedMediaTypeException",
            code="content_encoding",
        )


def _content_encoding(head: RequestHead) -> str:
    return head.headers.get("content-encoding", "").strip().lower()


def _is_compressed(head: RequestHead) -> bool:
    """Whether the body has a content encoding beside the chunked one, which has signatures of its own."""
    return bool(_content_encoding(head)) and not head.payload.chunked


def _takes_content_encoding(routed: Routed) -> bool:
    """Whether Content-Encoding is a parameter of the operation: in S3 it describes the object, which is stored as sent."""
    return routed.service.name == "s3"


def parse(
    routed: Routed, shape: Shape | None, head: RequestHead, body: bytes, fields: Mapping[str, str] | None
) -> dict[str, Any]:
    """The parameters of the operation whose input shape is `shape`. `fields` are those of the form, for the two form protocols.

    Raises `errors.Malformed` for an ambiguous body, and for a parameter that is unknown, missing, of the wrong type or out of range.
    """
    match routed.protocol:
        case Protocol.EC2 | Protocol.QUERY:
            return form_fields.parse(shape, fields or {}, ec2=routed.protocol is Protocol.EC2)
        case Protocol.JSON:
            return document.parse(shape, json_value(body or b"{}"))
        case Protocol.CBOR:
            return document.parse(shape, cbor_value(body) if body else {})
        case Protocol.REST_JSON | Protocol.REST_XML:
            is_json = routed.protocol is Protocol.REST_JSON
            return rest.parse(shape, head, routed.labels, routed.literals, body, is_json=is_json)


_PREFIX = "x-sentinel-"
_KNOWN = frozenset({INTENT_HEADER, MOTIVATION_HEADER})


def motive_of_head(head: RequestHead) -> Motive | None:
    """The motive that the request states, None if it states none.

    Raises `errors.Malformed` for an incomplete motive, for an unknown `x-sentinel-` header (a misspelled header must not lose the motive)
    and for a header that the signature does not cover, because an intermediary could have added it.
    """
    given = _own_names(tuple(head.headers))
    if not given:
        return None
    if unknown := given - _KNOWN:
        _refuse_motive(f"Sentinel knows no header {min(unknown)[:60]}; it knows {' and '.join(sorted(_KNOWN))}.")
    if unsigned := given - head.signed:
        _refuse_motive(f"The header {min(unsigned)} is not among SignedHeaders; add it before the request is signed.")
    if missing := _KNOWN - given:
        _refuse_motive(f"A motive is stated in two headers, and {min(missing)} is missing.")
    return read_motive(head.headers[INTENT_HEADER], head.headers[MOTIVATION_HEADER])


@lru_cache(maxsize=64)  # a request may have 32 KB of names
def _own_names(names: tuple[str, ...]) -> frozenset[str]:
    """The names that are Sentinel's own: requests of one client have the same."""
    return frozenset([name for name in names if name.startswith(_PREFIX)])


def _refuse_motive(reason: str) -> None:
    raise Malformed(reason, aws_code="ValidationError", code="motive")
