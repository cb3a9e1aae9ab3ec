"""A record as columns, and as it is hashed."""

import csv
import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from gateway.core.errors import SettingsInvalid
from gateway.core.model.json import canonical
from gateway.core.records.record import Stage
from gateway.exports.columns import (
    COLUMNS,
    column_line,
    column_values,
    csv_head,
    csv_row,
    json_line,
    open_duckdb,
    parquet_file,
    row_place,
    write_parquet,
)
from gateway.ledger.ask.exports import ExportedRecord
from gateway.ledger.chain.hashes import HASHED, VERSION, keyed_hash
from tests.kit.exports import record
from tests.kit.stores import KEYS


def test_csv_is_read_back_with_every_column(records: Sequence[ExportedRecord]) -> None:
    text = (csv_head() + b"".join(map(csv_row, records))).decode()
    found = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [int(row["seq"]) for row in found] == [each.row.seq for each in records]
    assert set(found[0]) == set(COLUMNS)
    assert [row["hash"] for row in found] == [each.row.hash for each in records]


def test_the_door_of_a_consent_is_its_own() -> None:
    """Older records of consents have none; the door of the call that they are about would be another one."""
    decided = {"door": "aws"}
    for body, door in (({"door": "chat"}, "chat"), ({}, "")):
        assert column_values(record(Stage.APPROVED, body, decided=decided))["door"] == door
    assert column_values(record(Stage.SETTLED, {}, decided=decided))["door"] == "aws"


def test_no_cell_is_a_formula() -> None:
    sender = {"sender": {"user_agent": "=HYPERLINK(1)"}, "decision": {}}
    row = csv_row(record(Stage.DECIDED, sender)).decode()
    assert '"\'=HYPERLINK(1)"' in row


@pytest.mark.parametrize("text", ["\n=1+1", "＝1+1", "＠SUM(1)", "-1+1"])
def test_nor_does_one_begin_with_what_some_spreadsheets_take_for_one(text: str) -> None:
    assert f"\"'{text}" in csv_row(record(Stage.DECIDED, {"motive": {"text": text}})).decode()


def test_a_separator_of_other_countries_makes_no_cell() -> None:
    """Where a spreadsheet separates by `;`, a text with one is still one cell."""
    row = csv_row(record(Stage.DECIDED, {"motive": {"text": "lag;=HYPERLINK(1)"}})).decode()
    assert '"lag;=HYPERLINK(1)"' in row
    assert row.replace('"lag;=HYPERLINK(1)"', "").count(";") == 0


def test_a_json_line_can_be_verified(records: Sequence[ExportedRecord]) -> None:
    """Who has the key computes each record's hash from its line alone."""
    for each in records:
        told = json.loads(json_line(each))
        assert told["version"] == VERSION
        pairs = [tuple(pair) for pair in told["resources"]]
        fields = [told[name] for name in HASHED]
        assert keyed_hash(KEYS.chain, told["previous"], fields, pairs, canonical(told["body"]).decode()) == told["hash"]


def test_columns_say_what_was_asked_and_decided() -> None:
    body = {
        "caller": {"kind": "agent", "key_id": "SNTL1"},
        "call": {"service": "sqs", "operation": "SetQueueAttributes"},
        "motive": {"intent": "cost", "evidence": ["INC-1", "INC-2"]},
        "decision": {"verdict": "deny", "findings": [{"verdict": "deny", "rule": "SEN-1", "reason": "No."}]},
    }
    values = column_values(record(Stage.DECIDED, body))
    told = {
        name: values[name] for name in ("kind", "service", "intent", "evidence", "verdict", "rule", "reason", "outcome")
    }
    assert told == {
        "kind": "agent",
        "service": "sqs",
        "intent": "cost",
        "evidence": "INC-1 INC-2",
        "verdict": "deny",
        "rule": "SEN-1",
        "reason": "No.",
        "outcome": "denied",
    }
    assert row_place(record(Stage.DECIDED, body)) == "region=global/accountId=unknown/eventDay=20261122"


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
