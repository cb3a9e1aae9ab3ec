"""Parquet is read back with every record and type; without DuckDB it is refused with a sentence."""

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from gateway.errors import SettingsInvalid
from gateway.exports.columns import COLUMNS, column_line
from gateway.exports.parquet import open_duckdb, parquet_file, write_parquet
from gateway.ledger.exported import ExportedRecord


def test_it_is_read_back(records: Sequence[ExportedRecord], tmp_path: Path) -> None:
    file = tmp_path / "it's.parquet"
    file.write_bytes(parquet_file(b"\n".join(map(column_line, records))))
    with open_duckdb() as connection:
        found = connection.execute("SELECT * FROM read_parquet(?) ORDER BY seq", [str(file)])
        assert [column[0] for column in found.description or ()] == list(COLUMNS)
        rows = found.fetchall()
        kinds = dict(connection.execute("SELECT name, type FROM parquet_schema(?)", [str(file)]).fetchall())
    assert [(row[0], row[-1]) for row in rows] == [(each.row.seq, each.row.hash) for each in records]
    assert kinds["seq"] == kinds["time"] == "INT64"


def test_a_path_with_a_quote_is_a_path(tmp_path: Path, records: Sequence[ExportedRecord]) -> None:
    lines, made = tmp_path / "li'nes.json", tmp_path / "ma'de.parquet"
    lines.write_bytes(column_line(records[0]))
    write_parquet(lines, made)
    assert made.read_bytes()[:4] == b"PAR1"


def test_without_duckdb_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(SettingsInvalid, match=r"pip install 'sentinel-gateway\[export\]'"):
        open_duckdb()


def test_it_loads_nothing_from_elsewhere() -> None:
    with open_duckdb() as connection:
        asked = "SELECT name, value FROM duckdb_settings() WHERE name LIKE 'auto%known_extensions'"
        assert dict(connection.execute(asked).fetchall()) == {
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
        }
