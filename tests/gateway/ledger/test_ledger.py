"""Closing a ledger records how many refusals were dropped; a closed ledger refuses every call."""

from pathlib import Path
from typing import Any

import pytest

from gateway.core.errors import LedgerUnavailable
from gateway.core.model.inbound import Refusal
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from gateway.ledger.ledger import open_ledger
from tests.kit.stores import KEYS


async def test_closing_records_how_many_refusals_were_dropped(scene: Any, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'closing.db'}"
    async with open_ledger(url, KEYS) as ledger:
        for _ in range(70):
            await ledger.record_refusal(Refusal(at=scene.now, reason="No.", code="c", peer="p", about="GET /"))
    async with open_ledger(url, KEYS) as ledger:
        records = await ledger.records(RecordQuery(stage=Stage.TURNED_AWAY))
        assert (len(records), records[0].body.members["suppressed"]) == (51, 20)


async def test_a_closed_ledger_refuses(tmp_path: Path) -> None:
    async with open_ledger(f"sqlite:///{tmp_path / 'closing.db'}", KEYS) as ledger:
        pass
    with pytest.raises(LedgerUnavailable):
        await ledger.records(RecordQuery())
    with pytest.raises(LedgerUnavailable):
        await ledger.attempt("a", "k")


async def test_a_count_that_could_not_be_stored_is_not_lost(scene: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def unavailable(*_work: object) -> None:
        raise LedgerUnavailable("The disk is full.")

    scene.ledger._refusal_limit.suppressed = 7
    with monkeypatch.context() as patched:
        patched.setattr(scene.ledger._writer, "submit", unavailable)
        with pytest.raises(LedgerUnavailable):
            await scene.ledger.record_refusal(Refusal(at=scene.now, code="c"))
    assert scene.ledger._refusal_limit.suppressed == 7
