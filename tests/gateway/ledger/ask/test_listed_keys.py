"""The keys of an SQLite ledger, read without what the ledger is built on, are those that the keyring lists."""

import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from gateway.core.errors import LedgerUnavailable
from gateway.core.model.caller import ActorKind
from gateway.core.times import SystemClock
from gateway.ledger.ask.listed_keys import listed_keys
from gateway.ledger.keyring import SqlKeyRing
from gateway.ledger.ledger import open_ledger
from tests.kit.stores import KEYS, MASTER


async def test_they_are_those_of_the_keyring_in_its_order(tmp_path: Path) -> None:
    file = tmp_path / "ledger.db"
    async with open_ledger(f"sqlite:///{file}", KEYS) as ledger:
        ring = SqlKeyRing(ledger, master=MASTER, clock=SystemClock())
        for actor in ("ann", "bob", "cy"):
            await ring.issue(actor=actor, kind=ActorKind.HUMAN, roles=("approver",), lasts=timedelta(days=1))
        await ring.revoke((await ring.all())[0].id)
        expected = [(key.id, key.actor, key.revoked) for key in await ring.all()]
        assert [(row.id, row.actor, row.revoked_at is not None) for row in listed_keys(file) or ()] == expected
    before = file.read_bytes()
    assert len(listed_keys(file) or ()) == 3
    assert file.read_bytes() == before


def test_what_is_no_ledger_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "other.db").write_bytes(b"not a database, and longer than the header of one is" * 20)
    with pytest.raises(LedgerUnavailable, match="cannot be read"):
        listed_keys(tmp_path / "other.db")


def test_a_ledger_without_the_schema_is_left_to_those_who_migrate_it(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "old.db")) as connection:
        connection.execute("CREATE TABLE keys (id TEXT PRIMARY KEY, actor TEXT)")
    assert listed_keys(tmp_path / "old.db") is None
    (tmp_path / "empty.db").touch()
    assert listed_keys(tmp_path / "empty.db") is None
