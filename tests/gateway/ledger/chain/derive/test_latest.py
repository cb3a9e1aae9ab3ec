"""A key is what its record says, until it is revoked, alone or with its sessions."""

from typing import Any

import pytest

from gateway.core.errors import LedgerBroken
from gateway.core.records.record import Stage
from gateway.ledger.chain.derive.latest import ExpectedKeys, ExpectedSignals, ExpectedStops
from gateway.ledger.store.statements import Session


def test_a_revocation_ends_the_sessions_that_it_names(session: Session, feed: Any) -> None:
    part = ExpectedKeys(session)
    for name in ("k", "s1", "s2"):
        feed(part, Stage.KEY_ISSUED, key=name, kind="agent", roles=["a"], motive=None, created_at="now")
    assert part.table.rows["k",]["roles"] == '["a"]'
    assert part.table.rows["k",]["motive"] is None
    feed(part, Stage.KEY_REVOKED, key="k", sessions=["s1"])
    assert list(part.table.rows) == [("s2",)]


SENT: dict[str, Any] = {"decision": {"carried_out": True}}
ISSUED = {"key": "k", "kind": "agent", "roles": ["a"], "motive": None, "created_at": "now", "on_behalf_of": ""}


@pytest.mark.parametrize(
    "changed",
    [{"kind": "human"}, {"roles": ["a", "approver"]}, {"on_behalf_of": "boss"}],
    ids=lambda each: next(iter(each)),
)
def test_what_a_key_was_for_a_moment_shows_in_what_was_sent_with_it(
    session: Session, feed: Any, changed: dict[str, Any]
) -> None:
    part = ExpectedKeys(session)
    feed(part, Stage.KEY_ISSUED, **ISSUED)
    caller = {"key_id": "k", "kind": "agent", "roles": ["a"], "on_behalf_of": ""}
    feed(part, Stage.DECIDED, "m", caller=caller, **SENT)
    feed(part, Stage.DECIDED, "m", caller={**caller, **changed}, decision={"carried_out": False})
    with pytest.raises(LedgerBroken, match=rf"^Record 4 names the key k with another `{next(iter(changed))}`"):
        feed(part, Stage.DECIDED, "m", caller={**caller, **changed}, **SENT)


@pytest.mark.parametrize("stage", [Stage.APPROVED, Stage.BROKE_GLASS])
def test_a_consent_with_the_key_of_no_human_shows(session: Session, feed: Any, stage: Stage) -> None:
    part = ExpectedKeys(session)
    feed(part, Stage.KEY_ISSUED, **ISSUED)
    feed(part, stage, "m", keys=[], requester="x")
    feed(part, stage, "m", keys=["k", "of nobody known"], requester="x")
    with pytest.raises(LedgerBroken, match=r"^Record 4 names the key k with another `kind`"):
        feed(part, stage, "m", keys=["k"], requester="x")


def test_a_stop_stands_until_it_is_resumed(session: Session, feed: Any) -> None:
    part = ExpectedStops(session)
    feed(part, Stage.STOPPED, "stp_1", scope="stack", name="shop", reason="No.")
    feed(part, Stage.STOPPED, "stp_2", scope="all", name="", reason="No.")
    assert (part.table.rows["stp_1",]["by"], part.table.rows["stp_1",]["ended_at"]) == ("agent", None)
    feed(part, Stage.RESUMED, "stp_1", scope="stack", name="shop", reason="Yes.")
    assert set(part.table.rows) == {("stp_2",)}
    feed(part, Stage.RESUMED, "stp_9", scope="all", name="", reason="Of nothing.")


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
