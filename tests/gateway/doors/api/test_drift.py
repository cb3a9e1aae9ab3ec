"""Changes from outside at the API: people and pipelines see them, approvers decide."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from gateway.core.model.ids import digest_id
from gateway.core.records.record import Stage
from tests.kit.bodies import sample_record
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
ASG = "aws_autoscaling_group.kafka_consumer"


@pytest.fixture
def drift(gate: Gate, request: pytest.FixtureRequest) -> Iterator[str]:
    """A change from outside that waits for a human; it is gone when the test ends."""
    drift_id = digest_id("fgn", request.node.name)
    body: dict[str, Any] = {
        "address": ASG,
        "attribute": "max_size",
        "resource_type": "aws_autoscaling_group",
        "live": 9,
        "declared": 8,
        "origin": None,
    }
    _record(gate, Stage.DRIFTED, drift_id, **body)
    _record(gate, Stage.DRIFT_DECIDED, drift_id, action="human", rule="R1", reason="Look.")
    yield drift_id
    _record(gate, Stage.DRIFT_SETTLED, drift_id, outcome="gone")


def _record(gate: Gate, stage: Stage, drift: str, **body: Any) -> None:
    record = sample_record(stage=stage, at=datetime.now(UTC), mutation_id=drift, stack="kafka", body=body)
    gate.run(gate.ledger.record_event(record, repeat=True))


def _ask(gate: Gate, actor: str, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    headers = {**gate.bearer(actor), "Content-Type": "application/json"}
    reply = httpx.request(method, f"{gate.url}/v1{path}", headers=headers, json=body, timeout=300)
    return reply.status_code, reply.json()


@pytest.mark.parametrize(("actor", "status"), [("human", 200), ("pipeline", 200), ("agent", 403), ("service", 403)])
@pytest.mark.parametrize("path", ["/drift", "/heal/report"])
def test_who_sees_it(gate: Gate, drift: str, actor: str, status: int, path: str) -> None:
    assert _ask(gate, actor, "GET", path)[0] == status


def test_an_open_change_is_listed_with_what_was_decided(gate: Gate, drift: str) -> None:
    _, reply = _ask(gate, "human", "GET", "/drift")
    [found] = [each for each in reply["drift"] if each["id"] == drift]
    assert (found["live"], found["declared"], found["action"], found["needs_human"]) == (9, 8, "human", True)


def test_an_approver_decides_and_it_is_recorded(gate: Gate, drift: str) -> None:
    body = {"action": "quarantine", "reason": "Nobody knows why."}
    status, reply = _ask(gate, "human", "POST", f"/drift/{drift}/decide", body)
    assert (status, reply["drift"]["decided_by"], reply["drift"]["action"]) == (200, "human", "quarantine")
    record = gate.records(stage=Stage.DRIFT_DECIDED, mutation_id=drift)[-1]
    assert (record.actor, record.body.members["reason"]) == ("human", "Nobody knows why.")
    dry = {
        "service": "autoscaling",
        "operation": "UpdateAutoScalingGroup",
        "parameters": {"AutoScalingGroupName": "kafka-consumer-processor-asg", "MaxSize": 7},
        "dry_run": True,
    }
    _, held = _ask(gate, "pipeline", "POST", "/mutations", dry)
    assert "quarantine.foreign" in json.dumps(held)


@pytest.mark.parametrize(
    ("actor", "body", "status"),
    [
        ("pipeline", {"action": "revert", "reason": "x"}, 403),
        ("agent", {"action": "revert", "reason": "x"}, 403),
        ("human", {"action": "human", "reason": "x"}, 400),
        ("human", {"action": "revert", "reason": " "}, 400),
        ("human", {"action": "revert"}, 400),
    ],
)
def test_anything_else_is_refused(gate: Gate, drift: str, actor: str, body: Any, status: int) -> None:
    assert _ask(gate, actor, "POST", f"/drift/{drift}/decide", body)[0] == status


def test_what_is_not_open_cannot_be_decided(gate: Gate) -> None:
    assert _ask(gate, "human", "POST", "/drift/fgn_none/decide", {"action": "leave", "reason": "x"})[0] == 404


def test_the_report_counts(gate: Gate, drift: str) -> None:
    _, reply = _ask(gate, "human", "GET", "/heal/report")
    assert reply["report"]["open"] >= 1
