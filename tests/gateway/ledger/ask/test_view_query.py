"""What is refused before a database is asked; tests/ports/test_view_query.py asks both."""

import asyncio
import json
from decimal import Decimal
from pathlib import Path

import pytest

from gateway.core.errors import LedgerUnavailable, Malformed, SettingsInvalid
from gateway.ledger.ask.view_query import LONGEST_QUERY, _is_harmless, ask_postgresql, ask_sqlite, ask_views, plain_cell
from tests.kit.exports import write_history


@pytest.mark.parametrize("query", ["", " ; ", "SELECT 1" + " " * LONGEST_QUERY + "AS a"])
def test_nothing_and_too_much_are_refused(query: str) -> None:
    with pytest.raises(Malformed, match="one SELECT"):
        ask_views("sqlite:////nonexistent/ledger.db", query, most=1, seconds=300)


def test_an_empty_database_is_not_filled(tmp_path: Path) -> None:
    with pytest.raises(LedgerUnavailable, match="revision none"):
        ask_views(f"sqlite:///{tmp_path / 'ledger.db'}", "SELECT 1 AS a", most=1, seconds=300)


def test_another_kind_of_database_is_refused() -> None:
    with pytest.raises(SettingsInvalid):
        ask_views("mysql://x", "SELECT 1 AS a", most=1, seconds=300)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (Decimal(3), "3"), (3.0, "3"), (Decimal("0.5"), "0.5"), (Decimal("Infinity"), "Infinity"), (float("-inf"), "-inf"), (Decimal("NaN"), "NaN"),
        (Decimal("1E+9000"), "1E+9000"), (Decimal("1E+40"), "1" + "0" * 40), (10.0**301, "1e+301"), (b"x", "b'x'"), (None, "None"),
    ],
)  # fmt: skip
def test_every_number_can_be_shown(given: object, shown: str) -> None:
    """Both as text, which Python refuses for whole numbers of thousands of digits, and as JSON."""
    assert str(plain_cell(given)) == shown
    assert json.dumps(plain_cell(given), allow_nan=False)


@pytest.mark.parametrize(
    ("name", "volatile", "schema", "harmless"),
    [
        ("upper", "i", "pg_catalog", True),
        ("date_trunc", "s", "pg_catalog", True),
        ("to_char", "s", "pg_catalog", True),
        ("table_to_xml", "s", "pg_catalog", False),
        ("pg_read_file", "v", "pg_catalog", False),
        ("current_setting", "s", "pg_catalog", False),
        ("now", "v", "pg_catalog", False),
        ("upper", "i", "public", False),
    ],
)
def test_only_what_reads_nothing_is_harmless(name: str, volatile: str, schema: str, harmless: bool) -> None:
    assert _is_harmless(name, volatile, schema) is harmless


def test_a_server_that_is_not_there_is_a_sentence() -> None:
    with pytest.raises(LedgerUnavailable, match="cannot be read"):
        ask_postgresql("postgresql://sentinel@/none?host=/nonexistent", "SELECT 1", most=1, seconds=300)


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
