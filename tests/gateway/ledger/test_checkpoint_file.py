"""The file holds the old checkpoint or the new one, belongs to one writer at a time, and nothing else passes for it."""

import os
import threading
from pathlib import Path

import pytest

from gateway.errors import LedgerBroken, LedgerUnavailable
from gateway.ledger.checkpoint import Checkpoint
from gateway.ledger.checkpoint_file import CheckpointFile
from tests.kit.sealed import KEYS

FIRST = Checkpoint(size=1, hash="ab" * 32)


@pytest.fixture
def file(tmp_path: Path) -> CheckpointFile:
    return CheckpointFile(tmp_path / "ledger.checkpoint", KEYS.signing)


def test_what_was_written_is_read(file: CheckpointFile) -> None:
    assert file.read() is None
    for size in (1, 2):
        file.write(Checkpoint(size=size, hash="ab" * 32))
        assert file.read() == Checkpoint(size=size, hash="ab" * 32)
    assert [path.name for path in file.path.parent.iterdir()] == [file.path.name]


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"sentinel/ledger\n0\n\n", b"x" * 100_000])
def test_what_we_did_not_sign_is_refused_and_the_file_named(file: CheckpointFile, content: bytes) -> None:
    file.path.write_bytes(content)
    with pytest.raises(LedgerBroken, match=r"ledger\.checkpoint"):
        file.read()


def test_a_place_that_cannot_be_used_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "occupied").write_text("")
    nowhere = CheckpointFile(tmp_path / "occupied" / "x", KEYS.signing)
    with pytest.raises(LedgerUnavailable, match="cannot be written"):
        nowhere.write(FIRST)
    with pytest.raises(LedgerUnavailable, match="cannot be locked"), nowhere.locked():
        pass
    (tmp_path / "directory").mkdir()
    with pytest.raises(LedgerUnavailable, match="cannot be read"):
        CheckpointFile(tmp_path / "directory", KEYS.signing).read()


def test_a_failed_write_leaves_the_old_one(file: CheckpointFile, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write(FIRST)

    def fail(_file: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(LedgerUnavailable, match="No space left"):
        file.write(Checkpoint(size=2, hash="cd" * 32))
    assert file.read() == FIRST


def test_only_one_holds_the_lock(file: CheckpointFile) -> None:
    order = []

    def second() -> None:
        with file.locked():
            order.append("second")

    with file.locked():
        thread = threading.Thread(target=second)
        thread.start()
        thread.join(0.05)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]
