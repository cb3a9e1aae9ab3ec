"""One file of a time: streamed, compressed by its name, and there only if it is whole."""

import gzip
import io
import json
from collections.abc import Generator, Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from gateway.core.errors import LedgerBroken
from gateway.core.model.export_format import ExportFormatName
from gateway.exports.columns import open_duckdb
from gateway.exports.destination import ExportFailed
from gateway.exports.formats import FORMATS
from gateway.exports.one_file import export_once, whole_file
from gateway.ledger.ask.exports import ExportedRecord, exported_records
from gateway.ledger.store.database import Store
from gateway.ledger.store.rows import ChainEndRow
from gateway.ledger.store.statements import Session
from gateway.ledger.store.timestamps import to_text
from tests.kit.history import NOW
from tests.kit.stores import KEYS


@pytest.mark.parametrize("name", [each for each in ExportFormatName if each is not ExportFormatName.PARQUET])
def test_what_is_printed_is_the_plain_content_of_a_file(
    store: Store, records: Sequence[ExportedRecord], name: ExportFormatName
) -> None:
    out, form = io.BytesIO(), FORMATS[name]
    count = export_once(store, KEYS.chain, name, out)
    lines = [form.line(each) for each in records if form.has(each)]
    assert count == len(lines)
    assert out.getvalue() == form.content(lines)


def test_a_time_has_a_beginning_and_an_end(store: Store, records: Sequence[ExportedRecord]) -> None:
    counts = [
        export_once(store, KEYS.chain, ExportFormatName.JSONL, io.BytesIO(), **span)
        for span in (
            {"since": NOW},
            {"until": NOW},
            {"since": NOW + timedelta(minutes=1)},
            {"until": NOW + timedelta(days=9)},
        )
    ]
    assert counts[0] == counts[3] == len(records)
    assert counts[1] == 0
    assert 0 < counts[2] < len(records)


def test_what_came_after_its_end_is_not_read(
    store: Store, records: Sequence[ExportedRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    ends: list[int] = []

    def read(session: Session, key: bytes, after: ChainEndRow, last: int) -> Generator[ExportedRecord]:
        ends.append(last)
        return exported_records(session, key, after, last)

    monkeypatch.setattr("gateway.exports.one_file.exported_records", read)
    until = NOW + timedelta(minutes=1)
    export_once(store, KEYS.chain, ExportFormatName.JSONL, io.BytesIO(), until=until)
    assert ends == [max(each.row.seq for each in records if each.row.at < to_text(until))]


def test_of_nothing_cloudtrail_is_still_a_document(store: Store) -> None:
    out = io.BytesIO()
    assert export_once(store, KEYS.chain, ExportFormatName.CLOUDTRAIL, out, until=NOW) == 0
    assert json.loads(out.getvalue()) == {"Records": []}


def test_parquet_is_made_by_way_of_a_file(store: Store, records: Sequence[ExportedRecord], tmp_path: Path) -> None:
    with whole_file(tmp_path / "all.parquet") as file:
        assert export_once(store, KEYS.chain, ExportFormatName.PARQUET, file) == len(records)
    with open_duckdb() as connection:
        found = connection.execute("SELECT count(*) FROM read_parquet(?)", [str(tmp_path / "all.parquet")]).fetchone()
    assert found == (len(records),)


def test_another_key_exports_nothing(store: Store) -> None:
    with pytest.raises(LedgerBroken, match="Record 1 "):
        export_once(store, b"another", ExportFormatName.JSONL, io.BytesIO())


def test_a_file_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    with whole_file(tmp_path / "a.json.gz") as file:
        file.write(b"lines")
    assert gzip.decompress((tmp_path / "a.json.gz").read_bytes()) == b"lines"
    with pytest.raises(ZeroDivisionError):
        _broken(tmp_path / "b.json")
    assert [each.name for each in tmp_path.iterdir()] == ["a.json.gz"]
    with pytest.raises(ExportFailed, match="Nothing was left there"), whole_file(tmp_path / "no" / "c.json"):
        pass


def _broken(path: Path) -> None:
    with whole_file(path) as file:
        file.write(b"half")
        raise ZeroDivisionError
