"""What an actor has used follows from the charges in its decisions, and its breaker from the records about it."""

from typing import Any

from gateway.ledger.derive.budgets import ExpectedBudgets
from gateway.ledger.derive.decoded_record import DecodedRecord
from gateway.ledger.statements import Session
from gateway.model.record import Stage

SHARE = {"budgets": {"minute": {"most": 6, "seconds": 60, "cost": 1, "when_sent": False}}}
AT = "2026-03-01T12:00:00.000000Z"


def test_charges_and_counts_are_followed(session: Session, feed: Any) -> None:
    part = ExpectedBudgets(session)
    handlers = dict(part.handlers)
    decided = handlers[Stage.DECIDED]
    part.handlers = handlers | {Stage.DECIDED: lambda record: decided(_at_noon(record))}
    feed(part, Stage.DECIDED, "m1", decision={"carried_out": True, "obligations": SHARE})
    row = part.table.rows["agent",]
    assert row["levels"] == '{"minute":"2026-03-01T12:00:10.000000Z"}'
    feed(part, Stage.DECIDED, "m2", decision={"carried_out": False, "obligations": SHARE}, refused_in_a_row=3)
    assert row["levels"] == '{"minute":"2026-03-01T12:00:20.000000Z"}'
    assert (row["in_a_row"], row["state"]) == (3, "closed")
    feed(part, Stage.BREAKER, "m2", of="agent", state="open", refused_in_a_row=3, until=AT, trial="")
    assert (row["state"], row["until"]) == ("open", AT)
    feed(part, Stage.BREAKER, "m3", of="agent", state="half_open", refused_in_a_row=3, until=None, trial="m3")
    assert (row["state"], row["until"], row["trial"]) == ("half_open", "", "m3")
    feed(part, Stage.SETTLED, "m3", outcome="applied", refused_in_a_row=0)
    assert row["in_a_row"] == 0


def test_what_costs_nothing_makes_no_row(session: Session, feed: Any) -> None:
    part = ExpectedBudgets(session)
    feed(part, Stage.DECIDED, "m1", decision={"carried_out": True})
    feed(part, Stage.SETTLED, "m1", outcome="applied")
    assert part.table.rows == {}


def _at_noon(record: DecodedRecord) -> DecodedRecord:
    return record._replace(at=AT)
