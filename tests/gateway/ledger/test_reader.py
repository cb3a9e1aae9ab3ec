"""A query sees one snapshot, and a reader survives a connection that died."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from gateway.errors import LedgerUnavailable, NotFound
from gateway.ledger.reader import Reader
from gateway.ledger.store import Store, open_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(f"sqlite:///{tmp_path / 'ledger.db'}")
    yield opened
    opened.close()


def keys(connection: Connection) -> int:
    return int(connection.execute(text("SELECT count(*) FROM keys")).scalar_one())


async def test_a_query_sees_one_snapshot_and_the_next_a_later_one(store: Store, tmp_path: Path) -> None:
    reader = Reader(store, "test")

    def query(connection: Connection) -> tuple[int, int]:
        before = keys(connection)
        other = sqlite3.connect(tmp_path / "ledger.db")
        other.execute(
            "INSERT INTO keys (id, actor, kind, roles, on_behalf_of, created_at, session_of) VALUES ('k', '', '', '', '', '', '')"
        )
        other.commit()
        other.close()
        return before, keys(connection)

    assert await reader.read(query) == (0, 0)
    assert await reader.read(keys) == 1
    reader.close()


async def test_a_connection_that_died_is_replaced_and_the_question_asked_again(store: Store) -> None:
    reader = Reader(store, "test")
    assert await reader.read(keys) == 0
    change = []

    def query(connection: Connection) -> int:
        change.append(1)
        if len(change) == 1:
            raise sqlite3.OperationalError("server closed the connection")
        return keys(connection)

    assert await reader.read(query) == 0
    assert len(change) == 2
    reader.close()


async def test_what_fails_twice_is_unavailable_and_other_errors_pass_through(store: Store) -> None:
    reader = Reader(store, "test")

    def broken(connection: Connection) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    def missing(connection: Connection) -> None:
        raise NotFound("It is not there.")

    with pytest.raises(LedgerUnavailable, match="disk"):
        await reader.read(broken)
    with pytest.raises(NotFound):
        await reader.read(missing)
    assert await reader.read(keys) == 0
    reader.close()
    with pytest.raises(LedgerUnavailable, match="closed"):
        await reader.read(keys)
