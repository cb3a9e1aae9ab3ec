"""Decisions are reported in the form of OPA's decision log, each at least once, and the past is not reported."""

import ipaddress
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from gateway.core.errors import PolicyUnavailable
from gateway.core.outbound.client import OutboundClient
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Record
from gateway.core.settings.policy import ControlPlaneSettings
from gateway.policy.control_plane import ControlPlane, decision_events
from tests.kit.bundle_server import BundleServer, bundle_server
from tests.kit.hold_records import held_record

pytestmark = pytest.mark.enable_socket
LABELS = {"id": "gateway-1", "app": "sentinel", "version": "0"}


@dataclass(slots=True)
class Queries:
    """Records of decisions."""

    kept: list[Record] = field(default_factory=list)

    async def records(self, query: RecordQuery) -> Sequence[Record]:
        """Those after a place, the newest first if asked so."""
        found = [each for each in self.kept if each.seq > query.after_seq]
        return (found[::-1] if query.newest_first else found)[: query.limit]


@pytest.fixture
def server() -> Iterator[BundleServer]:
    with bundle_server() as state:
        yield state


def plane(server: BundleServer, directory: Path, queries: Any) -> ControlPlane:
    settings = ControlPlaneSettings(
        url=server.url,
        bundle="b.tar.gz",
        key_file=directory / "key",
        private_addresses=("127.0.0.0/8",),
        decision_logs=True,
    )
    client = OutboundClient(seconds=30, most_bytes=1000, networks=(ipaddress.ip_network("127.0.0.0/8"),))
    none: Any = None
    return ControlPlane(
        settings=settings, engine=none, queries=queries, directory=directory, labels=LABELS, client=client
    )


def test_an_event_has_the_members_of_opas() -> None:
    (event,) = decision_events(held_record(seq=7), "sentinel", LABELS)
    assert event["path"] == "sentinel/guardrails/result"
    assert (event["labels"], event["req_id"], event["erased"]) == (LABELS, 7, ["/input"])
    assert event["result"]["verdict"] == "hold"
    assert event["result"]["findings"][0]["id"] == "guardrail.wide"
    assert event["timestamp"].endswith("Z")
    assert set(event) >= {"decision_id", "bundles", "requested_by", "metrics"}


async def test_decisions_are_reported_from_now_on_and_again_until_they_are_taken(
    server: BundleServer, tmp_path: Path
) -> None:
    queries = Queries([held_record(seq=3)])
    control = plane(server, tmp_path, queries)
    await control.report_decisions()
    assert server.reported["logs"] == []
    queries.kept += [held_record(seq=5), held_record(seq=6)]
    server.refuses = True
    with pytest.raises(PolicyUnavailable, match=r"answered /logs with status 503\. It is sent again later"):
        await control.report_decisions()
    server.refuses = False
    await plane(server, tmp_path, queries).report_decisions()
    assert [[each["req_id"] for each in batch] for batch in server.reported["logs"]] == [[5, 6]]
    await control.report_decisions()
    assert len(server.reported["logs"]) == 1
