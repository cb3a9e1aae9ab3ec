"""Evidence on whole gateways: files of vulnerabilities and windows, and two gateways on one ledger."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.core.model.signal import SignalScope, SignalState
from gateway.core.records.record import Stage
from gateway.core.settings.signals import ConcernSettings, SignalForm, SignalSourceSettings
from tests.kit.gate import ASG, Gate
from tests.kit.history import event

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
KAFKA = (ConcernSettings(stack="kafka"),)
SCOPES = (SignalScope(stack="kafka"),)
FOUND = {"id": "GHSA-1", "aliases": ["CVE-2026-1"], "modified": "2026-11-01T00:00:00Z"}


@pytest.fixture(scope="module")
def feeds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a file of vulnerabilities and a calendar with a window that is open now."""
    directory = tmp_path_factory.mktemp("feeds")
    (directory / "osv.json").write_text(json.dumps([FOUND]))
    begin = (datetime.now(UTC) - timedelta(hours=1)).strftime("%Y%m%dT%H%M%SZ")
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:x", "BEGIN:VEVENT", "UID:launch-7", f"DTSTART:{begin}"]
    text = "\r\n".join([*lines, "DURATION:P1D", "SUMMARY:Launch 7", "END:VEVENT", "END:VCALENDAR", ""])
    (directory / "launches.ics").write_text(text)
    return directory


@pytest.fixture(scope="module")
def gates(tmp_path_factory: pytest.TempPathFactory, feeds: Path) -> Iterator[tuple[Gate, Gate]]:
    """Two gateways with the same sources on one ledger."""
    sources = (
        SignalSourceSettings(name="alerts", form=SignalForm.DATADOG, secret_env="X", concerns=KAFKA),
        SignalSourceSettings(name="osv", form=SignalForm.OSV, path=feeds / "osv.json", concerns=KAFKA),
        SignalSourceSettings(name="launches", form=SignalForm.CALENDAR, path=feeds / "launches.ics", concerns=KAFKA),
    )
    first = Gate(directory=tmp_path_factory.mktemp("first"), signals=sources)
    with (
        first,
        Gate(directory=tmp_path_factory.mktemp("second"), signals=sources, data=first.directory / "data") as second,
    ):
        yield first, second


@pytest.fixture
def pair(gates: tuple[Gate, Gate]) -> Iterator[tuple[Gate, Gate]]:
    """The two gateways, without claims of an earlier test."""
    yield gates
    gates[0].release_all()


def _scale(gate: Gate, size: int, motivation: str, *evidence: str, dry_run: bool = False) -> Any:
    body = {
        "service": "autoscaling",
        "operation": "SetDesiredCapacity",
        "parameters": {"AutoScalingGroupName": ASG, "DesiredCapacity": size},
        "motive": {"intent": "security", "motivation": motivation, "evidence": evidence},
        "dry_run": dry_run,
    }
    reply = httpx.post(f"{gate.url}/v1/mutations", json=body, headers=gate.bearer("agent"), timeout=300)
    assert reply.status_code == 200, reply.text
    return reply.json()


def _proof(gate: Gate) -> list[str]:
    [claim] = gate.run(gate.ledger.claims())
    return list(claim.proof)


def _until(happened: Callable[[], bool]) -> None:
    """Wait until it has happened."""
    for _ in range(3_000):
        if happened():
            return
        time.sleep(0.1)
    pytest.fail("it did not happen within 300 s")


def test_a_vulnerability_is_proven_while_the_file_has_it(pair: tuple[Gate, Gate], feeds: Path) -> None:
    gate, _ = pair
    _scale(gate, 6, "vulnerability", "cve-2026-1")
    mutation = gate.run(gate.ledger.claims())[0].mutation_id
    assert len(_proof(gate)) == 1
    [signal] = gate.records(stage=Stage.SIGNALLED)
    assert (signal.body.members["key"], signal.body.members["state"]) == ("GHSA-1", "open")
    (feeds / "osv.json").write_text(json.dumps([{**FOUND, "withdrawn": "2026-11-02T00:00:00Z"}]))
    _until(lambda: _proof(gate) == [])
    assert len(gate.records(stage=Stage.DOWNGRADED, mutation_id=mutation)) == 1
    assert [each.body.members["state"] for each in gate.records(stage=Stage.SIGNALLED)] == ["open", "closed"]


def test_a_number_that_the_file_does_not_have_proves_nothing(pair: tuple[Gate, Gate]) -> None:
    _scale(pair[0], 6, "vulnerability", "CVE-2026-99")
    assert _proof(pair[0]) == []
    decided = pair[0].records(stage=Stage.DECIDED)[-1]
    assert decided.body.members["evidence"] == {"proven": False, "signals": []}


def test_a_launch_is_proven_by_its_window(pair: tuple[Gate, Gate]) -> None:
    _scale(pair[0], 6, "launch", "Launch 7")
    assert len(_proof(pair[0])) == 1


def test_a_dry_run_records_no_signal(pair: tuple[Gate, Gate]) -> None:
    before = len(pair[0].records(stage=Stage.SIGNALLED))
    _scale(pair[0], 7, "launch", "launch-7", dry_run=True)
    assert len(pair[0].records(stage=Stage.SIGNALLED)) == before


def test_a_signal_that_one_gateway_received_proves_at_the_other(pair: tuple[Gate, Gate]) -> None:
    first, second = pair
    told = event("K-1", at=datetime.now(UTC), source="alerts")
    first.run(first.ledger.record_signals([replace(told, scopes=SCOPES)], datetime.now(UTC)))

    def proven() -> bool:
        second.release_all()
        _scale(second, 6, "incident", "k-1")
        return _proof(second) == [told.id]

    _until(proven)
    closed = event("K-1", SignalState.CLOSED, at=datetime.now(UTC), source="alerts")
    first.run(first.ledger.record_signals([closed], datetime.now(UTC)))
    assert _proof(second) == []  # in the same transaction, so for every gateway at once
