"""Expired claims end in batches, each with a record."""

from datetime import timedelta
from typing import Any

from gateway.ledger import claims
from gateway.model.record import Stage
from gateway.ports import RecordQuery


async def test_many_expire_in_batches_and_each_is_recorded(scene: Any) -> None:
    for number in range(7):
        await scene.execute(scene.mutation(attribute=f"a{number}"), obligations={"claim_seconds": 60})
    later = scene.now + timedelta(seconds=60)
    batches = [await scene.ledger.write(lambda transaction: claims.expire(transaction, later, 3)) for _ in range(4)]
    assert batches == [3, 3, 1, 0]
    expired = await scene.ledger.records(RecordQuery(stage=Stage.EXPIRED))
    assert {record.body["attribute"] for record in expired} == {f"a{number}" for number in range(7)}


async def test_a_claim_without_end_does_not_expire(scene: Any) -> None:
    await scene.execute(scene.mutation())
    assert await scene.ledger.expire(scene.now + timedelta(days=10_000)) == 0
