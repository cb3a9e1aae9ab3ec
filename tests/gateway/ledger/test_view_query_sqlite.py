"""The guard of SQLite's queries, where only SQLite can be asked; tests/ports/test_view_query.py asks the same of both databases."""

import asyncio
from pathlib import Path

import pytest

from gateway.errors import LedgerUnavailable, Malformed
from gateway.ledger.view_query_sqlite import ask_sqlite
from tests.kit.exported import write_history


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger whose path needs quotes in a URL."""
    file = tmp_path_factory.mktemp("a b#c") / "ledger.db"
    asyncio.run(write_history(f"sqlite:///{file}"))
    return file


def test_a_value_of_gigabytes_is_refused(file: Path) -> None:
    for query in (
        "SELECT zeroblob(1000000000) AS x",
        "SELECT hex(randomblob(100000000)) AS x",
    ):
        with pytest.raises(Malformed):
            ask_sqlite(file, query, most=1, seconds=300)


@pytest.mark.parametrize("name", ["sqlite_stmt", "dbstat", "pragma_database_list", "exports", "KEYS"])
def test_no_table_is_even_counted(file: Path, name: str) -> None:
    with pytest.raises(Malformed):
        ask_sqlite(file, f"SELECT count(*) FROM {name}", most=1, seconds=300)  # noqa: S608  names of ours


def test_a_path_that_a_url_would_misread_is_read(file: Path) -> None:
    columns, rows = ask_sqlite(file, "SELECT count(*) AS n FROM effects", most=1, seconds=300)
    assert (columns, rows[0][0] > 50) == (["n"], True)


def test_no_file_is_made(tmp_path: Path) -> None:
    with pytest.raises(LedgerUnavailable):
        ask_sqlite(tmp_path / "none.db", "SELECT 1 AS a", most=1, seconds=300)
    assert list(tmp_path.iterdir()) == []
