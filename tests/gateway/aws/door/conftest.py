"""What the tests of the AWS wire format share: requests as botocore writes them, and generated parameters of every shape."""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

import botocore.serialize
import pytest

from gateway.aws.door.decoder import AwsDecoder
from gateway.aws.door.request_head import head_of
from gateway.aws.models import call_classes
from gateway.aws.models.routing_index import Protocol, RoutingIndex
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.inbound import Inbound
from gateway.core.service_models import ServiceModels

NOW = datetime(2026, 11, 21, 1, 2, 3, tzinfo=UTC)
REGION = "eu-west-1"


@pytest.fixture(scope="session")
def models() -> ServiceModels:
    return ServiceModels()


@pytest.fixture(scope="session")
def decoder(routes: RoutingIndex, table: call_classes.CallClassTable, models: ServiceModels) -> AwsDecoder:
    return AwsDecoder(
        account="123456789012",
        regions=(REGION, "us-east-1"),
        max_body_bytes=1 << 20,
        index=routes,
        classes=table,
        models=models,
    )


@pytest.fixture
def caller() -> Caller:
    return Caller(actor="agent-scaler", kind=ActorKind.AGENT, key_id="SNTLAAAAAAAAAAAAAAAA")


@dataclass(frozen=True, kw_only=True)
class Wire:
    """Makes inbound requests that carry a credential scope, unsigned: verifying is not the decoder's part."""

    def inbound(
        self,
        signing: str,
        *,
        method: str = "POST",
        target: str = "/",
        headers: dict[str, str] | None = None,
        more: tuple[tuple[str, str], ...] = (),
        body: bytes = b"",
        region: str = REGION,
        unsigned: tuple[str, ...] = (),
        payload: str = "",
    ) -> Inbound:
        given = {"host": "gateway.internal", "x-amz-date": "20261121T010203Z", **(headers or {})}
        if payload:
            given["x-amz-content-sha256"] = payload
        signed = ";".join(sorted(name for name in given if name not in unsigned))
        proof = (
            f"AWS4-HMAC-SHA256 Credential=SNTLAAAAAAAAAAAAAAAA/20261121/{region}/{signing}/aws4_request, "
            f"SignedHeaders={signed}, Signature={'0' * 64}"
        )
        return Inbound(
            method=method,
            target=target,
            headers=(*given.items(), ("authorization", proof), *more),
            read_body=_once(body),
            received_at=NOW,
        )

    def form(self, signing: str, text: str, **more: Any) -> Inbound:
        headers = {"content-type": "application/x-www-form-urlencoded; charset=utf-8", **more.pop("headers", {})}
        return self.inbound(signing, headers=headers, body=text.encode(), **more)

    def json(self, signing: str, target: str, body: bytes, **more: Any) -> Inbound:
        headers = {"content-type": "application/x-amz-json-1.0", "x-amz-target": target, **more.pop("headers", {})}
        return self.inbound(signing, headers=headers, body=body, **more)

    def serialized(
        self, signing: str, protocol: str, operation: Any, parameters: dict[str, Any], *, named: str = ""
    ) -> Inbound:
        """The request that botocore's serializer makes of these parameters; `named`: the endpoint names the service."""
        made = botocore.serialize.create_serializer(protocol, include_validation=False).serialize_to_request(
            parameters, operation
        )
        headers = {
            key.lower(): value.decode() if isinstance(value, bytes) else str(value)
            for key, value in made["headers"].items()
        }
        body = made["body"]
        if isinstance(body, dict):
            body = urlencode(body)
            headers["content-type"] = "application/x-www-form-urlencoded; charset=utf-8"
        query = made["query_string"]
        query = query if isinstance(query, str) else urlencode(query, doseq=True)
        path, _, literals = made["url_path"].partition("?")
        path = f"/_svc/{named}{path}" if named else path
        text = "&".join(part for part in (literals, query) if part)
        return self.inbound(
            signing,
            method=made["method"],
            target=f"{path}?{text}" if text else path,
            headers=headers,
            body=body.encode() if isinstance(body, str) else bytes(body.read() if hasattr(body, "read") else body),
        )


def _once(body: bytes) -> Callable[[], Awaitable[bytes]]:
    async def read() -> bytes:
        return body

    return read


@pytest.fixture(scope="session")
def wire() -> Wire:
    return Wire()


