"""The routing index: the data that identifies each AWS operation in a request, for every service that botocore knows.

It is generated from botocore's models (`python -m gateway.aws.models.routing_index` writes `routes.json.gz` beside this file), because
loading the models takes seconds and loading the index milliseconds. It is used only with the botocore version it was generated from.
The facts about a service are read when a request first names it: those of all services take 10 MB.
"""

import gzip
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import botocore
import msgspec

from gateway.aws.models.lazy_entries import LazyEntries
from gateway.core.gzip_bytes import gzipped

SHIPPED = Path(__file__).with_name("routes.json.gz")
_MODELS = Path(botocore.__file__).with_name("data")


class Protocol(StrEnum):
    """The six wire formats of AWS, named as botocore names them."""

    EC2 = "ec2"
    QUERY = "query"
    JSON = "json"
    REST_JSON = "rest-json"
    REST_XML = "rest-xml"
    CBOR = "smithy-rpc-v2-cbor"


@dataclass(frozen=True, slots=True, kw_only=True)
class RestRoute:
    """The parts of a request that identify one operation of a REST service."""

    method: str
    template: str
    """The URI template without its query, e.g. `/{Bucket}/{Key+}`."""
    query: tuple[tuple[str, str | None], ...]
    """Required query keys, each with its required value; None: any value."""
    headers: tuple[str, ...]
    """Required headers, in lower case."""
    operation: str
    deprecated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """The facts about one service that the router needs."""

    name: str
    """botocore's name, e.g. `autoscaling`."""
    signing: str
    """Signing name, as in the credential scope."""
    target: str
    """Prefix of `X-Amz-Target`, and service name in the path of rpc-v2; empty if the service has none."""
    version: str
    """API version, which requests of the query protocols contain."""
    protocols: tuple[Protocol, ...]
    """All protocols of the service, its preferred one first."""
    json_version: str
    query_compatible: bool
    """Whether its JSON errors also contain the code of its older query protocol."""
    operations: frozenset[str]
    labelled_hosts: frozenset[str]
    """Operations whose host contains a parameter."""
    compressible: frozenset[str]
    """Operations whose body a client may send compressed."""
    routes: tuple[RestRoute, ...]

    def is_named(self, name: str) -> bool:
        """Whether a target or an rpc-v2 path means this service: by botocore's prefix, or by the name of its Smithy shape without a namespace.

        Smithy's awsJson and rpc-v2 protocols send the shape's name, as the SDKs for Go and Java do; botocore's prefix may have a namespace.
        """
        return bool(self.target) and name in (self.target, self.target.rpartition(".")[2])

    @property
    def form(self) -> Protocol | None:
        """The service's form protocol (`ec2` or `query`), if any."""
        return next((protocol for protocol in self.protocols if protocol in (Protocol.EC2, Protocol.QUERY)), None)

    @property
    def rest(self) -> Protocol | None:
        """The service's REST protocol (`rest-json` or `rest-xml`), if any."""
        return next(
            (protocol for protocol in self.protocols if protocol in (Protocol.REST_JSON, Protocol.REST_XML)), None
        )


class RoutingIndex:
    """Every service, by name and by signing name."""

    def __init__(self, services: Mapping[str, Service], signing: Mapping[str, str]) -> None:
        """`signing` is the signing name of each of the services, known without reading it."""
        self.services = services
        self._names: dict[str, list[str]] = {}
        for name, signed in signing.items():
            self._names.setdefault(signed, []).append(name)
        self._groups: dict[str, tuple[Service, ...]] = {}

    def signed_as(self, name: str) -> tuple[Service, ...]:
        """The services whose signing name is `name`; empty if there are none."""
        group = self._groups.get(name)
        if group is None and name in self._names:
            group = self._groups[name] = tuple(self.services[each] for each in self._names[name])
        return group or ()


class _Signing(msgspec.Struct):
    signing: str


class _Index(msgspec.Struct):
    services: dict[str, msgspec.Raw]
    botocore: str = ""


class _SigningNames(msgspec.Struct):
    services: dict[str, _Signing]


def load(path: Path = SHIPPED) -> RoutingIndex:
    """The index for the installed botocore: the shipped one, or a newly generated one (takes seconds) if the versions differ."""
    try:
        text = gzip.decompress(path.read_bytes())
        index = msgspec.json.decode(text, type=_Index)
    except (OSError, ValueError, EOFError):
        index = None
    if index is None or index.botocore != botocore.__version__:
        text = _text(build())
        index = msgspec.json.decode(text, type=_Index)
    names = msgspec.json.decode(text, type=_SigningNames).services
    return RoutingIndex(LazyEntries(index.services, _service), {name: each.signing for name, each in names.items()})


