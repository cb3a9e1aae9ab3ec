"""Finds the operation of a request by its signing name, method, path, query, headers and form fields.

The protocol is determined in this order: `smithy-protocol: rpc-v2-cbor`, `X-Amz-Target`, a form's `Action`, otherwise the REST routes.
A request with the markers of two protocols is refused. If several services share a signing name and an operation (rds, docdb and
neptune …), a fixed preference decides, but only if the candidates have the same class; otherwise the request is refused.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NoReturn
from urllib.parse import unquote

from gateway.aws.door.request_head import S3_CONTROL, RequestHead, media_type, scope_of, split_service
from gateway.aws.models.call_classes import CallClassTable
from gateway.aws.models.routing_index import Protocol, RestRoute, RoutingIndex, Service
from gateway.core.errors import Malformed, UnknownOperation
from gateway.core.http.strict_parsers import unique
from gateway.core.model.inbound import Inbound
from gateway.core.quick_init import quick_init

FORM_TYPE = "application/x-www-form-urlencoded"
_LABEL = re.compile(r"\{([^}]+)\}")
_RPC = re.compile(r"/service/([A-Za-z0-9_.]+)/operation/([A-Za-z0-9]+)")
_PREFERENCE = {"docdb": 9, "neptune": 9, "wisdom": 5, "timestream-query": 5, "pinpoint-email": 5}
"""Order among services with the same signing name, lowest first; others have 0, and equal ones are ordered by name."""
_CBOR_PROTOCOL = "rpc-v2-cbor"
_CACHED_GROUPS = 4096
_CACHED_TARGETS, _LONGEST_TARGET = 256, 512
"""Fewer, because they are remembered by headers as a client sent them, and of these only short ones."""
_JSON_TYPES = ("application/x-amz-json-1.1", "application/x-amz-json-1.0")


@quick_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Routed:
    """The operation of a request, and what routing read from the path."""

    service: Service
    operation: str
    protocol: Protocol
    labels: Mapping[str, str] = field(default_factory=dict)
    """Decoded path parameters, by the name of their label in the URI template."""
    literals: frozenset[str] = frozenset()
    """Query keys that identify the operation and are not parameters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _CompiledRoute:
    pattern: re.Pattern[str]
    labels: tuple[str, ...]
    literal: int
    """Number of literal characters in the template: the more, the more specific the route."""
    slash: bool
    """Whether the template ends in a slash."""
    segments: int
    """Number of segments in a path of this route; the minimum if `greedy`."""
    greedy: bool
    """Whether a label may contain slashes (`{Key+}`)."""
    route: RestRoute

    @property
    def constraints(self) -> int:
        return len(self.route.query) * 2 + len(self.route.headers)


