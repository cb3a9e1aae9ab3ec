"""A stop is what its record says, until another one ends it."""

from typing import Any

from gateway.ledger.derive.stops import ExpectedStops
from gateway.ledger.statements import Session
from gateway.model.record import Stage


def test_a_stop_stands_until_it_is_resumed(session: Session, feed: Any) -> None:
    part = ExpectedStops(session)
    feed(part, Stage.STOPPED, "stp_1", scope="stack", name="shop", reason="No.")
    feed(part, Stage.STOPPED, "stp_2", scope="all", name="", reason="No.")
    assert (part.table.rows["stp_1",]["by"], part.table.rows["stp_1",]["ended_at"]) == ("agent", None)
    feed(part, Stage.RESUMED, "stp_1", scope="stack", name="shop", reason="Yes.")
    assert set(part.table.rows) == {("stp_2",)}
    feed(part, Stage.RESUMED, "stp_9", scope="all", name="", reason="Of nothing.")
