"""Consent through a running gateway: two people for a data store, and a human who breaks the glass."""

from typing import Any
from uuid import uuid4

import pytest
from botocore.exceptions import ClientError
from structlog.testing import capture_logs

from gateway.core.model.caller import ActorKind
from gateway.core.records.record import Stage
from tests.gateway.doors.api.test_waiting import act, cancel_replay, mutation_of
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

EMERGENCY = {"reason": "Orders are lost, INC-7"}


@pytest.fixture(scope="module", autouse=True)
def people(gate: Gate) -> None:
    """Two more approvers, and somebody on call."""
    gate.issue("alice", kind=ActorKind.HUMAN, roles=("approver",))
    gate.issue("bob", kind=ActorKind.HUMAN, roles=("approver",))
    gate.issue("oncall", kind=ActorKind.HUMAN, roles=("break-glass",))


def _less_backup(gate: Gate, days: int) -> dict[str, Any]:
    """A pipeline shortens the backups of a database, which two people must approve."""
    try:
        return dict(
            gate.client("rds", "pipeline").modify_db_instance(
                DBInstanceIdentifier="kafka-reports", BackupRetentionPeriod=days, ApplyImmediately=True
            )
        )
    except ClientError as error:
        return dict(error.response)


def _delete(gate: Gate, snapshot: str) -> dict[str, Any]:
    """A pipeline deletes the database, leaving a snapshot."""
    try:
        return dict(
            gate.client("rds", "pipeline").delete_db_instance(
                DBInstanceIdentifier="kafka-reports", FinalDBSnapshotIdentifier=snapshot
            )
        )
    except ClientError as error:
        return dict(error.response)


def test_two_different_people_must_approve_a_change_of_a_data_store(gate: Gate) -> None:
    reply = _less_backup(gate, 1)
    held = mutation_of(reply)
    assert "Once 2 different people have run" in reply["Error"]["Message"]
    one = act(gate, "alice", held, "approve").json()
    assert (one["missing"], one["approvers"]) == (1, ["alice"])
    assert act(gate, "alice", held, "approve").json() == one
    assert _less_backup(gate, 1)["ResponseMetadata"]["HTTPStatusCode"] == 403
    two = act(gate, "bob", held, "approve").json()
    assert (two["missing"], two["approvers"], two["approval_id"]) == (0, ["alice", "bob"], one["approval_id"])
    passed = mutation_of(_less_backup(gate, 1))
    (decided,) = [each for each in gate.records(mutation_id=passed) if each.stage is Stage.DECIDED]
    decision: Any = decided.body.members["decision"]
    assert decision["consent"] == {
        "approval": one["approval_id"],
        "held": held,
        "approvers": ["alice", "bob"],
        "broke_glass": False,
    }
    gate.run(gate.ledger.verify())


def test_a_rejection_withdraws_what_the_first_of_two_consented_to(gate: Gate) -> None:
    held = mutation_of(_delete(gate, "rejected"))
    act(gate, "alice", held, "approve")
    assert act(gate, "bob", held, "reject", {"reason": "Too short."}).is_success
    assert act(gate, "alice", held, "approve").status_code == 403
    assert "Too short." in _delete(gate, "rejected")["Error"]["Message"]
    gate.run(gate.ledger.verify())


def test_who_has_the_role_passes_a_hold_at_once_and_it_is_recorded(gate: Gate) -> None:
    held = mutation_of(_delete(gate, "passed"))
    act(gate, "alice", held, "approve")
    with capture_logs() as logged:
        reply = act(gate, "oncall", held, "break-glass", EMERGENCY)
    assert (reply.status_code, reply.json()["passed_by"]) == (200, "oncall")
    (line,) = [each for each in logged if each["event"] == "glass_broken"]
    assert (line["log_level"], line["by"], line["reason"]) == ("warning", "oncall", EMERGENCY["reason"])
    passed = mutation_of(_delete(gate, "passed"))
    assert passed != held
    (record,) = gate.records(stage=Stage.BROKE_GLASS, mutation_id=held)
    assert (record.actor, record.body.members["reason"]) == ("oncall", EMERGENCY["reason"])
    (decided,) = [each for each in gate.records(mutation_id=passed) if each.stage is Stage.DECIDED]
    decision: Any = decided.body.members["decision"]
    assert (decision["consent"]["broke_glass"], decision["consent"]["approvers"]) == (True, ["oncall"])
    assert _delete(gate, "passed")["ResponseMetadata"]["HTTPStatusCode"] == 403
    gate.run(gate.ledger.verify())


def test_a_human_on_call_passes_a_call_of_their_own(gate: Gate) -> None:
    name = f"n-{uuid4()}"
    held = mutation_of(cancel_replay(gate, name, "oncall"))
    assert act(gate, "oncall", held, "approve").status_code == 403
    assert act(gate, "oncall", held, "break-glass", EMERGENCY).status_code == 200
    assert "Error" not in cancel_replay(gate, name, "oncall")


@pytest.mark.parametrize("actor", ["agent", "pipeline", "human", "alice"])
def test_nobody_else_breaks_the_glass(gate: Gate, actor: str) -> None:
    held = mutation_of(cancel_replay(gate, f"n-{uuid4()}"))
    assert act(gate, actor, held, "break-glass", EMERGENCY).status_code == 403
    assert not gate.records(stage=Stage.BROKE_GLASS, mutation_id=held)


def test_no_agent_has_the_role(gate: Gate) -> None:
    gate.issue("sly", roles=("break-glass", "approver"))
    held = mutation_of(cancel_replay(gate, f"n-{uuid4()}"))
    assert act(gate, "sly", held, "break-glass", EMERGENCY).status_code == 403
    assert act(gate, "sly", held, "approve").status_code == 403


@pytest.mark.parametrize(
    "body", [{}, {"reason": ""}, {"reason": " "}, {"reason": "a\nb"}, {"reason": "x", "lasts": "9d"}]
)
def test_without_a_reason_nothing_is_passed(gate: Gate, body: dict[str, str]) -> None:
    held = mutation_of(cancel_replay(gate, f"n-{uuid4()}"))
    reply = act(gate, "oncall", held, "break-glass", body or {"lasts": "1h"})
    assert reply.status_code == 400


def test_a_denial_stays_a_denial_and_what_was_decided_is_not_passed(gate: Gate) -> None:
    held = mutation_of(cancel_replay(gate, f"n-{uuid4()}"))
    act(gate, "human", held, "reject", {"reason": "No."})
    assert act(gate, "oncall", held, "break-glass", EMERGENCY).status_code == 403
    assert act(gate, "oncall", "mut_none", "break-glass", EMERGENCY).status_code == 404
