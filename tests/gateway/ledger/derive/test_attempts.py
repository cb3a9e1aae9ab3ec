"""An attempt is open until it is applied or has failed, and takes its key and its reply from the records."""

from typing import Any

import pytest

from gateway.errors import LedgerBroken
from gateway.ledger.derive.attempts import ExpectedAttempts
from gateway.ledger.derive.expected_table import ANYTHING
from gateway.ledger.statements import Session
from gateway.model.record import Stage

CARRIED_OUT = {"decision": {"carried_out": True}, "call": {"digest": "d"}}


def test_only_what_was_carried_out_is_an_attempt(session: Session, feed: Any) -> None:
    part = ExpectedAttempts(session)
    feed(part, Stage.DECIDED, "m1", decision={"verdict": "deny"})
    feed(part, Stage.DECIDED, "m2", **CARRIED_OUT, attempt={"idempotency_key": "k", "owner": "g"})
    assert list(part.table.rows) == [("m2",)]
    row = part.table.rows["m2",]
    assert (row["idempotency_key"], row["call_digest"], row["state"], row["seq"]) == ("k", "d", "in_flight", 2)


@pytest.mark.parametrize(("member", "expected"), [({}, ANYTHING), ({"attempt": {"idempotency_key": ""}}, None)])
def test_a_record_without_the_key_says_nothing_about_it(
    session: Session, feed: Any, member: dict[str, Any], expected: object
) -> None:
    part = ExpectedAttempts(session)
    feed(part, Stage.DECIDED, "m", **CARRIED_OUT, **member)
    assert part.table.rows["m",]["idempotency_key"] is expected


def test_it_stays_open_while_in_doubt(session: Session, feed: Any) -> None:
    part = ExpectedAttempts(session)
    feed(part, Stage.DECIDED, "m", **CARRIED_OUT, attempt={"idempotency_key": "k"})
    feed(part, Stage.SETTLED, "m", outcome="in_doubt", reason="No answer.")
    assert part.table.rows["m",]["reason"] == "No answer."
    feed(part, Stage.SETTLED, "m", outcome="failed", code="Throttled")
    assert not part.table.rows
    with pytest.raises(LedgerBroken, match="The row m of attempts is missing, though record 3 says"):
        part.table.compare_all()
