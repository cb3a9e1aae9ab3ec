"""Exports are kept up to date: what fails for a time is tried again, a ledger that was tampered with is not."""

import os
import shutil
import signal
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from gateway.core.errors import LedgerBroken
from gateway.core.settings import Settings
from gateway.core.settings.exports import ExportFormatName, ExportSettings
from gateway.exports import continuous
from gateway.exports.continuous import OpenedLedger, keep_up, progress
from gateway.exports.destination import ExportFailed
from gateway.exports.exporter import Exporter
from gateway.ledger.ask.exports import ExportedRecord
from gateway.ledger.sealed_ledger import ledger_keys
from gateway.ledger.store.database import open_store
from tests.kit.stores import KEYS, MASTER


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
    with continuous.OpenedLedger.open(settings) as opened:
        assert opened.key == ledger_keys(MASTER).chain
        assert progress(opened) == []
