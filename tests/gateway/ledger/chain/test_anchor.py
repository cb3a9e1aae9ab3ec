"""Checkpoints are signed when due and at the end, over verified records only; without them the ledger stops taking records."""

import sqlite3
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import Connection

from gateway.core.errors import LedgerBroken, LedgerUnavailable
from gateway.core.records.record import Stage
from gateway.ledger.chain import anchor as anchor_module
from gateway.ledger.chain.anchor import Anchor, agreed_end
from gateway.ledger.chain.checkpoint import Checkpoint, CheckpointFile
from gateway.ledger.chain.hashes import START
from gateway.ledger.store.database import Store
from gateway.ledger.store.opening import prepare
from gateway.ledger.store.rows import ChainEndRow
from gateway.ledger.store.statements import Session
from gateway.ledger.store.transaction import Transaction
from tests.kit.bodies import sample_record
from tests.kit.stores import KEYS

NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def file(tmp_path: Path) -> CheckpointFile:
    return CheckpointFile(tmp_path / "checkpoint", KEYS.signing)


@pytest.fixture
def anchor(store: Store, file: CheckpointFile) -> Iterator[Anchor]:
    opened = Anchor(store, KEYS.chain, file, end=START)
    yield opened
    opened.close()


def append(store: Store, count: int) -> ChainEndRow:
    """Write records as the writer does; the last one."""

    def write(connection: Connection) -> ChainEndRow:
        store.lock(connection)
        transaction = Transaction(connection, KEYS.chain)
        for _ in range(count):
            transaction.append(sample_record(stage=Stage.TURNED_AWAY, at=NOW), resources=[("a", "b")])
        connection.commit()
        assert transaction.end is not None
        return transaction.end

    with store.connect(writes=True) as connection:
        return write(connection)


