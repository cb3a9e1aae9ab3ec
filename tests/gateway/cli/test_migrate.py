"""`sentinel migrate`."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from gateway.core.settings import Settings
from gateway.ledger.store.migrate import HEAD

Document = Callable[..., tuple[int, Any]]


@pytest.fixture
def ledger(elsewhere: Path) -> Path:
    return elsewhere / Settings().data / "ledger.db"


def test_a_new_ledger_gets_the_schema_and_a_second_run_changes_nothing(ledger: Path, document: Document) -> None:
    assert document("migrate") == (0, {"before": None, "after": HEAD})
    written = ledger.read_bytes()
    assert document("migrate") == (0, {"before": HEAD, "after": HEAD})
    assert ledger.read_bytes() == written


def test_a_ledger_of_a_newer_version_is_left_as_it_is(ledger: Path, document: Document) -> None:
    document("migrate")
    connection = sqlite3.connect(ledger)
    connection.execute("UPDATE alembic_version SET version_num = 'v9999'")
    connection.commit()
    connection.close()
    code, said = document("migrate")
    assert code == 1
    assert "v9999, which this version of Sentinel does not know" in said["detail"]
    assert "Nothing was changed" in said["detail"]


def test_finish_lets_records_be_stored_short_once_no_earlier_gateway_lives(ledger: Path, document: Document) -> None:
    document("migrate")
    assert document("migrate", "--finish") == (0, {"before": HEAD, "after": HEAD, "finished": False})
    with closing(sqlite3.connect(ledger)) as connection:
        connection.execute("DROP TRIGGER forms_refuse_delete")
        connection.execute("DELETE FROM forms")
        connection.execute("INSERT INTO leases (owner, until) VALUES ('gtw_old', '9999-01-01T00:00:00.000000Z')")
        connection.commit()
        code, said = document("migrate", "--finish")
        assert code == 1
        assert "A gateway of an earlier version holds a lease" in said["detail"]
        assert "Nothing was changed" in said["detail"]
        connection.execute("DELETE FROM leases")
        connection.commit()
    assert document("migrate", "--finish") == (0, {"before": HEAD, "after": HEAD, "finished": True})
