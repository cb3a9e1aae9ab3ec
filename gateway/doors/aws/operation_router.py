"""Which operation a request is for: (method, path, query, headers, form) and the signing name decide, in an order that never guesses.

The marks of the protocols are looked for in this order: `smithy-protocol: rpc-v2-cbor`, `X-Amz-Target`, a form's `Action`, then the
REST routes. A request with two marks is refused. Services that share a signing name and an operation (rds, docdb and neptune …) are
told apart by a fixed preference, and only where the candidates are of the same class.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NoReturn
from urllib.parse import unquote

from gateway.doors.aws.call_classes import CallClassTable
from gateway.doors.aws.request_head import RequestHead, scope_of, unmarked
from gateway.doors.aws.routing_index import Protocol, RestRoute, RoutingIndex, Service
from gateway.doors.aws.strict_parsers import unique
from gateway.errors import Malformed, UnknownOperation
from gateway.model.inbound import Inbound

FORM_TYPE = "application/x-www-form-urlencoded"
_LABEL = re.compile(r"\{([^}]+)\}")
_RPC = re.compile(r"/service/([A-Za-z0-9_.]+)/operation/([A-Za-z0-9]+)")
_LATER = {"docdb": 9, "neptune": 9, "wisdom": 5, "timestream-query": 5, "pinpoint-email": 5}
"""Twins that are taken last; all others stand at 0 and go by name."""
_S3_CONTROL = "/v20180820/"
_CBOR_MARK = "rpc-v2-cbor"
_KEPT_GROUPS = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Routed:
    """What a request is for."""

    service: Service
    operation: str
    protocol: Protocol
    labels: Mapping[str, str] = field(default_factory=dict)
    """Decoded parts of the path, by the name of their parameter."""
    literals: frozenset[str] = frozenset()
    """Query keys that the operation is told by and that are no parameters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compiled:
    pattern: re.Pattern[str]
    labels: tuple[str, ...]
    literal: int
    slash: bool
    segments: int
    """How many segments a path of this route has; the least where `greedy`."""
    greedy: bool
    route: RestRoute

    @property
    def constraints(self) -> int:
        return len(self.route.query) * 2 + len(self.route.headers)


