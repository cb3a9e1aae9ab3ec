"""The adapter implements the port."""

from gateway.core.ports import TimeBoxLedger
from gateway.ledger.ask.time_box_ledger import SqlTimeBoxes
from gateway.ledger.ledger import SqlLedger
from tests.kit.time_boxes import ADDRESS, TimeBoxHistory


async def test_the_ledger_knows_time_boxed_changes(ledger: SqlLedger) -> None:
    boxes: TimeBoxLedger = SqlTimeBoxes(ledger)
    assert not await boxes.time_boxes()
    await TimeBoxHistory(ledger).change()
    [part] = await boxes.standing_time_boxes([ADDRESS])
    assert {part.key: part.base} == {(ADDRESS, "delay"): 4}
    assert not await boxes.standing_time_boxes(["aws_x.other"])