@lru_cache(maxsize=1)
def shipped() -> RoutingIndex:
    """The index for the installed botocore, read once per process; it never changes."""
    return load()


def build() -> dict[str, Any]:
    """The index as plain data, generated from the installed botocore's models."""
    return {
        "botocore": botocore.__version__,
        "services": {name: _entry(model) for name, model in models()},
    }


def models() -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and newest raw model of every service that botocore ships. The user's own model paths are ignored."""
    for directory in sorted(_MODELS.iterdir()):
        found = sorted(directory.glob("*/service-2.json*"))
        if found:
            raw = found[-1].read_bytes()
            yield directory.name, json.loads(gzip.decompress(raw) if found[-1].suffix == ".gz" else raw)


def _entry(model: dict[str, Any]) -> dict[str, Any]:
    metadata = model["metadata"]
    operations = model["operations"]
    known = set(Protocol)
    return {
        "signing": metadata.get("signingName") or metadata["endpointPrefix"],
        "target": metadata.get("targetPrefix", ""),
        "version": metadata["apiVersion"],
        "protocols": [name for name in metadata.get("protocols") or [metadata["protocol"]] if name in known],
        "json_version": metadata.get("jsonVersion", "1.0"),
        "query_compatible": "awsQueryCompatible" in metadata,
        "operations": sorted(operations),
        "labelled_hosts": sorted(
            name for name, value in operations.items() if "{" in value.get("endpoint", {}).get("hostPrefix", "")
        ),
        "compressible": sorted(
            name
            for name, value in operations.items()
            if "gzip" in value.get("requestcompression", {}).get("encodings", ())
        ),
        "routes": [_route(name, value, model["shapes"]) for name, value in sorted(operations.items())]
        if metadata["protocol"].startswith("rest")
        else [],
    }


def _route(name: str, operation: dict[str, Any], shapes: dict[str, Any]) -> list[Any]:
    http = operation["http"]
    template, _, literals = http["requestUri"].partition("?")
    query: list[tuple[str, str | None]] = [
        (key, value or None) for key, value in parse_qsl(literals, keep_blank_values=True)
    ]
    headers: list[str] = []
    shape = shapes[operation["input"]["shape"]] if "input" in operation else {}
    for member in shape.get("required", ()):
        bound = shape["members"][member]
        key = bound.get("locationName", member)
        if bound.get("location") == "querystring" and key not in dict(query):
            query.append((key, None))
        elif bound.get("location") == "header":
            headers.append(key.lower())
    return [http["method"], template, query, headers, name, bool(operation.get("deprecated"))]


def _service(name: str, text: msgspec.Raw) -> Service:
    entry = json.loads(bytes(text))
    return Service(
        name=name,
        signing=entry["signing"],
        target=entry["target"],
        version=entry["version"],
        protocols=tuple(Protocol(protocol) for protocol in entry["protocols"]),
        json_version=entry["json_version"],
        query_compatible=entry["query_compatible"],
        operations=frozenset(entry["operations"]),
        labelled_hosts=frozenset(entry["labelled_hosts"]),
        compressible=frozenset(entry["compressible"]),
        routes=tuple(
            RestRoute(
                method=method,
                template=template,
                query=tuple((key, value) for key, value in query),
                headers=tuple(headers),
                operation=operation,
                deprecated=deprecated,
            )
            for method, template, query, headers, operation, deprecated in entry["routes"]
        ),
    )


def packed(data: dict[str, Any]) -> bytes:
    """The data as compressed JSON; the same data gives the same bytes."""
    return gzipped(_text(data))


def _text(data: dict[str, Any]) -> bytes:
    return json.dumps(data, separators=(",", ":"), sort_keys=True).encode()


def main() -> None:
    """Regenerate the shipped index."""
    data = build()
    SHIPPED.write_bytes(packed(data))
    routes = sum(len(entry["routes"]) for entry in data["services"].values())
    sys.stdout.write(
        f"{SHIPPED.name}: botocore {data['botocore']}, {len(data['services'])} services, {routes} routes\n"
    )


if __name__ == "__main__":
    main()
