"""Keys are stored without secrets and read back unchanged, and a revocation takes effect within a second."""

import base64
import hmac
import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gateway.core.errors import Malformed, NotFound
from gateway.core.model.caller import ActorKind
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.ledger import keyring
from gateway.ledger.keyring import SqlKeyRing
from gateway.ledger.ledger import SqlLedger, open_ledger
from tests.kit.stores import KEYS, MASTER

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ROUTINE = Motive(intent=Intent.CONSISTENCY, motivation=Motivation.ROUTINE)


class Noon:
    """A clock that stands still."""

    def now(self) -> datetime:
        return NOW


@pytest.fixture
async def ledger(tmp_path: Path) -> AsyncIterator[SqlLedger]:
    async with open_ledger(f"sqlite:///{tmp_path / 'ledger.db'}", KEYS) as opened:
        yield opened


def ring(ledger: SqlLedger, master: bytes = MASTER) -> SqlKeyRing:
    return SqlKeyRing(ledger, master=master, clock=Noon())


async def test_a_key_is_found_as_it_was_issued(ledger: SqlLedger) -> None:
    motive = Motive(
        intent=Intent.COST,
        motivation=Motivation.BUDGET,
        text="less",
        evidence=("FIN-1",),
        wanted_for=timedelta(minutes=90),
    )
    issued = await ring(ledger).issue(
        actor="alice",
        kind=ActorKind.HUMAN,
        roles=("approver", "operator"),
        on_behalf_of="bob",
        motive=motive,
        lasts=timedelta(hours=1),
    )
    assert (issued.actor, issued.kind, issued.roles, issued.on_behalf_of) == (
        "alice",
        ActorKind.HUMAN,
        ("approver", "operator"),
        "bob",
    )
    assert (issued.motive, issued.expires_at, issued.revoked) == (motive, NOW + timedelta(hours=1), False)
    assert await ring(ledger).find(issued.id) == issued
    assert await ring(ledger).all() == (issued,)


@pytest.mark.parametrize(("session", "prefix"), [(False, "SNTL"), (True, "SNTS")])
async def test_ids_and_secrets_have_the_shape_of_aws_keys(ledger: SqlLedger, session: bool, prefix: str) -> None:
    standing = await ring(ledger).issue(actor="a", kind=ActorKind.AGENT)
    key = await ring(ledger).issue(actor="a", kind=ActorKind.AGENT, session_of=standing.id if session else "")
    assert (key.id[:4], key.is_session) == (prefix, session)
    assert (len(key.id), len(key.secret)) == (20, 40)
    assert key.id.isalnum()
    assert key.id.isupper()
    assert key.secret not in repr(key)


async def test_a_session_ends_with_its_key(ledger: SqlLedger) -> None:
    keyring = ring(ledger)
    standing = await keyring.issue(actor="a", kind=ActorKind.AGENT, lasts=timedelta(hours=1))
    other = await keyring.issue(actor="a", kind=ActorKind.AGENT)
    session = await keyring.issue(actor="a", kind=ActorKind.AGENT, lasts=timedelta(hours=2), session_of=standing.id)
    unrelated = await keyring.issue(actor="a", kind=ActorKind.AGENT, session_of=other.id)
    assert session.expires_at == standing.expires_at
    await keyring.revoke(standing.id)
    assert await keyring.find(session.id) == replace(session, revoked=True)
    assert await keyring.find(unrelated.id) == unrelated
    with pytest.raises(NotFound, match="session"):
        await keyring.issue(actor="a", kind=ActorKind.AGENT, session_of=standing.id)


async def test_no_secret_is_in_the_database(ledger: SqlLedger, tmp_path: Path) -> None:
    key = await ring(ledger).issue(actor="a", kind=ActorKind.AGENT)
    connection = sqlite3.connect(tmp_path / "ledger.db")
    dump = "\n".join(connection.iterdump())
    connection.close()
    assert key.id in dump
    assert key.secret not in dump


async def test_another_master_key_makes_other_secrets(ledger: SqlLedger) -> None:
    key = await ring(ledger).issue(actor="a", kind=ActorKind.AGENT)
    other = await ring(ledger, b"n" * 32).find(key.id)
    assert other is not None
    assert other.secret != key.secret
    assert replace(other, secret=key.secret) == key


async def test_a_revocation_holds_at_once_here_and_within_a_second_elsewhere(
    ledger: SqlLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, elsewhere = ring(ledger), ring(ledger)
    key = await here.issue(actor="a", kind=ActorKind.AGENT)
    now = [100.0]
    monkeypatch.setattr("gateway.ledger.keyring.monotonic", lambda: now[0])
    assert await elsewhere.find(key.id) == key
    await here.revoke(key.id)
    await here.revoke(key.id)
    assert await here.find(key.id) == replace(key, revoked=True)
    now[0] += keyring.MAX_AGE
    assert await elsewhere.find(key.id) == replace(key, revoked=True)


@pytest.mark.parametrize("key_id", ["", "SNTLNOSUCHKEY", "é", "x" * 10_000, "' OR 1=1 --"])
async def test_an_unknown_key_is_none(ledger: SqlLedger, key_id: str) -> None:
    assert await ring(ledger).find(key_id) is None
    with pytest.raises(NotFound):
        await ring(ledger).revoke(key_id)


async def test_lookups_of_unknown_ids_do_not_fill_the_memory(
    ledger: SqlLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyring, "_MOST_CACHED", 10)
    keys = ring(ledger)
    for number in range(50):
        assert await keys.find(f"SNTL{number}") is None
    assert len(keys._cache) == 10


@pytest.mark.parametrize("only", [False, True])
async def test_the_ceiling_is_stored_and_the_secret_covers_it(ledger: SqlLedger, tmp_path: Path, only: bool) -> None:
    key = await ring(ledger).issue(actor="a", kind=ActorKind.AGENT, motive=ROUTINE, motive_only=only)
    assert (key.motive, key.motive_only) == (ROUTINE, only)
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as database, database:
        database.execute("UPDATE keys SET motive_only = 1 - motive_only")
    lifted = await ring(ledger).find(key.id)
    assert lifted is not None
    assert lifted.motive_only is not only
    assert lifted.secret != key.secret


async def test_the_secret_covers_the_whole_key(ledger: SqlLedger) -> None:
    """Computed by hand: a change of what it covers would end every key that was issued."""
    key = await ring(ledger).issue(actor="a", kind=ActorKind.AGENT, roles=("r",))
    covered = [key.id, "a", "agent", '["r"]', "", None, None, None, "", 0]
    text = json.dumps(covered, separators=(",", ":")).encode()
    mac = hmac.digest(MASTER, b"sentinel key\0" + text, "sha256")
    assert key.secret == base64.urlsafe_b64encode(mac).decode()[:40]


async def test_a_ceiling_needs_a_motive(ledger: SqlLedger) -> None:
    with pytest.raises(Malformed, match="needs a motive"):
        await ring(ledger).issue(actor="a", kind=ActorKind.AGENT, motive_only=True)
    assert await ring(ledger).all() == ()
