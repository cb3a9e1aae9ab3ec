"""The figures of a ledger are those of its rows."""

from typing import Any

from gateway.core.model.ids import digest_id
from gateway.core.model.outcome import InDoubt
from gateway.core.model.verdict import Verdict
from gateway.core.records.notice import DeliveryState
from gateway.core.records.record import Stage
from gateway.ledger.ask.exports import begin_export
from gateway.ledger.ask.gauges import LedgerGauges, delivery_figures, ledger_gauges
from gateway.ledger.store.rows import ChainEndRow
from tests.gateway.ledger.conftest import NOW, Scene
from tests.kit.bodies import sample_record


async def test_they_count_what_is_open(scene: Scene) -> None:
    assert await scene.ledger.query(ledger_gauges) == LedgerGauges(seq=0, holds=0, claims=0, in_doubt=0, export_lag={})
    await scene.execute(scene.mutation(1, "a"))
    await scene.execute(scene.mutation(1, "b"), InDoubt(reason="?"))
    held = scene.mutation(1, "c")
    await scene.ledger.record_decision(held, scene.facts(held), scene.decision(Verdict.HOLD))
    await scene.ledger.write(lambda session: begin_export(session, "csv /x", ChainEndRow(2, "h"), "now"))
    found = await scene.ledger.query(ledger_gauges)
    assert found == LedgerGauges(seq=5, holds=1, claims=2, in_doubt=1, export_lag={"csv /x": 3})


NONE = dict.fromkeys(DeliveryState, 0)


async def notified(scene: Scene, receiver: str, **body: Any) -> None:
    """Record a batch as the reconciler does."""
    record = sample_record(stage=Stage.NOTIFIED, at=NOW, mutation_id=digest_id("whk", receiver), body=body)
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


async def test_a_receiver_without_records_and_one_that_only_waits_have_noughts(scene: Scene) -> None:
    await notified(scene, "waiting", open=[{}], totals={})
    found = await scene.ledger.query(lambda session: delivery_figures(session, ["waiting", "new"]))
    assert [(found[name].waiting, found[name].totals) for name in ("waiting", "new")] == [(1, NONE), (0, NONE)]
