"""One export on one ledger: ranges, partitions, a beginning, and a ledger that is not the one that was exported."""

import asyncio
import gzip
import json
import os
import shutil
import signal
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from gateway.core.errors import LedgerBroken
from gateway.core.model.export_format import ExportFormatName
from gateway.core.settings import Settings
from gateway.core.settings.exports import ExportSettings
from gateway.exports.destination import DirectoryDestination, ExportFailed
from gateway.exports.exporter import Exporter, OpenedLedger, keep_up, progress
from gateway.ledger.ask.exports import ExportedRecord, start_since
from gateway.ledger.ledger_keys import ledger_keys
from gateway.ledger.store.database import open_store
from gateway.ledger.store.rows import ChainEndRow
from gateway.ledger.store.statements import Session
from tests.kit.exports import write_history
from tests.kit.history import NOW
from tests.kit.stores import KEYS, MASTER


@pytest.fixture
def exporter(ledger_file: Path, tmp_path: Path) -> Iterator[Exporter]:
    """An export of a copy of the ledger, fifty records at a time."""
    shutil.copy(ledger_file, tmp_path / "ledger.db")
    store = open_store(f"sqlite:///{tmp_path / 'ledger.db'}")
    yield Exporter(
        store=store,
        key=KEYS.chain,
        format=ExportFormatName.JSONL,
        destination=DirectoryDestination(tmp_path / "out"),
        now=lambda: NOW,
        most=50,
    )
    store.close()


def _all(exporter: Exporter) -> list[int]:
    steps = []
    while count := exporter.step():
        steps.append(count)
    return steps


