"""Drift and write-back: what differs, who decides about it, and what is left to a human."""

from datetime import UTC, datetime

import httpx
import pytest

from gateway.core.model.json import Json
from gateway.core.records.record import Stage
from tests.gateway.doors.console.test_approvals import propose
from tests.kit.bodies import sample_record, written_back
from tests.kit.console import text_of, visitor
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
ADDRESS = "aws_sqs_queue.audit"


def test_the_page_says_whether_anybody_looked(gate: Gate) -> None:
    client = visitor(gate, "human")
    page = text_of(client.get("/console/drift?cause=foreign&stack=kafka"))
    assert "No difference is known, because nobody has looked." in page
    assert "Nobody has ever looked for changes from outside of kafka" in page
    assert "Live and code agree" not in page
    look = sample_record(stage=Stage.DRIFT_LOOKED, at=datetime.now(UTC), mutation_id="look_1", stack="kafka", body={})
    gate.run(gate.ledger.record_event(look, repeat=True))
    assert "Live and code agree, as far as was looked: kafka at" in text_of(
        client.get("/console/drift?cause=foreign&stack=kafka")
    )


def found(gate: Gate, drift_id: str, live: int = 99, address: str = ADDRESS) -> None:
    """Record a change from outside, as the reconciler does."""
    origin: dict[str, Json] = {"actor": "<b>mallory</b>", "event": "SetQueueAttributes", "at": "2026-11-22T00:00:00Z", "event_id": "e", "service": False}  # fmt: skip
    body: dict[str, Json] = {"address": address, "attribute": "visibility_timeout_seconds", "resource_type": "aws_sqs_queue", "live": live, "declared": 60, "sensitive": False, "origin": origin}  # fmt: skip
    record = sample_record(stage=Stage.DRIFTED, at=datetime.now(UTC), mutation_id=drift_id, stack="kafka", body=body)
    resources = [(address, "visibility_timeout_seconds")]
    assert gate.run(gate.ledger.record_event(record, resources=resources))


def test_a_person_decides_about_a_change_from_outside(gate: Gate) -> None:
    found(gate, "fgn_1")
    client = visitor(gate, "human")
    page = client.get("/console/drift?cause=foreign")
    assert "-60 +99" in text_of(page)
    assert "<b>mallory" not in page.text
    assert client.post("/console/drift/fgn_1/decide", data={"action": "", "reason": "It is fine"}).status_code == 400
    assert client.post("/console/drift/fgn_1/decide", data={"action": "leave", "reason": "."}).status_code == 400
    done = client.post("/console/drift/fgn_1/decide", data={"action": "leave", "reason": "A controller owns it"})
    assert done.headers["location"] == "/console/drift?done=decided"
    decided = gate.records(mutation_id="fgn_1", stage=Stage.DRIFT_DECIDED)[-1]
    assert (decided.actor, decided.body.members["reason"]) == ("human", "A controller owns it")


def test_the_page_shows_sixty_differences_and_says_how_many_more_there_are(gate: Gate) -> None:
    many = [f"aws_sqs_queue.many{number}" for number in range(60)]
    for number, address in enumerate(many):
        found(gate, f"fgn_many{number}", 70 + number, address)
    listed = httpx.get(f"{gate.url}/v1/drift", headers=gate.bearer("human"), timeout=300).json()["drift"]
    page = visitor(gate, "human").get("/console/drift")
    assert page.text.count("<article") == 60
    assert f"… and {len(listed) - 60} more: choose a stack or a cause." in text_of(page)
    assert len(listed) > 60
    foreign = visitor(gate, "human").get("/console/drift?cause=foreign&stack=nowhere")
    assert "more: choose a stack" not in text_of(foreign)


def test_who_may_not_decide_is_told_why(gate: Gate) -> None:
    found(gate, "fgn_2", 98)
    page = visitor(gate, "pipeline").get("/console/drift")
    assert "You cannot decide about it. Only a human with the role" in text_of(page)
    assert "<button>Decide" not in page.text
    given = {"action": "leave", "reason": "because I can"}
    assert visitor(gate, "pipeline").post("/console/drift/fgn_2/decide", data=given).status_code == 403
    assert visitor(gate, "agent").get("/console/drift").status_code == 403


def test_our_own_changes_are_told_from_those_of_others(gate: Gate) -> None:
    mutation = propose(gate, "agent", 6).json()["mutation"]["id"]
    shown = text_of(visitor(gate, "human").get("/console/drift?cause=applied&stack=kafka"))
    assert "desired_capacity applied" in shown
    assert mutation in shown
    gate.release_all()


def test_what_is_left_and_what_was_written_is_listed(gate: Gate) -> None:
    mutation = propose(gate, "agent", 6).json()["mutation"]["id"]
    left: list[Json] = [{"address": "aws_x.y", "attribute": "z", "reason": "No editor <fits>", "chain": ["var.z"]}]
    body: dict[str, Json] = {"branch": "sentinel/kafka", "commit": "0" * 40, "files": ["main.tf"], "left": left}
    gate.run(gate.ledger.record_reconciliation(mutation, at=datetime.now(UTC), body=written_back(body)))
    shown = text_of(visitor(gate, "human").get("/console/write-back"))
    assert 'write back aws_x.y.z No editor <fits> The steps of the trace ["var.z"]' in shown
    assert f"desired capacity 4 → 6 on kafka_consumer kafka {'0' * 12} main.tf" in shown
    page = visitor(gate, "human").get(f"/console/mutations/{mutation}")
    assert "Its text is not in the checkout of this gateway" in page.text
    gate.release_all()