class OperationRouter:
    """Routes requests by the index; asks the classes only to refuse twins that differ in class."""

    def __init__(self, index: RoutingIndex, classes: CallClassTable) -> None:
        self._index = index
        self._classes = classes
        self._compiled = lru_cache(None)(self._compile)
        self._narrowed = lru_cache(_KEPT_GROUPS)(self._narrow)

    def candidates(self, head: RequestHead) -> tuple[Service, ...]:
        """The services that the scope's signing name may mean, the preferred first. Raises `errors.Malformed` where there are none."""
        group = self._index.signed_as(head.scope.signing)
        if head.service:
            group = tuple(service for service in group if service.name == head.service)
        if not group:
            named = f" as {head.service[:60]!r}" if head.service else ""
            raise Malformed(
                f"No AWS service that Sentinel knows{named} is signed for as {head.scope.signing[:60]!r}.",
                aws_code="SignatureDoesNotMatch",
                code="service_mismatch",
            )
        return tuple(sorted(group, key=lambda service: (_LATER.get(service.name, 0), service.name)))

    def form_wanted(self, head: RequestHead, candidates: tuple[Service, ...]) -> bool:
        """Whether the operation's name must be read out of the body. Raises `errors.Malformed` for two protocol marks."""
        marks = (
            head.headers.get("smithy-protocol") is not None,
            "x-amz-target" in head.headers,
            _looks_like_form(head),
        )
        if sum(marks) > 1:
            raise Malformed(
                "The request bears the marks of more than one protocol.",
                aws_code="InvalidRequest",
                code="two_protocols",
            )
        return _is_form(head, candidates) and head.content_type == FORM_TYPE

    def route(self, head: RequestHead, candidates: tuple[Service, ...], fields: Mapping[str, str] | None) -> Routed:
        """The operation. `fields` are the form's, where `form_wanted`. Raises `errors.UnknownOperation`, `errors.Malformed`."""
        if "smithy-protocol" in head.headers:
            return self._rpc(head, candidates)
        if (target := head.headers.get("x-amz-target")) is not None:
            return self._target(head, target, candidates)
        if _is_form(head, candidates):
            return self._form(fields if fields is not None else unique(head.query), candidates)
        return self._rest(head, candidates)

    def _rpc(self, head: RequestHead, candidates: tuple[Service, ...]) -> Routed:
        found = _RPC.fullmatch(head.path)
        if head.headers["smithy-protocol"] != _CBOR_MARK or found is None or head.method != "POST" or head.query:
            raise UnknownOperation(
                "The request says it is Smithy RPC v2 and is not POST /service/…/operation/… with rpc-v2-cbor."
            )
        _check_type(head, ("application/cbor", ""))
        hits = [service for service in candidates if service.target == found[1] and Protocol.CBOR in service.protocols]
        return self._one(hits, found[2], Protocol.CBOR)

    def _target(self, head: RequestHead, target: str, candidates: tuple[Service, ...]) -> Routed:
        prefix, _, operation = target.rpartition(".")
        if head.method != "POST" or head.path != "/" or head.query:
            raise Malformed(
                "A request with X-Amz-Target must be a POST to / without a query.",
                aws_code="InvalidRequest",
                code="two_protocols",
            )
        _check_type(head, ("application/x-amz-json-1.1", "application/x-amz-json-1.0"))
        hits = [service for service in candidates if service.target == prefix and Protocol.JSON in service.protocols]
        if not hits:
            raise Malformed(
                f"X-Amz-Target names {prefix[:80]!r}, which is not the service that the request is signed for.",
                aws_code="UnknownOperationException",
                code="service_mismatch",
            )
        return self._one(hits, operation, Protocol.JSON)

    def _form(self, fields: Mapping[str, str], candidates: tuple[Service, ...]) -> Routed:
        action, version = fields.get("Action", ""), fields.get("Version", "")
        if not action:
            raise UnknownOperation("The request names no Action.")
        hits = [service for service in candidates if service.form is not None and service.version == version]
        if not hits:
            raise Malformed(
                f"No service that the request may be for has the API version {version[:40]!r}.",
                aws_code="NoSuchVersion",
                code="service_mismatch",
            )
        routed = self._one(hits, action, Protocol.QUERY)
        return Routed(service=routed.service, operation=action, protocol=routed.service.form or Protocol.QUERY)

    def _one(self, hits: list[Service], operation: str, protocol: Protocol) -> Routed:
        able = [service for service in hits if operation in service.operations]
        if not able:
            raise UnknownOperation(f"No service that the request may be for has an operation {operation[:80]!r}.")
        if len({self._classes.of(service.name, operation) for service in able}) > 1:
            _ambiguous([f"{service.name}:{operation}" for service in able])
        return Routed(service=able[0], operation=operation, protocol=protocol)

    def _rest(self, head: RequestHead, candidates: tuple[Service, ...]) -> Routed:
        matches = [
            (weight, service, compiled, found)
            for service in candidates
            if service.rest is not None and (service.name != "s3control" or head.path.startswith(_S3_CONTROL))
            if service.name != "s3" or not head.path.startswith(_S3_CONTROL)
            for weight, compiled, found in self._matches(head, service)
        ]
        if not matches:
            raise UnknownOperation(
                f"No operation of {candidates[0].signing} is {head.method} at this path with these parameters."
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
            labels={name: _label(text) for name, text in zip(best.labels, found.groups(), strict=True)},
            literals=frozenset(key for key, value in best.route.query),
        )

    def _matches(
        self, head: RequestHead, service: Service
    ) -> list[tuple[tuple[int, int, bool], _Compiled, re.Match[str]]]:
        query = dict(head.query)
        found: list[tuple[tuple[int, int, bool], _Compiled, re.Match[str]]] = []
        for compiled in self._narrowed(service.name, head.method, head.path.rstrip("/").count("/")):
            route = compiled.route
            # A route without constraints cannot be meant more exactly than the one found before it, which has as long a path.
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

    def _check_rivals(self, service: Service, best: _Compiled, rivals: list[tuple[Service, _Compiled]]) -> None:
        """Refuse what is as exactly meant for another service, or bears marks of another operation of the same one, of another class.

        A rival in another service that fits less exactly does not matter: the request goes to the host of the service chosen here.
        """
        chosen = self._classes.of(service.name, best.route.operation)
        for rival, compiled in rivals:
            if self._classes.of(rival.name, compiled.route.operation) is not chosen:
                _ambiguous([f"{service.name}:{best.route.operation}", f"{rival.name}:{compiled.route.operation}"])

    def _narrow(self, name: str, method: str, segments: int) -> tuple[_Compiled, ...]:
        """The routes that a path of so many segments can match (a key may end in slashes, which are not counted)."""
        return tuple(
            entry
            for entry in self._compiled(name).get(method, ())
            if entry.segments == segments or (entry.greedy and entry.segments <= segments + 1)
        )

    def _compile(self, name: str) -> dict[str, list[_Compiled]]:
        compiled: dict[str, list[_Compiled]] = {}
        for route in self._index.services[name].routes:
            compiled.setdefault(route.method, []).append(_compiled(route))
        for group in compiled.values():
            group.sort(key=lambda entry: (-entry.literal, -entry.constraints, entry.route.deprecated))
        return compiled


def likely(inbound: Inbound, index: RoutingIndex) -> tuple[Service | None, Protocol]:
    """The likely service and protocol of a request of which nothing is known to be true; only to choose the form of an error."""
    scope = scope_of(inbound)
    named, _ = unmarked(inbound.target)
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


def _compiled(route: RestRoute) -> _Compiled:
    """A URI template as a pattern over the undecoded path; how many of its characters are literal says how exact it is."""
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
    return _Compiled(
        pattern=re.compile(pattern),
        labels=tuple(labels),
        literal=literal,
        slash=slash,
        segments=template.rstrip("/").count("/"),
        greedy="+}" in template,
        route=route,
    )


def _label(text: str) -> str:
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        raise Malformed("The path holds an escape that is not UTF-8.", aws_code="InvalidURI", code="encoding") from None


def _looks_like_form(head: RequestHead) -> bool:
    return head.content_type == FORM_TYPE or any(key.casefold() == "action" for key, _ in head.query)


def _is_form(head: RequestHead, candidates: tuple[Service, ...]) -> bool:
    return _looks_like_form(head) and any(service.form is not None for service in candidates)


def _check_type(head: RequestHead, allowed: tuple[str, ...]) -> None:
    """A service that speaks several protocols may choose by the content type, so it must fit the mark, whatever the class."""
    if head.content_type not in allowed:
        raise Malformed(
            f"The content type does not fit: this protocol takes {allowed[0]}.",
            aws_code="UnsupportedMediaTypeException",
            code="content_type",
        )


def _ambiguous(names: list[str]) -> NoReturn:
    raise Malformed(
        f"The request could be for {' or '.join(sorted(set(names)))}, which differ in what they may do. "
        "Name the service in the endpoint (AWS_ENDPOINT_URL_<SERVICE>=…/_svc/<service>).",
        aws_code="InvalidRequest",
        code="ambiguous_operation",
    )
