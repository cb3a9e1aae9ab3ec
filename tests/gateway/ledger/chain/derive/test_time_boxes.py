"""Every row of `time_boxes` follows from the records, and a changed one is found."""

import pytest

from gateway.core.errors import LedgerBroken
from gateway.core.model.time_box import TimeBoxState
from gateway.ledger.ledger import SqlLedger
from gateway.ledger.store.statements import Statement
from gateway.ledger.store.tables import TIME_BOXES
from tests.kit.history import FAILED, HUMAN, NOW
from tests.kit.time_boxes import HOUR, TimeBoxHistory

LATER = NOW + 2 * HOUR


async def test_every_way_of_a_change_for_a_time_is_derived(ledger: SqlLedger) -> None:
    timed = TimeBoxHistory(ledger)
    await timed.change(6, "standing")
    await timed.put_back(await timed.change(6, "back"), at=LATER)
    await timed.put_back(await timed.change(6, "again"), at=LATER, outcome=FAILED)
    await timed.put_back(await timed.change(6, "under_way"), at=LATER, outcome=None)
    await timed.change(6, "failed", outcome=FAILED)
    moved = await timed.change(6, "moved")
    await timed.boxes.extend_time_box(moved.id, LATER, caller=HUMAN, reason="", at=NOW)
    left = await timed.change(6, "left", "kept")
    parts = await timed.boxes.time_boxes(mutation_id=left.id)
    await timed.boxes.leave_time_box(left.id, parts[:1], TimeBoxState.LEFT, by="", reason="", at=LATER)
    await timed.boxes.leave_time_box(left.id, parts[1:], TimeBoxState.SUPERSEDED, by="mut_x", reason="", at=LATER)
    await timed.boxes.end_time_box(left.id, caller=HUMAN, reason="", at=LATER)
    assert await ledger.verify()


async def test_a_changed_row_is_found(ledger: SqlLedger) -> None:
    await TimeBoxHistory(ledger).change()
    change = Statement(TIME_BOXES.update().values(state=TimeBoxState.PUT_BACK.value))
    await ledger.write(lambda transaction: transaction.change(change, {}))
    with pytest.raises(LedgerBroken, match="time_boxes"):
        await ledger.verify()
