"""The signatures of the last hour: older ones are no longer valid, and one that AWS refused can be spent again."""

from typing import Any

import msgspec
import pytest

from gateway.ledger.derive.bodies import DecidedBody
from gateway.ledger.derive.decoded_record import DecodedRecord
from gateway.ledger.derive.signatures import ExpectedSignatures
from gateway.ledger.statements import Session
from gateway.model.record import Stage


@pytest.fixture
def part(session: Session) -> ExpectedSignatures:
    return ExpectedSignatures(session)


def spend(
    part: ExpectedSignatures, time: str, signature: str, mutation: str = "m", *, carried_out: bool = True
) -> None:
    form: dict[str, Any] = {"decision": {"carried_out": carried_out}, "attempt": {"signature": signature}}
    body = msgspec.convert(form, DecidedBody)
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
