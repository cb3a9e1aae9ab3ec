"""The figures of a ledger are those of its rows."""

from gateway.ledger.export_positions import begin_export
from gateway.ledger.gauges import LedgerGauges, ledger_gauges
from gateway.ledger.rows import ChainEndRow
from gateway.model.outcome import InDoubt
from gateway.model.verdict import Verdict
from tests.gateway.ledger.conftest import Scene


async def test_they_count_what_is_open(scene: Scene) -> None:
    assert await scene.ledger.query(ledger_gauges) == LedgerGauges(seq=0, holds=0, claims=0, in_doubt=0, export_lag={})
    await scene.execute(scene.mutation(1, "a"))
    await scene.execute(scene.mutation(1, "b"), InDoubt(reason="?"))
    held = scene.mutation(1, "c")
    await scene.ledger.record_decision(held, scene.facts(held), scene.decision(Verdict.HOLD))
    await scene.ledger.write(lambda session: begin_export(session, "csv /x", ChainEndRow(2, "h"), "now"))
    found = await scene.ledger.query(ledger_gauges)
    assert found == LedgerGauges(seq=5, holds=1, claims=2, in_doubt=1, export_lag={"csv /x": 3})
