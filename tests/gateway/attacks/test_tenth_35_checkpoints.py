"""Tenth audit, 35: something else lies where the checkpoint is, on a disk that others write to, and the ledger goes on without checkpoints.

The attack: a pipe in place of the checkpoint, whose reader waits for ever; a lock that another process keeps; a disk that hangs; a link of the name
of the temporary file, which has another file overwritten. Waiting was no failure, so the limit of records without a checkpoint never held. What
must hold: what is no file is refused at once, a lock and a disk are waited for so long, and a temporary file is nobody else's.
"""

import fcntl
import os
import threading
from pathlib import Path

import pytest

from gateway.core.errors import LedgerUnavailable
from gateway.ledger.chain import anchor as anchor_module
from gateway.ledger.chain import checkpoint as checkpoint_module
from gateway.ledger.chain.anchor import Anchor
from gateway.ledger.chain.checkpoint import Checkpoint, CheckpointFile
from gateway.ledger.chain.hashes import START
from gateway.ledger.store.database import open_store
from gateway.ledger.store.rows import ChainEndRow
from tests.kit.stores import KEYS

CHECKPOINT = Checkpoint(size=7, hash="ab" * 32)


@pytest.fixture
def file(tmp_path: Path) -> CheckpointFile:
    return CheckpointFile(tmp_path / "checkpoint", KEYS.signing)


@pytest.mark.parametrize("kind", ["pipe", "directory", "link to a pipe"])
def test_what_is_no_file_is_no_checkpoint(file: CheckpointFile, kind: str) -> None:
    place = file.path if kind != "link to a pipe" else file.path.with_name("pipe")
    if kind == "directory":
        place.mkdir()
    else:
        os.mkfifo(place)
    if place != file.path:
        file.path.symlink_to(place)
    with pytest.raises(LedgerUnavailable, match="cannot be read"):
        file.read()


def test_a_link_of_the_temporary_name_overwrites_nothing(file: CheckpointFile, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("kept")
    (tmp_path / f".checkpoint.{os.getpid()}").symlink_to(victim)
    file.write(CHECKPOINT)
    assert (victim.read_text(), file.read()) == ("kept", CHECKPOINT)


def test_a_checkpoint_that_cannot_be_replaced_leaves_no_rest(file: CheckpointFile, tmp_path: Path) -> None:
    file.path.mkdir()
    with pytest.raises(LedgerUnavailable, match="cannot be written"):
        file.write(CHECKPOINT)
    assert [each.name for each in tmp_path.iterdir()] == ["checkpoint"]


def test_a_lock_that_is_kept_is_not_waited_for_for_ever(file: CheckpointFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint_module, "LOCK_SECONDS", 0.05)
    with file.locked():
        pass
    held = os.open(file.path.with_name(f".{file.path.name}.lock"), os.O_RDWR)
    fcntl.flock(held, fcntl.LOCK_EX)
    with pytest.raises(LedgerUnavailable, match="Another process holds its lock"), file.locked():
        pass
    os.close(held)
    with file.locked():
        file.write(CHECKPOINT)


def test_a_disk_that_hangs_ends_what_is_taken_without_a_checkpoint(
    file: CheckpointFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(anchor_module, "HUNG_SECONDS", 0.0)
    hangs, goes_on = threading.Event(), threading.Event()

    class Hanging(CheckpointFile):
        """A file on a disk that does not answer."""

        def read(self) -> Checkpoint | None:
            """Wait."""
            if threading.current_thread().name == "ledger-anchor":
                hangs.set()
                goes_on.wait(300)
            return super().read()

    store = open_store(f"sqlite:///{tmp_path / 'ledger.db'}")
    anchor = Anchor(store, KEYS.chain, Hanging(file.path, KEYS.signing), end=START)
    anchor.guard()
    anchor.committed(ChainEndRow(anchor_module.EVERY_RECORDS, "ab" * 32))
    assert hangs.wait(300)
    with pytest.raises(LedgerUnavailable, match="its disk does not answer"):
        anchor.guard()
    goes_on.set()
    anchor.close()
    store.close()
