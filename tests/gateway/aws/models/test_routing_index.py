"""The routing index matches botocore's models, loads fast, and is regenerated for another botocore version."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from gateway.aws.models import routing_index
from gateway.aws.models.routing_index import Protocol, RoutingIndex


@pytest.mark.slow
def test_the_shipped_index_is_what_the_models_say() -> None:
    assert routing_index.packed(routing_index.build()) == routing_index.SHIPPED.read_bytes(), (
        "run `python -m gateway.aws.models.routing_index`"
    )


MAX_BUFFERED_BYTES: dict[str, Any] = {"services": {}}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no gzip",
        gzip.compress(b"no JSON"),
        gzip.compress(json.dumps({"botocore": "0.1", **MAX_BUFFERED_BYTES}).encode()),
    ],
    ids=["empty", "no gzip", "no JSON", "another botocore"],
)
def test_an_index_of_another_botocore_is_regenerated(
    tmp_path: Path, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "routes.json.gz"
    path.write_bytes(content)
    monkeypatch.setattr(routing_index, "build", lambda: {"services": {"made": _entry("made")}})
    assert list(routing_index.load(path).services) == ["made"]


def test_the_index_of_the_installed_botocore_is_taken_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        routing_index, "build", lambda: pytest.fail("the shipped index does not fit the locked botocore")
    )
    assert len(routing_index.load().services) > 400


def test_services_are_found_by_signing_name(routes: RoutingIndex) -> None:
    assert {service.name for service in routes.signed_as("rds")} == {"rds", "docdb", "neptune"}
    assert routes.signed_as("nobody") == ()


def test_every_service_speaks_a_known_protocol(routes: RoutingIndex) -> None:
    assert all(service.protocols for service in routes.services.values())
    assert {protocol for service in routes.services.values() for protocol in service.protocols} == set(Protocol)


def _entry(name: str) -> dict[str, Any]:
    return {
        "signing": name,
        "target": "",
        "version": "1",
        "protocols": ["json"],
        "json_version": "1.0",
        "query_compatible": False,
        "operations": [],
        "labelled_hosts": [],
        "compressible": [],
        "routes": [],
    }
