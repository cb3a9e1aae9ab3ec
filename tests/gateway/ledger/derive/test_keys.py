"""A key is what its record says, until it is revoked, alone or with its sessions."""

from typing import Any

from gateway.ledger.derive.keys import ExpectedKeys
from gateway.ledger.statements import Session
from gateway.model.record import Stage


def test_a_revocation_ends_the_sessions_that_it_names(session: Session, feed: Any) -> None:
    part = ExpectedKeys(session)
    for name in ("k", "s1", "s2"):
        feed(part, Stage.KEY_ISSUED, key=name, kind="agent", roles=["a"], motive=None, created_at="now")
    assert part.table.rows["k",]["roles"] == '["a"]'
    assert part.table.rows["k",]["motive"] is None
    feed(part, Stage.KEY_REVOKED, key="k", sessions=["s1"])
    assert list(part.table.rows) == [("s2",)]


def test_a_key_that_was_revoked_before_it_had_a_record_is_final(session: Session, feed: Any) -> None:
    part = ExpectedKeys(session)
    feed(part, Stage.KEY_ISSUED, key="k", kind="agent", roles=[], motive=None, created_at="", revoked_at="then")
    assert not part.table.rows
    assert part.table._final[0][1]["revoked_at"] == "then"
