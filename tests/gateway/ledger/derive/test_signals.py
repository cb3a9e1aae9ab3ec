"""A signal is what its latest record says."""

from typing import Any

from gateway.ledger.derive.signals import ExpectedSignals
from gateway.ledger.statements import Session
from gateway.model.record import Stage


def test_the_latest_record_counts(session: Session, feed: Any) -> None:
    part = ExpectedSignals(session)
    members = {
        "source": "s",
        "key": "k",
        "name": "n",
        "since": "t",
        "labels": {"a": "b"},
        "references": ["k"],
        "scopes": [],
    }
    feed(part, Stage.SIGNALLED, "sig_1", state="open", at="1", **members)
    feed(part, Stage.SIGNALLED, "sig_1", state="closed", at="2", **members)
    row = part.table.rows["sig_1",]
    assert (row["state"], row["at"], row["labels"], row["refs"], row["heard_at"]) == (
        "closed",
        "2",
        '{"a":"b"}',
        '["k"]',
        "now",
    )
