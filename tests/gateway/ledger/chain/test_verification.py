"""Verification reads one snapshot, in memory that does not grow, and says what it checked. tests/ports/test_ledger_tampering.py tampers."""

from pathlib import Path
from typing import Any

import pytest

from gateway.core.errors import LedgerBroken
from gateway.core.ports import RecordQuery
from gateway.ledger.chain.checkpoint import Checkpoint, CheckpointFile
from gateway.ledger.chain.derive.derivation import Derivation
from gateway.ledger.chain.verification import verify_ledger
from gateway.ledger.store.tables import FIRST_PREVIOUS
from tests.kit.history import History
from tests.kit.stores import KEYS


async def test_it_says_what_was_checked(scene: Any, tmp_path: Path) -> None:
    await History(scene.ledger).write()
    [last] = await scene.ledger.records(RecordQuery(limit=1))
    file = CheckpointFile(tmp_path / "checkpoint", KEYS.signing)
    assert verify_ledger(scene.ledger._store, KEYS.chain, file).checkpoint is None
    file.write(Checkpoint(size=last.seq, hash=last.hash))
    done = verify_ledger(scene.ledger._store, KEYS.chain, file)
    assert (done.records, done.checkpoint) == (last.seq, file.read())
    assert set(done.rows) == {
        "keys",
        "attempts",
        "claims",
        "holds",
        "approvals",
        "applied_values",
        "spent_signatures",
        "signals",
        "time_boxes",
        "stops",
        "budgets",
        "plan_sessions",
        "plan_uses",
    }


async def test_a_checkpoint_of_an_earlier_record_fits(scene: Any, tmp_path: Path) -> None:
    await History(scene.ledger).write()
    [earlier] = await scene.ledger.records(RecordQuery(limit=1, newest_first=False, after_seq=4))
    file = CheckpointFile(tmp_path / "checkpoint", KEYS.signing)
    file.write(Checkpoint(size=5, hash=earlier.hash))
    assert verify_ledger(scene.ledger._store, KEYS.chain, file).checkpoint == file.read()
    file.write(Checkpoint(size=5, hash=FIRST_PREVIOUS))
    with pytest.raises(LedgerBroken, match=r"^Record 5 is not the one"):
        verify_ledger(scene.ledger._store, KEYS.chain, file)


async def test_memory_holds_only_what_can_still_change(scene: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted in rows after each record: settled attempts and ended claims are compared and forgotten."""
    most = []

    class Counting(Derivation):
        def follow(self, row: Any) -> None:
            super().follow(row)
            most.append(sum(len(part.table.rows) + len(part.table._final) for part in self.parts))

    monkeypatch.setattr("gateway.ledger.chain.verification.Derivation", Counting)
    monkeypatch.setattr("gateway.ledger.chain.derive.expected_table._BATCH", 5)
    previous: tuple[str, ...] = ()
    for number in range(100):
        [claim] = await scene.execute(scene.mutation(10 + number), supersedes=previous)
        previous = (claim.id,)
    assert await scene.ledger.verify() == 200
    assert max(most) < 20


async def test_a_wrong_master_key_verifies_nothing(scene: Any) -> None:
    await scene.execute(scene.mutation())
    with pytest.raises(LedgerBroken, match=r"^Record 1 .*without the master key"):
        verify_ledger(scene.ledger._store, b"x" * 32, None)
