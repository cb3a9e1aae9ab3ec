"""A transaction appends each record after the last one, even if another process wrote that."""

from typing import Any

import pytest

from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from gateway.ledger.ledger import open_ledger
from gateway.ledger.store.transaction import Transaction
from tests.kit.bodies import sample_record
from tests.kit.stores import KEYS


async def test_records_follow_each_other_within_and_across_transactions(scene: Any) -> None:
    def twice(transaction: Transaction) -> list[int]:
        return [transaction.append(sample_record(stage=Stage.DECIDED, at=scene.now)) for _ in range(2)]

    assert [await scene.ledger.write(twice) for _ in range(2)] == [[1, 2], [3, 4]]
    records = await scene.ledger.records(RecordQuery(newest_first=False))
    assert [record.previous for record in records[1:]] == [record.hash for record in records[:-1]]
    assert await scene.ledger.verify() == 4


async def test_two_ledgers_on_one_file_continue_each_others_chain(scene: Any) -> None:
    url = str(scene.ledger._store._engine.url)
    record = sample_record(stage=Stage.DECIDED, at=scene.now)
    async with open_ledger(url, KEYS) as other:
        for number in range(10):
            ledger = (scene.ledger, other)[number % 2]
            assert await ledger.write(lambda transaction: transaction.append(record)) == number + 1
        assert await other.verify() == 10


async def test_a_resource_named_twice_is_stored_once(scene: Any) -> None:
    record = sample_record(stage=Stage.DECIDED, at=scene.now)
    resources = [("a", "x"), ("a", "x"), ("a", "y")]
    await scene.ledger.write(lambda transaction: transaction.append(record, resources=resources))
    assert len(await scene.ledger.records(RecordQuery(resource="a"))) == 1


@pytest.mark.parametrize("body", [{"x": float("nan")}, {"x": object()}, {"x": "\ud800"}])
async def test_a_record_that_cannot_be_stored_leaves_nothing(scene: Any, body: Any) -> None:
    record = sample_record(stage=Stage.DECIDED, at=scene.now, body={"call": {"parameters": body}})
    with pytest.raises((TypeError, ValueError)):
        await scene.ledger.write(lambda transaction: transaction.append(record))
    assert await scene.ledger.verify() == 0