def test_ranges_name_their_files_and_hold_every_record(
    exporter: Exporter, records: Sequence[ExportedRecord], tmp_path: Path
) -> None:
    assert _all(exporter) == [50] * (len(records) // 50) + [len(records) % 50]
    files = sorted((tmp_path / "out").rglob("*.gz"))
    place = "region=global/accountId=unknown/eventDay=20260301"
    assert files[0].relative_to(tmp_path / "out").as_posix() == f"{place}/000000000001-000000000050.json.gz"
    found = [json.loads(line)["seq"] for file in files for line in gzip.decompress(file.read_bytes()).splitlines()]
    assert sorted(found) == [each.row.seq for each in records]


def test_where_it_begins_is_asked_once(exporter: Exporter, monkeypatch: pytest.MonkeyPatch) -> None:
    """To find a time may read the whole ledger, and a running export steps for ever."""
    asked: list[str] = []

    def start(session: Session, since: str) -> ChainEndRow:
        asked.append(since)
        return start_since(session, since)

    monkeypatch.setattr("gateway.exports.exporter.start_since", start)
    later = replace(exporter, since=NOW + timedelta(minutes=1))
    assert len(_all(later)) > 1
    assert later.step() == 0
    assert len(asked) == 1


def test_each_sink_has_its_own_position(exporter: Exporter, tmp_path: Path) -> None:
    other = replace(exporter, format=ExportFormatName.CSV)
    assert _all(exporter) == _all(other)
    assert exporter.step() == other.step() == 0
    assert exporter.sink == f"jsonl {tmp_path / 'out'}"


def test_a_new_export_may_begin_later(exporter: Exporter) -> None:
    assert sum(_all(replace(exporter, since=NOW + timedelta(days=1)))) == 0


def test_a_destination_that_fails_keeps_the_range(
    exporter: Exporter, records: Sequence[ExportedRecord], tmp_path: Path
) -> None:
    (tmp_path / "out").write_text("a file where the directory should be")
    for _ in range(2):
        with pytest.raises(ExportFailed):
            exporter.step()
    (tmp_path / "out").unlink()
    assert sum(_all(exporter)) == len(records)


def test_a_ledger_that_was_cut_off_is_not_exported_further(exporter: Exporter) -> None:
    _all(exporter)
    with exporter.store.connect(writes=True) as connection:
        exporter.store.lock(connection)
        for (name,) in connection.execute(text("SELECT name FROM sqlite_master WHERE type = 'trigger'")).all():
            connection.execute(text(f"DROP TRIGGER {name}"))
        connection.execute(text("DELETE FROM records WHERE seq > 60"))
        connection.commit()
    with pytest.raises(LedgerBroken, match="ends at record 60"):
        exporter.step()


def test_another_ledger_in_its_place_is_not_exported(exporter: Exporter, tmp_path: Path) -> None:
    """The next record must name the hash of the last one that was exported."""
    assert exporter.step() == 50
    asyncio.run(write_history(f"sqlite:///{tmp_path / 'other.db'}"))
    with exporter.store.connect() as connection:
        position = connection.execute(text("SELECT * FROM exports")).one()
    other = open_store(f"sqlite:///{tmp_path / 'other.db'}")
    with other.connect(writes=True) as connection:
        other.lock(connection)
        connection.execute(text("INSERT INTO exports VALUES (:sink, :seq, :hash, :planned, :at)"), position._asdict())
        connection.commit()
    with pytest.raises(LedgerBroken, match=r"^Record 51 .*does not follow the one before it"):
        replace(exporter, store=other).step()
    other.close()


@pytest.fixture
def ledger(ledger_file: Path, tmp_path: Path) -> Iterator[OpenedLedger]:
    """A copy of the ledger."""
    shutil.copy(ledger_file, tmp_path / "ledger.db")
    with OpenedLedger(store=open_store(f"sqlite:///{tmp_path / 'ledger.db'}"), key=KEYS.chain) as opened:
        yield opened


def _sink(tmp_path: Path, form: ExportFormatName = ExportFormatName.JSONL) -> ExportSettings:
    return ExportSettings(format=form, to=str(tmp_path / "out"))


def test_every_sink_gets_what_it_lacks(ledger: OpenedLedger, records: Sequence[ExportedRecord], tmp_path: Path) -> None:
    sinks = [_sink(tmp_path), _sink(tmp_path, ExportFormatName.OCSF)]
    written = keep_up(ledger, sinks)
    assert list(written.values()) == [len(records), len(records)]
    assert list(keep_up(ledger, sinks).values()) == [0, 0]
    shown = progress(ledger)
    assert [each["sink"] for each in shown] == sorted(written)
    assert {(each["seq"], each["left"]) for each in shown} == {(len(records), 0)}


def test_without_following_a_failure_is_told(ledger: OpenedLedger, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("in the way")
    with pytest.raises(ExportFailed):
        keep_up(ledger, [_sink(tmp_path)])


def test_following_tries_again_until_it_is_told_to_stop(
    ledger: OpenedLedger, records: Sequence[ExportedRecord], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step, tries = Exporter.step, 0

    def sometimes(exporter: Exporter) -> int:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise ExportFailed("Not now.")
        if tries == 5:
            os.kill(os.getpid(), signal.SIGTERM)
        return step(exporter)

    monkeypatch.setattr(Exporter, "step", sometimes)
    before = signal.getsignal(signal.SIGTERM)
    written = keep_up(ledger, [_sink(tmp_path)], every=0.01)
    assert list(written.values()) == [len(records)]
    assert tries >= 5
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_ledger_that_was_tampered_with_ends_it(
    ledger: OpenedLedger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Exporter) -> int:
        raise LedgerBroken("Record 7 was changed.")

    monkeypatch.setattr(Exporter, "step", broken)
    with pytest.raises(LedgerBroken):
        keep_up(ledger, [_sink(tmp_path)], every=0.01)


def test_in_another_thread_no_signal_is_taken(ledger: OpenedLedger, tmp_path: Path) -> None:
    written: list[object] = []
    thread = threading.Thread(target=lambda: written.append(keep_up(ledger, [_sink(tmp_path)])))
    thread.start()
    thread.join()
    assert written


def test_the_settings_name_the_ledger_and_its_key(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, master_key=MASTER.decode())
    with OpenedLedger.open(settings) as opened:
        assert opened.key == ledger_keys(MASTER).chain
        assert progress(opened) == []