def tamper(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        connection.execute(f"DROP TRIGGER {name}")
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def test_it_signs_over_the_last_record(store: Store, file: CheckpointFile, anchor: Anchor) -> None:
    for count in (3, 2):
        end = append(store, count)
        anchor.sign()
        assert file.read() == Checkpoint(size=end.seq, hash=end.hash)


def until(condition: Callable[[], bool]) -> None:
    """Wait for a condition, which must come true in 300 seconds."""
    end = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_committed_record_is_signed_without_another_one(store: Store, file: CheckpointFile, anchor: Anchor) -> None:
    for size in (1, 2):
        end = append(store, 1)
        anchor.committed(end)
        until(partial(_is_signed, file, Checkpoint(size=size, hash=end.hash)))


def _is_signed(file: CheckpointFile, checkpoint: Checkpoint) -> bool:
    return file.read() == checkpoint


def test_many_commits_share_a_checkpoint(
    store: Store, file: CheckpointFile, anchor: Anchor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two checkpoints the thread waits, however often it is woken; closing ends the wait."""
    monkeypatch.setattr(anchor_module, "APART_SECONDS", 10_000.0)
    written: list[int] = []
    write = file.write

    def note(checkpoint: Checkpoint) -> None:
        written.append(checkpoint.size)
        write(checkpoint)

    monkeypatch.setattr(file, "write", note)
    anchor.committed(append(store, 1))
    until(lambda: anchor._signed == 1)
    for _ in range(30):
        anchor.committed(append(store, 1))
    anchor.close()
    assert written == [1, 31]


def test_a_record_before_a_known_one_says_nothing(store: Store, anchor: Anchor) -> None:
    """A transaction that appends nothing ends where its writer last wrote, which may be the start."""
    end = append(store, 3)
    anchor.committed(end)
    anchor.committed(START)
    assert anchor._committed == end


CUT = {
    "cut": ("DELETE FROM records WHERE seq > 5", "missing"),
    "cut to the checkpoint": ("DELETE FROM records WHERE seq > 3", "missing"),
    "rewritten": ("UPDATE records SET hash = previous WHERE seq = 6", "rewritten"),
}


@pytest.mark.parametrize(("statement", "named"), CUT.values(), ids=CUT)
def test_less_than_this_process_wrote_is_never_signed(
    store: Store, file: CheckpointFile, statement: str, named: str
) -> None:
    append(store, 3)
    signed = Anchor(store, KEYS.chain, file, end=START)
    signed.sign()
    signed.close()
    anchor = Anchor(store, KEYS.chain, file, end=append(store, 3))
    known = anchor._committed
    tamper(file.path.with_name("ledger.db"), statement)
    with pytest.raises(LedgerBroken, match=f"^Record 6 .*{named}"):
        anchor.sign()
    anchor._try_to_sign()
    with pytest.raises(LedgerUnavailable, match=r"^Record 6 "):
        anchor.guard()
    anchor.close()
    assert file.read() == Checkpoint(size=6, hash=known.hash)
    with pytest.raises(LedgerBroken, match=r"^Record 6 "):
        prepare(store, KEYS.chain, file)


def test_what_others_appended_after_ours_is_signed(store: Store, file: CheckpointFile, anchor: Anchor) -> None:
    anchor.committed(append(store, 2))
    end = append(store, 3)
    anchor.sign()
    assert file.read() == Checkpoint(size=5, hash=end.hash)


def test_closing_signs_what_is_left(store: Store, file: CheckpointFile, anchor: Anchor) -> None:
    anchor.committed(append(store, 1))
    anchor.close()
    signed = file.read()
    assert signed is not None
    assert signed.size == 1


def test_only_new_records_are_read(store: Store, file: CheckpointFile, anchor: Anchor, tmp_path: Path) -> None:
    """What lies before the last checkpoint is left to `sentinel verify`, so the cost does not grow with the ledger."""
    append(store, 3)
    anchor.sign()
    tamper(tmp_path / "ledger.db", "UPDATE records SET actor = 'eve' WHERE seq = 2")
    append(store, 1)
    anchor.sign()
    signed = file.read()
    assert signed is not None
    assert signed.size == 4


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("UPDATE records SET actor = 'eve' WHERE seq = 5", "^Record 5 "),
        ("DELETE FROM records WHERE seq = 5", "^Record 5 is missing"),
        ("DELETE FROM record_resources WHERE seq = 6", "^Record 6 "),
        ("DELETE FROM records WHERE seq > 2", "^Record 3 is missing"),
        ("DELETE FROM records", "^Record 3 is missing"),
        ("UPDATE records SET hash = previous WHERE seq = 3", "^Record 3 is not the one"),
    ],
)
def test_a_broken_ledger_is_not_signed_over_and_takes_no_more(
    store: Store, file: CheckpointFile, anchor: Anchor, statement: str, named: str
) -> None:
    append(store, 3)
    anchor.sign()
    before = file.read()
    end = append(store, 3)
    tamper(file.path.with_name("ledger.db"), statement)
    anchor.committed(end)
    with pytest.raises(LedgerBroken, match=named):
        anchor.sign()
    anchor._try_to_sign()
    assert file.read() == before
    with pytest.raises(LedgerUnavailable, match=named):
        anchor.guard()


def test_a_place_that_cannot_be_written_is_tolerated_for_a_while(store: Store, tmp_path: Path) -> None:
    (tmp_path / "occupied").write_text("")
    nowhere = CheckpointFile(tmp_path / "elsewhere" / "x", KEYS.signing)
    anchor = Anchor(store, KEYS.chain, nowhere, end=START)
    (tmp_path / "elsewhere").write_text("")
    anchor.committed(append(store, 1))
    anchor._try_to_sign()
    assert "cannot be locked" in anchor.problem
    anchor.guard()
    anchor.committed(append(store, anchor_module.EVERY_RECORDS - 1))
    with pytest.raises(LedgerUnavailable, match="cannot be locked"):
        anchor.guard()
    (tmp_path / "elsewhere").unlink()
    anchor._try_to_sign()
    assert anchor.problem == ""
    anchor.guard()
    anchor.close()


def test_an_unexpected_failure_does_not_end_the_thread(
    store: Store, anchor: Anchor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise RuntimeError

    monkeypatch.setattr(anchor, "sign", fail)
    anchor.committed(append(store, 1))
    anchor._try_to_sign()
    assert "RuntimeError" in anchor.problem
    assert anchor._thread.is_alive()


def test_another_process_may_be_ahead(store: Store, file: CheckpointFile, anchor: Anchor) -> None:
    other = Anchor(store, KEYS.chain, file, end=START)
    ours = append(store, 3)
    end = append(store, 2)
    other.sign()
    anchor.committed(ours)
    anchor.sign()
    other.close()
    assert file.read() == Checkpoint(size=5, hash=end.hash)


def test_without_a_checkpoint_the_chain_is_read_from_its_start(store: Store, file: CheckpointFile) -> None:
    with store.connect() as connection:
        assert agreed_end(Session(connection), KEYS.chain, None, file) == START
        assert agreed_end(Session(connection), KEYS.chain, Checkpoint(size=0, hash=START.hash), file) == START