@dataclass(frozen=True, kw_only=True)
class Generated:
    """Parameters of an operation, made from its input shape: every member (`full`), or the required ones."""

    full: bool = True

    def parameters(self, operation: Any) -> dict[str, Any]:
        shape = operation.input_shape
        return {} if shape is None else self._structure(shape, 4, top=True) or {}

    def _structure(self, shape: Any, depth: int, *, top: bool = False) -> dict[str, Any] | None:
        if shape.is_document_type:
            return {"a": [1, "b", True]}
        if shape.serialization.get("eventstream") or depth < -8:
            return None
        made: dict[str, Any] = {}
        for name, member in shape.members.items():
            required = name in shape.required_members
            if shape.is_tagged_union and made:
                break
            if not shape.is_tagged_union and ((depth <= 0 or not self.full) and not required):
                continue
            value = None if depth < -6 else self._value(member, depth - 1, member.serialization.get("location"))
            if value is not None:
                made[name] = value
            elif required and not top:
                return None
        if not made and not top and shape.members:
            made = self._least(shape, depth)
        return made if made or top or not shape.members else None

    def _least(self, shape: Any, depth: int) -> dict[str, Any]:
        """One member, a single value if there is one: an empty structure is the same as an absent one in some formats."""
        members = sorted(shape.members.items(), key=lambda pair: pair[1].type_name in ("structure", "list", "map"))
        name, member = members[0]
        value = self._value(member, depth - 1, member.serialization.get("location"))
        return {} if value is None else {name: value}

    def _value(self, shape: Any, depth: int, location: str | None) -> Any:
        match shape.type_name:
            case "structure":
                return self._structure(shape, depth)
            case "list":
                item = None if depth < -6 else self._value(shape.member, depth - 1, location)
                return None if item is None else [item, item]
            case "map":
                key = None if depth < -6 else self._value(shape.key, depth - 1, location)
                value = None if key is None else self._value(shape.value, depth - 1, location)
                return None if value is None else {key: value}
            case "string":
                return self._string(shape, location)
        return {
            "integer": 7,
            "long": 1 << 40,
            "float": 1.5,
            "double": 1.5,
            "boolean": True,
            "timestamp": NOW,
            "blob": b"\x00\xffbin",
        }.get(shape.type_name, "c")

    def _string(self, shape: Any, location: str | None) -> Any:
        if shape.serialization.get("name") == "x-amz-content-sha256":
            return "0" * 64
        if shape.serialization.get("jsonvalue") and location == "header":
            return {"k": "v"}
        if shape.enum:
            return shape.enum[0]
        return {"header": "head-er1", "headers": "head-er1", "uri": "a b&c-ü", "querystring": "x &y+é"}.get(
            location or "", "x <&>\"é'+ =%;y"
        )


@pytest.fixture(scope="session")
def generated() -> Generated:
    return Generated()


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One operation over one of its service's protocols."""

    service: str
    name: str
    protocol: str
    signing: str
    model: Any


@pytest.fixture(scope="session")
def operations(
    routes: RoutingIndex, models: ServiceModels
) -> Callable[[Callable[[str, str], bool]], Iterator[Operation]]:
    """Every (operation, protocol) whose service and name pass the filter."""

    def every(wanted: Callable[[str, str], bool]) -> Iterator[Operation]:
        for service in routes.services.values():
            names = [name for name in sorted(service.operations) if wanted(service.name, name)]
            if not names:
                continue
            model = models.service(service.name)
            for name in names:
                operation = model.operation_model(name)
                for protocol in service.protocols:
                    yield Operation(
                        service=service.name,
                        name=name,
                        protocol=Protocol(protocol).value,
                        signing=service.signing,
                        model=operation,
                    )

    return every


@dataclass(frozen=True, kw_only=True)
class ReadBack:
    """What the wire format made of a request."""

    service: str
    operation: str
    parameters: dict[str, Any]


@pytest.fixture(scope="session")
def read_back(decoder: AwsDecoder) -> Callable[[Inbound], Awaitable[ReadBack]]:
    """Routes and parses a request in full, also where the decoder would leave a read unparsed."""

    async def read(inbound: Inbound) -> ReadBack:
        head = head_of(inbound)
        routed, fields = await decoder._routed(inbound, head, decoder._router.candidates(head))
        parameters = await decoder._parameters(inbound, head, routed, fields)
        return ReadBack(service=routed.service.name, operation=routed.operation, parameters=parameters)

    return read
