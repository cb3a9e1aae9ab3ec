"""`sentinel drift` and `sentinel heal`, against a running gateway."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from gateway.core.model.ids import digest_id
from gateway.core.records.record import Stage
from tests.kit.bodies import sample_record
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

Document = Callable[..., tuple[int, Any]]
Speak = Callable[..., None]
DRIFT = digest_id("fgn", "cli")


@pytest.fixture
def drift(gate: Gate) -> Iterator[str]:
    body: dict[str, Any] = {"address": "aws_sqs_queue.a", "attribute": "delay_seconds", "live": 5, "declared": 0, "origin": {"actor": "[bold]bob", "event": "sqs:X", "at": "2026-01-02T00:00:00+00:00"}}  # fmt: skip
    for stage, members in ((Stage.DRIFTED, body), (Stage.DRIFT_DECIDED, {"action": "human", "rule": "R1", "reason": "Look."})):  # fmt: skip
        record = sample_record(stage=stage, at=datetime.now(UTC), mutation_id=DRIFT, stack="kafka", body=members)
        gate.run(gate.ledger.record_event(record, repeat=True))
    yield DRIFT
    gone = sample_record(stage=Stage.DRIFT_SETTLED, at=datetime.now(UTC), mutation_id=DRIFT, stack="kafka", body={"outcome": "gone"})  # fmt: skip
    gate.run(gate.ledger.record_event(gone, repeat=True))


def test_it_is_listed_decided_and_reported(
    drift: str, gate: Gate, speak_as: Speak, sentinel: Callable[..., Any], document: Document
) -> None:
    speak_as(gate, "human")
    listed = sentinel("drift", "list")
    assert listed.exit_code == 0, listed.output
    assert "[bold]bob" in listed.stdout.replace("\n", "")
    code, reply = document("drift", "list", "--json")
    assert (code, [each["action"] for each in reply["drift"] if each["id"] == drift]) == (0, ["human"])
    done = sentinel("drift", "decide", drift, "codify", "--reason", "We want it.")
    assert (done.exit_code, done.stdout) == (0, "Decided: codify. The reconciler carries it out.\n"), done.output
    report = sentinel("heal", "report")
    assert "mean seconds to repair" in report.stdout, report.output
    code, reply = document("heal", "report", "--json")
    assert reply["report"]["found"] >= 1


def test_that_nothing_is_known_is_told_from_nobody_looked(
    gate: Gate, speak_as: Speak, sentinel: Callable[..., Any], document: Document
) -> None:
    speak_as(gate, "human")
    _, reply = document("drift", "list", "--json")
    if reply["looked"] == {"kafka": None}:  # another test of this gateway may have looked
        assert "Nothing drifted" not in sentinel("drift", "list").stdout
        assert "Nobody has ever looked" in sentinel("drift", "list").stdout
    look = sample_record(stage=Stage.DRIFT_LOOKED, at=datetime.now(UTC), mutation_id="look_1", stack="kafka", body={})
    gate.run(gate.ledger.record_event(look, repeat=True))
    listed = sentinel("drift", "list").stdout
    assert "Nothing drifted, as far as was looked: kafka at 2" in listed
    assert "Nothing looks for changes from outside any more" in listed
    assert document("drift", "list", "--json")[1]["looked"]["kafka"] is not None


def test_a_refusal_is_a_sentence(drift: str, gate: Gate, speak_as: Speak, document: Document) -> None:
    speak_as(gate, "pipeline")
    code, reply = document("drift", "decide", drift, "revert", "--reason", "x", "--json")
    assert (code, reply["code"]) == (1, "not_allowed")
    code, reply = document("drift", "decide", drift, "fly", "--reason", "x", "--json")
    assert code == 1
