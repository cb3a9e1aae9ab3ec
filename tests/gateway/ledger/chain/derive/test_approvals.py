"""One approval of a call is unused at most, and a decision of a human concerns every hold of the same call."""

import json
from typing import Any

import pytest

from gateway.core.errors import LedgerBroken
from gateway.core.model.json import canonical_text
from gateway.core.records.record import Stage
from gateway.ledger.chain.derive.approvals import ExpectedApprovals, ExpectedHolds
from gateway.ledger.chain.derive.expected_table import text_digest
from gateway.ledger.store.statements import Session

HELD = {"decision": {"verdict": "hold", "carried_out": False}, "call": {"digest": "d"}, "caller": {}, "motive": None}
APPROVAL = {"requester": "agent", "digest": "d", "until": "later"}


@pytest.fixture
def holds(session: Session) -> ExpectedHolds:
    return ExpectedHolds(session)


@pytest.fixture
def approvals(session: Session) -> ExpectedApprovals:
    return ExpectedApprovals(session)


@pytest.mark.parametrize("decision", [{"verdict": "deny"}, {"verdict": "hold", "carried_out": True}])
def test_only_what_waits_is_a_hold(holds: ExpectedHolds, feed: Any, decision: dict[str, Any]) -> None:
    feed(holds, Stage.DECIDED, "m", decision=decision)
    assert not holds.table.rows


def test_the_summary_is_the_text_of_the_record(holds: ExpectedHolds, feed: Any) -> None:
    record = feed(holds, Stage.DECIDED, "m", **HELD, effects=[{"value": {"é": 1.50}}], sender={"peer": "p"})
    members = json.loads(record.text)
    said = canonical_text({name: members[name] for name in ("call", "caller", "decision", "effects", "motive")})
    assert '{"é":1.5}' in said
    assert holds.table.rows["m",]["summary"] == text_digest(said)


def test_all_holds_of_a_call_are_decided_together(holds: ExpectedHolds, feed: Any) -> None:
    for name in ("m1", "m2"):
        feed(holds, Stage.DECIDED, name, **HELD)
    feed(holds, Stage.APPROVED, "m1", approval="a", **APPROVAL)
    assert {row["state"] for row in holds.table.rows.values()} == {"approved"}
    feed(holds, Stage.DECIDED, "m3", **HELD)
    assert holds.table.rows["m3",]["state"] == "open"
    feed(holds, Stage.REJECTED, "m3", requester="agent", digest="d")
    assert not holds.table.rows


def test_a_call_whose_approval_was_withdrawn_waits_again(
    holds: ExpectedHolds, approvals: ExpectedApprovals, feed: Any
) -> None:
    feed(holds, Stage.DECIDED, "m", **HELD)
    for table in (holds, approvals):
        feed(table, Stage.APPROVED, "m", approval="a", keys=["k1", "k2"], **APPROVAL)
    assert approvals.table.rows["a",]["keys"] == '["k1","k2"]'
    for table in (holds, approvals):
        feed(table, Stage.WITHDRAWN, "m", approval="a")
    assert (holds.table.rows["m",]["state"], approvals.table.rows) == ("open", {})
    feed(approvals, Stage.APPROVED, "m", approval="b", **APPROVAL)
    assert approvals.table.rows["b",]["keys"] is None, "the record is older than the column"


def test_an_approval_is_used_once(approvals: ExpectedApprovals, feed: Any) -> None:
    feed(approvals, Stage.APPROVED, "m", approval="a", **APPROVAL)
    feed(approvals, Stage.DECIDED, "n", decision={"carried_out": False, "approval": "a"})
    assert approvals.table.rows["a",]["state"] == "open"
    feed(approvals, Stage.DECIDED, "n", decision={"carried_out": True, "approval": "a"}, call={"digest": "d"})
    assert not approvals.table.rows


@pytest.mark.parametrize(("approval", "digest"), [("b", "d"), ("a", "another call")])
def test_an_approval_that_nobody_gave_lets_nothing_pass(
    approvals: ExpectedApprovals, feed: Any, approval: str, digest: str
) -> None:
    """Its row was put there for the moment of the call, and is gone."""
    feed(approvals, Stage.APPROVED, "m", approval="a", **APPROVAL)
    used = {"carried_out": True, "approval": approval}
    with pytest.raises(LedgerBroken, match=rf"^Record 2 says that the approval {approval} let its call pass"):
        feed(approvals, Stage.DECIDED, "n", decision=used, call={"digest": digest})


def test_a_second_approval_of_a_call_ends_the_first(approvals: ExpectedApprovals, feed: Any) -> None:
    for name in ("a", "b"):
        feed(approvals, Stage.APPROVED, "m", approval=name, **APPROVAL)
    assert list(approvals.table.rows) == [("b",)]
    feed(approvals, Stage.REJECTED, "m", withdrawn="b", requester="agent", digest="d")
    assert not approvals.table.rows
    assert not approvals._unused
