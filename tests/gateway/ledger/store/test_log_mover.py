"""SQLite's log gets into its file without the writer, and a failure to move it hurts nobody."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from gateway.core.errors import LedgerUnavailable
from gateway.core.records.record import Stage
from gateway.ledger.store import log_mover
from gateway.ledger.store.database import Store
from gateway.ledger.store.log_mover import LogMover
from gateway.ledger.store.transaction import Transaction
from gateway.ledger.store.writer import Writer
from tests.kit.bodies import sample_record
from tests.kit.stores import KEYS

NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def mover(store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[LogMover]:
    monkeypatch.setattr(log_mover, "EVERY_JOBS", 4)
    opened = LogMover(store)
    yield opened
    opened.close()


@pytest.fixture
def writer(store: Store, mover: LogMover) -> Iterator[Writer]:
    opened = Writer(store, KEYS.chain, mover=mover)
    yield opened
    opened.close()


async def _append(writer: Writer, times: int) -> None:
    def append(transaction: Transaction) -> int:
        return transaction.append(sample_record(stage=Stage.DECIDED, at=NOW))

    for _ in range(times):
        await writer.submit(append)


def _in_file(path: Path) -> int:
    """How many records are in the file itself, without its log."""
    connection = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    try:
        return int(connection.execute("SELECT count(*) FROM records").fetchone()[0])
    except sqlite3.DatabaseError:
        return 0  # while pages are written
    finally:
        connection.close()


def _comes_true(seen: Callable[[], bool]) -> bool:
    until = monotonic() + 300
    while not seen() and monotonic() < until:
        sleep(0.01)
    return seen()


async def test_the_log_is_moved_beside_the_writer(writer: Writer, tmp_path: Path) -> None:
    await _append(writer, 3)
    assert _in_file(tmp_path / "ledger.db") == 0
    await _append(writer, 1)
    assert _comes_true(lambda: _in_file(tmp_path / "ledger.db") == 4)


async def test_a_log_that_could_not_be_moved_is_moved_later(
    writer: Writer, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = []

    def refused(*_: Any, **__: Any) -> Any:
        tried.append(1)
        raise LedgerUnavailable("The disk failed.")

    await _append(writer, 3)
    with monkeypatch.context() as patched:
        patched.setattr(store, "connect", refused)
        await _append(writer, 1)
        assert _comes_true(lambda: bool(tried))
    await _append(writer, 4)
    assert _comes_true(lambda: _in_file(tmp_path / "ledger.db") == 8)


def test_it_ends_when_it_is_closed_just_as_it_wakes_to_move_the_log(mover: LogMover) -> None:
    """The call of `close` may come between the wake-up for a commit and its clearing."""

    class ClosedMeanwhile(threading.Event):
        def clear(self) -> None:
            mover._closed = True
            self.set()
            super().clear()

    before, mover._wake = mover._wake, ClosedMeanwhile()
    before.set()  # the thread waits here, and looks at the other from then on
    mover.committed(4)
    mover._thread.join(60)
    assert not mover._thread.is_alive()
