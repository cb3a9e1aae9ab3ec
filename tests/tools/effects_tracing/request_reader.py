"""Reads a request of the provider with the door's own router and parsers: which operation it is, with which parameters."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from gateway.aws.door.decoder import parse
from gateway.aws.door.operation_router import OperationRouter, Routed
from gateway.aws.door.request_head import RequestHead, head_of
from gateway.aws.models import call_classes, routing_index
from gateway.aws.models.routing_index import Protocol
from gateway.core.errors import SentinelError
from gateway.core.http.strict_parsers import form, gunzipped, unique
from gateway.core.model.inbound import Inbound
from gateway.core.model.mutation import CallClass
from gateway.core.service_models import ServiceModels
from gateway.identity import aws_chunked

DOMAIN = ".aws.test"
"""Every service has the endpoint `http://SERVICE.aws.test`, also with an account or a bucket before it."""
_MOST_UNZIPPED = 1 << 24


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRequest:
    """A request as the gateway understands it."""

    service: str
    operation: str = ""
    """Empty if the request could not be routed."""
    call_class: CallClass | None = None
    protocol: Protocol | None = None
    parameters: Mapping[str, Any]
    problem: str = ""
    """Why it could not be read, empty if it could."""

    @property
    def changes(self) -> bool:
        """Whether it may change something at AWS: it is routed, and no read of data or secrets."""
        return self.call_class not in (None, CallClass.READ, CallClass.SECRET)


class RequestReader:
    """Routes and parses requests by botocore's models."""

    def __init__(self, models: ServiceModels) -> None:
        self._models = models
        self._classes = call_classes.shipped()
        self._router = OperationRouter(routing_index.shipped(), self._classes)

    def read(self, method: str, target: str, headers: tuple[tuple[str, str], ...], body: bytes) -> ReadRequest:
        """The request, with the reason in `problem` if the gateway would refuse it."""
        service, path = _service_of(target, headers)
        inbound = Inbound(
            method=method,
            target=f"/_svc/{service}{path}",
            headers=headers,
            read_body=_unread,
            received_at=datetime.now(UTC),
        )
        routed: Routed | None = None
        try:
            head = head_of(inbound)
            candidates = self._router.candidates(head)
            fields = form(body) if self._router.needs_form(head) else None
            routed = self._router.route(head, candidates, fields)
            parameters = self._parameters(routed, head, body, fields)
        except (SentinelError, ValueError, KeyError, TypeError) as error:
            problem = f"{type(error).__name__}: {error}"[:300]
            if routed is None:
                told = f"{method} {path[:80]} {dict(headers).get('x-amz-target', '')}"
                return ReadRequest(service=service, parameters={}, problem=f"{problem} ({told})")
            return self._request(routed, {}, problem)
        return self._request(routed, parameters, "")

    def _request(self, routed: Routed, parameters: Mapping[str, Any], problem: str) -> ReadRequest:
        return ReadRequest(
            service=routed.service.name,
            operation=routed.operation,
            call_class=self._classes.of(routed.service.name, routed.operation),
            protocol=routed.protocol,
            parameters=parameters,
            problem=problem,
        )

    def _parameters(
        self, routed: Routed, head: RequestHead, body: bytes, fields: Mapping[str, str] | None
    ) -> dict[str, Any]:
        if fields is None and routed.protocol in (Protocol.EC2, Protocol.QUERY):
            fields = unique(head.query)
        if head.payload.chunked:
            decoded = aws_chunked.decode(body)
            head, body = replace(head, headers={**head.headers, **dict(decoded.trailers)}), decoded.body
        if head.headers.get("content-encoding") == "gzip":
            body = gunzipped(body, _MOST_UNZIPPED)
        return parse(routed, self._models.shape(routed.service.name, routed.operation), head, body, fields)


async def _unread() -> bytes:
    return b""


def _service_of(target: str, headers: tuple[tuple[str, str], ...]) -> tuple[str, str]:
    """The service that the host names, and the target without scheme and host, as a proxy gets them."""
    host = next((value for name, value in headers if name == "host"), "")
    if target.startswith("http://"):
        host, _, rest = target.removeprefix("http://").partition("/")
        target = f"/{rest}"
    name = host.partition(":")[0].removesuffix(DOMAIN).rpartition(".")[2]
    return name, target if target.startswith("/") else f"/{target}"