class OperationRouter:
    """Routes requests by the index. Uses the classes only to refuse candidates that differ in class."""

    def __init__(self, index: RoutingIndex, classes: CallClassTable) -> None:
        self._index = index
        self._classes = classes
        self._routes_by_method = lru_cache(None)(self._compile)
        self._possible_routes = lru_cache(_CACHED_GROUPS)(self._filter_by_length)
        self._signed_as = lru_cache(_CACHED_GROUPS)(self._find_services)
        self._with_target = lru_cache(_CACHED_GROUPS)(self._find_target)
        self._with_action = lru_cache(_CACHED_GROUPS)(self._find_action)
        self._speaks_form = lru_cache(_CACHED_GROUPS)(self._find_form)
        self._usual_targets = lru_cache(_CACHED_TARGETS)(self._find_usual_target)

    def service(self, name: str) -> Service:
        """A service by botocore's name."""
        return self._index.services[name]

    def candidates(self, head: RequestHead) -> tuple[Service, ...]:
        """The services with the credential scope's signing name, the preferred first. Raises `errors.Malformed` if there are none."""
        return self._signed_as(head.scope.signing, head.service)

    def _find_services(self, signing: str, name: str) -> tuple[Service, ...]:
        group = self._index.signed_as(signing)
        if name:
            group = tuple(service for service in group if service.name == name)
        if not group:
            named = f" as {name[:60]!r}" if name else ""
            raise Malformed(
                f"Sentinel knows no AWS service{named} with the signing name {signing[:60]!r}.",
                aws_code="SignatureDoesNotMatch",
                code="service_mismatch",
            )
        return tuple(sorted(group, key=lambda service: (_PREFERENCE.get(service.name, 0), service.name)))

    def by_target(self, head: RequestHead) -> Routed | None:
        """The operation that a request names in `X-Amz-Target` as SDKs do. None: it is another request, or must be looked at closely, as by `route`.

        Raises `errors.UnknownOperation`, `errors.Malformed`.
        """
        headers = head.headers
        target = headers.get("x-amz-target")
        if target is None or head.method != "POST" or head.path != "/" or head.query or "smithy-protocol" in headers:
            return None
        content_type = headers.get("content-type", "")
        if len(target) + len(content_type) > _LONGEST_TARGET:
            return None
        return self._usual_targets(target, content_type, head.scope.signing, head.service)

    def _find_usual_target(self, target: str, content_type: str, signing: str, name: str) -> Routed | None:
        return self._with_target(target, signing, name) if media_type(content_type) in _JSON_TYPES else None

    def _find_form(self, signing: str, name: str) -> bool:
        return any(service.form is not None for service in self._signed_as(signing, name))

    def needs_form(self, head: RequestHead) -> bool:
        """Whether the body is a form that names the operation. Raises `errors.Malformed` if two protocols are indicated."""
        content_type = head.content_type
        looks_like_form = _looks_like_form(head, content_type)
        if ("smithy-protocol" in head.headers) + ("x-amz-target" in head.headers) + looks_like_form > 1:
            raise Malformed(
                "The request has the markers of more than one protocol.",
                aws_code="InvalidRequest",
                code="two_protocols",
            )
        return content_type == FORM_TYPE and self._speaks_form(head.scope.signing, head.service)

    def route(self, head: RequestHead, candidates: tuple[Service, ...], fields: Mapping[str, str] | None) -> Routed:
        """The operation. `fields` are those of the body if `needs_form`, otherwise None. Raises `errors.UnknownOperation`, `errors.Malformed`."""
        if "smithy-protocol" in head.headers:
            return self._route_rpc(head, candidates)
        if (target := head.headers.get("x-amz-target")) is not None:
            return self._route_target(head, target)
        looks_like_form = _looks_like_form(head, head.content_type)
        if looks_like_form and self._speaks_form(head.scope.signing, head.service):
            fields = fields if fields is not None else unique(head.query)
            action, version = fields.get("Action", ""), fields.get("Version", "")
            return self._with_action(action, version, head.scope.signing, head.service)
        if looks_like_form and candidates[0].query_compatible:
            raise UnknownOperation(
                f"{candidates[0].name} is spoken here in its JSON protocol, not in its older query protocol; nothing was sent. Update the "
                "client: boto3 1.28.82, AWS CLI 1.29.82 or 2.13.33, SDKs for JavaScript 3.447, Go 1.28 of service/sqs and Java 2.21.19 "
                "are the first that speak it."
            )
        return self._route_rest(head, candidates)

    def _route_rpc(self, head: RequestHead, candidates: tuple[Service, ...]) -> Routed:
        found = _RPC.fullmatch(head.path)
        if head.headers["smithy-protocol"] != _CBOR_PROTOCOL or found is None or head.method != "POST" or head.query:
            raise UnknownOperation(
                "The request has a smithy-protocol header, but is not POST /service/…/operation/… with rpc-v2-cbor."
            )
        _check_type(head, ("application/cbor", ""))
        hits = [service for service in candidates if service.is_named(found[1]) and Protocol.CBOR in service.protocols]
        return self._select(hits, found[2], Protocol.CBOR)

    def _route_target(self, head: RequestHead, target: str) -> Routed:
        if head.method != "POST" or head.path != "/" or head.query:
            raise Malformed(
                "A request with X-Amz-Target must be a POST to / without a query.",
                aws_code="InvalidRequest",
                code="two_protocols",
            )
        _check_type(head, _JSON_TYPES)
        return self._with_target(target, head.scope.signing, head.service)

    def _find_target(self, target: str, signing: str, name: str) -> Routed:
        prefix, _, operation = target.rpartition(".")
        candidates = self._signed_as(signing, name)
        hits = [service for service in candidates if service.is_named(prefix) and Protocol.JSON in service.protocols]
        if not hits:
            raise Malformed(
                f"X-Amz-Target names {prefix[:80]!r}, but the request is signed for another service.",
                aws_code="UnknownOperationException",
                code="service_mismatch",
            )
        return self._select(hits, operation, Protocol.JSON)

    def _find_action(self, action: str, version: str, signing: str, name: str) -> Routed:
        if not action:
            raise UnknownOperation("The request names no Action.")
        candidates = self._signed_as(signing, name)
        hits = [service for service in candidates if service.form is not None and service.version == version]
        if not hits:
            raise Malformed(
                f"No service with this signing name has the API version {version[:40]!r}.",
                aws_code="NoSuchVersion",
                code="service_mismatch",
            )
        routed = self._select(hits, action, Protocol.QUERY)
        return Routed(service=routed.service, operation=action, protocol=routed.service.form or Protocol.QUERY)

    def _select(self, hits: list[Service], operation: str, protocol: Protocol) -> Routed:
        """The operation in the first of these services that has it. Refuses services that give it different classes."""
        matching = [service for service in hits if operation in service.operations]
        if not matching:
            raise UnknownOperation(f"No service with this signing name has an operation {operation[:80]!r}.")
        if len({self._classes.of(service.name, operation) for service in matching}) > 1:
            _refuse_ambiguous([f"{service.name}:{operation}" for service in matching])
        return Routed(service=matching[0], operation=operation, protocol=protocol)

    def _route_rest(self, head: RequestHead, candidates: tuple[Service, ...]) -> Routed:
        matches = [
            (weight, service, compiled, found)
            for service in candidates
            if service.rest is not None and (service.name != "s3control" or head.path.startswith(S3_CONTROL))
            if service.name != "s3" or not head.path.startswith(S3_CONTROL)
            for weight, compiled, found in self._matches(head, service)
        ]
        if not matches:
            raise UnknownOperation(
                f"{candidates[0].signing} has no operation {head.method} at this path with these parameters."
            )
        weight, service, best, found = max(matches, key=lambda match: match[0])
        self._check_rivals(
            service,
            best,
            [
                (rival, compiled)
                for other, rival, compiled, _ in matches
                if other == weight or (rival is service and set(compiled.route.query) - set(best.route.query))
            ],
        )
        return Routed(
            service=service,
            operation=best.route.operation,
            protocol=service.rest or Protocol.REST_JSON,
            labels={name: _decode_label(text) for name, text in zip(best.labels, found.groups(), strict=True)},
            literals=frozenset(key for key, value in best.route.query),
        )

    def _matches(
        self, head: RequestHead, service: Service
    ) -> list[tuple[tuple[int, int, bool], _CompiledRoute, re.Match[str]]]:
        query = dict(head.query)
        found: list[tuple[tuple[int, int, bool], _CompiledRoute, re.Match[str]]] = []
        for compiled in self._possible_routes(service.name, head.method, head.path.rstrip("/").count("/")):
            route = compiled.route
            # Routes are sorted by specificity: one without constraints is never more specific than a match found before it.
            if found and not route.query:
                continue
            if any(key not in query or (value is not None and query[key] != value) for key, value in route.query):
                continue
            if any(name not in head.headers for name in route.headers):
                continue
            if (match := compiled.pattern.fullmatch(head.path)) is not None:
                weight = (compiled.literal, compiled.constraints, compiled.slash == head.path.endswith("/"))
                found.append((weight, compiled, match))
        return found

    def _check_rivals(
        self, service: Service, best: _CompiledRoute, rivals: list[tuple[Service, _CompiledRoute]]
    ) -> None:
        """Refuse a request if one of the rivals has another class than the best match.

        Rivals are equally specific matches of any service, and other matches of the same service with further query constraints. A less
        specific match of another service does not matter: the request goes to the host of the service chosen here.
        """
        chosen = self._classes.of(service.name, best.route.operation)
        for rival, compiled in rivals:
            if self._classes.of(rival.name, compiled.route.operation) is not chosen:
                _refuse_ambiguous(
                    [f"{service.name}:{best.route.operation}", f"{rival.name}:{compiled.route.operation}"]
                )

    def _filter_by_length(self, name: str, method: str, segments: int) -> tuple[_CompiledRoute, ...]:
        """The routes of a service that a path with this number of segments can match. Slashes at the end of a key are not counted."""
        return tuple(
            entry
            for entry in self._routes_by_method(name).get(method, ())
            if entry.segments == segments or (entry.greedy and entry.segments <= segments + 1)
        )

    def _compile(self, name: str) -> dict[str, list[_CompiledRoute]]:
        """The service's routes by method, the most specific first."""
        compiled: dict[str, list[_CompiledRoute]] = {}
        for route in self._index.services[name].routes:
            compiled.setdefault(route.method, []).append(_compile_route(route))
        for group in compiled.values():
            group.sort(key=lambda entry: (-entry.literal, -entry.constraints, entry.route.deprecated))
        return compiled


