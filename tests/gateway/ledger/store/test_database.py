"""A store is durable or refused, its file is private, and its errors are sentences."""

import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import InternalError

from gateway.core.errors import LedgerUnavailable, SettingsInvalid
from gateway.ledger.store import database as module
from gateway.ledger.store.database import connect_unprepared, open_store, unavailable
from tests.kit.stores import Cluster, postgres

__all__ = ["postgres"]


def url(path: Path) -> str:
    return f"sqlite:///{path}"


def test_every_connection_is_durable(tmp_path: Path) -> None:
    store = open_store(url(tmp_path / "ledger.db"))
    for writes in (True, False):
        with store.connect(writes=writes) as connection:
            found = [
                connection.execute(text(f"PRAGMA {name}")).scalar()
                for name in ("journal_mode", "synchronous", "foreign_keys")
            ]
        assert found == ["wal", 2, 1]
    store.close()


def test_a_connection_looks_for_the_lock_itself_as_long_as_it_writes(tmp_path: Path) -> None:
    store = open_store(url(tmp_path / "ledger.db"))
    for writes, waits in ((True, 0), (False, module.BUSY_MS), (True, 0)):
        with store.connect(writes=writes) as connection:
            assert connection.execute(text("PRAGMA busy_timeout")).scalar() == waits
    store.close()


def test_a_store_that_would_not_sync_is_refused(tmp_path: Path) -> None:
    class Weak(sqlite3.Cursor):
        def execute(self, sql: str, *values: object) -> "Weak":
            super().execute(sql.replace("synchronous=FULL", "synchronous=NORMAL"))
            return self

    connection = sqlite3.connect(tmp_path / "ledger.db")

    class Driver:
        def cursor(self) -> Weak:
            return connection.cursor(Weak)

    with pytest.raises(LedgerUnavailable, match="synchronous=1"):
        module._assert_sqlite_durable(Driver(), None)
    connection.close()


def test_the_file_is_private_and_opens_again(tmp_path: Path) -> None:
    path = tmp_path / "data" / "ledger.db"
    for _ in range(2):
        open_store(url(path)).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "bad", ["", "nonsense", "sqlite://", "sqlite:///:memory:", "mysql://host/name", "postgresql+asyncpg://host/name"]
)
def test_an_unsupported_url_is_refused(bad: str) -> None:
    with pytest.raises(SettingsInvalid):
        open_store(bad)


def _garbage(path: Path) -> None:
    path.write_bytes(b"this is not a database, and longer than a header has to be" * 20)


@pytest.mark.parametrize("prepare", [_garbage, Path.mkdir], ids=["not a database", "a directory"])
def test_a_file_that_is_not_a_ledger_is_unavailable(tmp_path: Path, prepare: Callable[[Path], None]) -> None:
    path = tmp_path / "ledger.db"
    prepare(path)
    with pytest.raises(LedgerUnavailable):
        open_store(url(path))


def test_a_postgresql_that_is_not_there_is_unavailable_and_its_password_is_not_shown(tmp_path: Path) -> None:
    with pytest.raises(LedgerUnavailable) as caught:
        open_store(f"postgresql://user:hunter2@/name?host={tmp_path}")
    assert "hunter2" not in str(caught.value)


WEAK = {
    "synchronous_commit = off": "ALTER DATABASE {name} SET synchronous_commit = off",
    "synchronous_commit = remote_write": "ALTER ROLE sentinel IN DATABASE {name} SET synchronous_commit = remote_write",
    "default_transaction_isolation = repeatable read": "ALTER DATABASE {name} SET default_transaction_isolation = 'repeatable read'",
    "default_transaction_read_only = on": "ALTER DATABASE {name} SET default_transaction_read_only = on",
}


@pytest.mark.postgres
@pytest.mark.parametrize("said", WEAK)
def test_a_postgresql_that_may_lose_a_commit_or_shows_an_old_state_is_refused(postgres: Cluster, said: str) -> None:
    fine = postgres.new_ledger()
    database = make_url(fine).database
    with connect_unprepared(fine) as connection:
        connection.execute(text(WEAK[said].format(name=database)))
        connection.commit()
    name, _, value = said.partition(" = ")
    with pytest.raises(LedgerUnavailable) as caught:
        open_store(fine)
    assert str(caught.value).startswith(
        f"PostgreSQL would not keep the ledger safe ({name} = {value}), so Sentinel refuses to use it; nothing was stored. Set {name} = "
    )


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("database is locked", "another process"),
        ("database or disk is full", "disk is full"),
        ("attempt to write a readonly database", "read-only"),
        ("disk I/O error", "disk failed"),
        ("something new", "something new"),
    ],
)
def test_a_database_error_becomes_a_sentence(reason: str, said: str) -> None:
    with pytest.raises(LedgerUnavailable, match=said), unavailable():
        raise sqlite3.OperationalError(reason)


@pytest.mark.postgres
def test_postgresql_refuses_what_a_reader_writes_and_takes_the_same_from_a_writer(postgres: Cluster) -> None:
    """Readers commit, so that their plans are kept."""
    store = open_store(postgres.new_ledger())
    write = "CREATE TABLE made (one integer)"
    with store.connect() as connection:
        driver = store.begin(connection)
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            driver.execute(write)
        driver.rollback()
        with pytest.raises(InternalError, match="read-only"):
            connection.execute(text(write))
        connection.rollback()
    for _ in range(2):  # whichever of the pool's connections a reader had before
        with store.connect(writes=True) as connection:
            store.lock(connection)
            connection.execute(text(f"{write}; DROP TABLE made"))
            connection.commit()
    store.close()
