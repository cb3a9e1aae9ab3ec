"""The figures of deliveries are those of the last record of each receiver."""

from typing import Any

from gateway.ledger.delivery_figures import delivery_figures
from gateway.model.delivery import DeliveryState
from gateway.model.ids import digest_id
from gateway.model.record import Record, Stage
from tests.gateway.ledger.conftest import NOW, Scene

NONE = dict.fromkeys(DeliveryState, 0)


async def notified(scene: Scene, receiver: str, **body: Any) -> None:
    """Record a batch as the reconciler does."""
    record = Record(stage=Stage.NOTIFIED, at=NOW, mutation_id=digest_id("whk", receiver), body=body)
    await scene.ledger.record_event(record, repeat=True)


async def test_the_last_record_counts(scene: Scene) -> None:
    await notified(scene, "ops", open=[{}, {}], totals={"delivered": 3})
    await notified(scene, "other", open=[], totals={"given_up": 9})
    await notified(scene, "ops", open=[{}], totals={"delivered": 4, "retrying": 2})
    found = await scene.ledger.query(lambda session: delivery_figures(session, ["ops", "other"]))
    assert (found["ops"].waiting, found["ops"].totals) == (
        1,
        {**NONE, DeliveryState.DELIVERED: 4, DeliveryState.RETRYING: 2},
    )
    assert found["other"].totals == {**NONE, DeliveryState.GIVEN_UP: 9}


async def test_a_receiver_without_records_and_one_of_an_earlier_version_have_noughts(scene: Scene) -> None:
    await notified(scene, "old", open=[{}])
    found = await scene.ledger.query(lambda session: delivery_figures(session, ["old", "new"]))
    assert [(found[name].waiting, found[name].totals) for name in ("old", "new")] == [(1, NONE), (0, NONE)]