def guess_protocol(inbound: Inbound, index: RoutingIndex) -> tuple[Service | None, Protocol]:
    """Best guess at the service and protocol of an unauthenticated request. Use only to format an error reply."""
    scope = scope_of(inbound)
    named, _ = split_service(inbound.target)
    group = index.signed_as(scope.signing) if scope else ()
    service = next((one for one in group if one.name == named), group[0] if group else None)
    content = (inbound.header("content-type") or "").partition(";")[0].strip().lower()
    if inbound.header("smithy-protocol") is not None or content == "application/cbor":
        return service, Protocol.CBOR
    if inbound.header("x-amz-target") is not None or content.startswith("application/x-amz-json"):
        return service, Protocol.JSON
    if content == FORM_TYPE or "Action=" in inbound.query:
        return service, next((one.form for one in group if one.form is not None), Protocol.QUERY)
    if service is not None:
        return service, service.protocols[0]
    return None, Protocol.REST_JSON if content == "application/json" else Protocol.REST_XML


def _compile_route(route: RestRoute) -> _CompiledRoute:
    """A URI template as a regular expression over the undecoded path."""
    template = route.template if route.template == "/" else route.template.rstrip("/")
    pattern, literal, position = "", 0, 0
    labels: list[str] = []
    for label in _LABEL.finditer(template):
        text = template[position : label.start()]
        greedy = label[1].endswith("+")
        pattern += re.escape(text) + ("(.+)" if greedy else "([^/]+)")
        literal += len(text)
        position = label.end()
        labels.append(label[1].rstrip("+"))
    pattern += re.escape(template[position:])
    literal += len(template) - position
    if not template.endswith("+}"):
        pattern += "/?"
    slash = route.template != "/" and route.template.endswith("/")
    return _CompiledRoute(
        pattern=re.compile(pattern),
        labels=tuple(labels),
        literal=literal,
        slash=slash,
        segments=template.rstrip("/").count("/"),
        greedy="+}" in template,
        route=route,
    )


def _decode_label(text: str) -> str:
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        raise Malformed(
            "The path contains an escape that is not UTF-8.", aws_code="InvalidURI", code="encoding"
        ) from None


def _looks_like_form(head: RequestHead, content_type: str) -> bool:
    if content_type == FORM_TYPE:
        return True
    return bool(head.query) and any(key.casefold() == "action" for key, _ in head.query)


def _check_type(head: RequestHead, allowed: tuple[str, ...]) -> None:
    """Refuse a content type of another protocol: a service with several protocols might choose the protocol by content type."""
    if head.content_type not in allowed:
        raise Malformed(
            f"The content type does not fit: this protocol uses {allowed[0]}.",
            aws_code="UnsupportedMediaTypeException",
            code="content_type",
        )


def _refuse_ambiguous(names: list[str]) -> NoReturn:
    raise Malformed(
        f"The request could be for {' or '.join(sorted(set(names)))}, which differ in what they may do. "
        "Name the service in the endpoint (AWS_ENDPOINT_URL_<SERVICE>=…/_svc/<service>).",
        aws_code="InvalidRequest",
        code="ambiguous_operation",
    )
