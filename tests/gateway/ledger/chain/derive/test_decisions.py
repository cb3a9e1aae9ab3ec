"""An attempt is open until it is applied or has failed, and takes its key and its reply from the records."""

from typing import Any

import pytest

from gateway.core.errors import LedgerBroken
from gateway.core.records.record import Stage
from gateway.ledger.chain.derive.decisions import ExpectedAttempts, ExpectedBudgets, ExpectedSignatures
from gateway.ledger.chain.derive.expected_table import DecodedRecord
from gateway.ledger.store.statements import Session
from tests.kit.bodies import sample_body

CARRIED_OUT = {"decision": {"carried_out": True}, "call": {"digest": "d"}}


def test_only_what_was_carried_out_is_an_attempt(session: Session, feed: Any) -> None:
    part = ExpectedAttempts(session)
    feed(part, Stage.DECIDED, "m1", decision={"verdict": "deny"})
    feed(part, Stage.DECIDED, "m2", **CARRIED_OUT, attempt={"idempotency_key": "k", "owner": "g"})
    assert list(part.table.rows) == [("m2",)]
    row = part.table.rows["m2",]
    assert (row["idempotency_key"], row["call_digest"], row["state"], row["seq"]) == ("k", "d", "in_flight", 2)


def test_an_attempt_without_a_key_has_none(session: Session, feed: Any) -> None:
    part = ExpectedAttempts(session)
    feed(part, Stage.DECIDED, "m", **CARRIED_OUT, attempt={"idempotency_key": ""})
    assert part.table.rows["m",]["idempotency_key"] is None


def test_it_stays_open_while_in_doubt(session: Session, feed: Any) -> None:
    part = ExpectedAttempts(session)
    feed(part, Stage.DECIDED, "m", **CARRIED_OUT, attempt={"idempotency_key": "k"})
    feed(part, Stage.SETTLED, "m", outcome="in_doubt", reason="No answer.")
    assert part.table.rows["m",]["reason"] == "No answer."
    feed(part, Stage.SETTLED, "m", outcome="failed", code="Throttled")
    assert not part.table.rows
    with pytest.raises(LedgerBroken, match="The row m of attempts is missing, though record 3 says"):
        part.table.compare_all()


@pytest.fixture
def part(session: Session) -> ExpectedSignatures:
    return ExpectedSignatures(session)


def spend(
    part: ExpectedSignatures, time: str, signature: str, mutation: str = "m", *, carried_out: bool = True
) -> None:
    form: dict[str, Any] = {"decision": {"carried_out": carried_out}, "attempt": {"signature": signature}}
    body = sample_body(Stage.DECIDED, form)
    at = f"2026-03-01T{time}:00.000000Z"
    part.handlers[Stage.DECIDED](DecodedRecord(1, at, mutation, "agent", "shop", "", body))


def test_each_attempt_spends_its_own(part: ExpectedSignatures) -> None:
    spend(part, "12:00", "a")
    spend(part, "12:00", "")
    spend(part, "12:00", "b", carried_out=False)
    assert list(part.table.rows) == [("a",)]


def test_an_old_one_is_forgotten_with_the_next(part: ExpectedSignatures) -> None:
    spend(part, "12:00", "a")
    spend(part, "12:30", "b")
    spend(part, "13:00", "c")
    assert set(part.table.rows) == {("a",), ("b",), ("c",)}
    spend(part, "13:01", "d")
    assert set(part.table.rows) == {("b",), ("c",), ("d",)}


def test_one_that_was_spent_again_counts_from_then(part: ExpectedSignatures) -> None:
    spend(part, "12:00", "a", "m1")
    spend(part, "12:30", "a", "m2")
    spend(part, "13:15", "b")
    assert part.table.rows["a",]["mutation_id"] == "m2"
    spend(part, "13:31", "c")
    assert set(part.table.rows) == {("b",), ("c",)}
    assert len(part._by_time) == 2


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
