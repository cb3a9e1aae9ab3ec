"""Issuing and revoking a key are records, without the secret, in the same transaction as the row."""

from datetime import timedelta
from typing import Any

import pytest

from gateway.core.errors import NotFound, Overloaded
from gateway.core.model.caller import ActorKind
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from gateway.ledger.decide.key_revocation import revoke_key
from gateway.ledger.keyring import MOST_SESSIONS, issue_key
from gateway.ledger.store.timestamps import to_text
from gateway.ledger.store.transaction import Transaction

ROW = {
    "id": "SNTLA",
    "actor": "alice",
    "kind": "human",
    "roles": '["approver"]',
    "on_behalf_of": "bob",
    "motive": None,
    "created_at": "2026-01-01T00:00:00.000000Z",
    "expires_at": None,
    "session_of": "",
    "motive_only": 0,
}


async def test_a_record_holds_the_whole_key(scene: Any) -> None:
    await scene.ledger.write(lambda transaction: issue_key(transaction, ROW, scene.now))
    [record] = await scene.ledger.records(RecordQuery())
    assert (record.stage, record.actor, record.at) == (Stage.KEY_ISSUED, "alice", scene.now)
    plain = {name: value for name, value in ROW.items() if name not in ("id", "actor")}
    expected = {
        **plain,
        "motive_only": False,
        "key": "SNTLA",
        "roles": ["approver"],
    }
    assert record.body.members == expected


async def test_one_record_revokes_a_key_with_its_sessions(scene: Any) -> None:
    def work(transaction: Transaction) -> None:
        issue_key(transaction, ROW, scene.now)
        for session in ("SNTSB", "SNTSC"):
            issue_key(transaction, {**ROW, "id": session, "session_of": "SNTLA"}, scene.now)
        revoke_key(transaction, "SNTSC", scene.now)
        revoke_key(transaction, "SNTLA", scene.now)
        revoke_key(transaction, "SNTLA", scene.now)

    await scene.ledger.write(work)
    records = await scene.ledger.records(RecordQuery(stage=Stage.KEY_REVOKED, newest_first=False))
    assert [record.body.members for record in records] == [
        {"key": "SNTSC", "sessions": []},
        {"key": "SNTLA", "sessions": ["SNTSB"]},
    ]


@pytest.mark.parametrize("revoked", [True, False])
async def test_a_session_of_a_key_that_is_gone_is_not_stored(scene: Any, revoked: bool) -> None:
    """The transaction looks itself: another process may have revoked the key since the caller looked."""

    def work(transaction: Transaction) -> None:
        if revoked:
            issue_key(transaction, ROW, scene.now)
            revoke_key(transaction, "SNTLA", scene.now)

    await scene.ledger.write(work)
    before = len(await scene.ledger.records(RecordQuery()))
    with pytest.raises(NotFound, match="SNTLA"):
        await scene.ledger.write(
            lambda transaction: issue_key(transaction, {**ROW, "id": "SNTSB", "session_of": "SNTLA"}, scene.now)
        )
    assert len(await scene.ledger.records(RecordQuery())) == before


async def test_an_unknown_key_leaves_no_record(scene: Any) -> None:
    with pytest.raises(NotFound):
        await scene.ledger.write(lambda transaction: revoke_key(transaction, "SNTLNO", scene.now))
    assert await scene.ledger.verify() == 0


async def test_a_key_has_only_so_many_sessions_open(scene: Any) -> None:
    """Third audit: an agent made 300 session keys in a row, each of which would have had to be found had its key been stolen."""
    most = MOST_SESSIONS[ActorKind.AGENT]
    standing = {**ROW, "kind": "agent", "roles": "[]"}
    soon = to_text(scene.now + timedelta(hours=1))

    def session(number: int) -> Any:
        row = {**standing, "id": f"SNTS{number}", "session_of": "SNTLA", "expires_at": soon}
        return lambda transaction: issue_key(transaction, row, scene.now)

    def work(transaction: Transaction) -> None:
        issue_key(transaction, standing, scene.now)
        for number in range(most):
            session(number)(transaction)

    await scene.ledger.write(work)
    with pytest.raises(Overloaded, match=f"{most} sessions open"):
        await scene.ledger.write(session(most))
    await scene.ledger.write(lambda transaction: revoke_key(transaction, "SNTS0", scene.now))
    await scene.ledger.write(session(most))
    later = scene.now + timedelta(hours=2)
    row = {**standing, "id": "SNTSlater", "session_of": "SNTLA"}
    await scene.ledger.write(lambda transaction: issue_key(transaction, row, later))
