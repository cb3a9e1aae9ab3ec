"""A claim loses its proof with the last signal that proves it, also one that may be reopened; nothing else changes."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from gateway.model.motive import Motivation
from gateway.model.outcome import Failed
from gateway.model.record import Stage
from gateway.model.signal import MotiveProof, SignalState
from gateway.ports import RecordQuery
from tests.kit.history import NOW, event, signal

FAILED = Failed(code="ValidationError", message="no", reply=None, request_id="")


async def take(scene: Any, *keys: str, actor: str = "agent", settle: bool = True, **decision: Any) -> Any:
    """A mutation whose claim these signals prove."""
    change = scene.mutation(actor=actor)
    found = tuple(signal(key) for key in keys)
    checked = frozenset({Motivation.INCIDENT})
    by_address = {"aws_sqs_queue.orders": tuple(each.id for each in found)}
    facts = replace(scene.facts(change), proof=MotiveProof(checked=checked, signals=found, by_address=by_address))
    await scene.ledger.record_decision(change, facts, scene.decision(**decision))
    if settle:
        await scene.ledger.record_outcome(change, scene.applied, NOW)
    return change


async def close(scene: Any, *keys: str) -> None:
    at = NOW + timedelta(minutes=1)
    await scene.ledger.record_signals([event(key, SignalState.CLOSED, at=at) for key in keys], at)


async def downgraded(scene: Any) -> list[str]:
    return [each.mutation_id for each in await scene.ledger.records(RecordQuery(stage=Stage.DOWNGRADED))]


async def test_the_last_signal_takes_the_proof_with_it(scene: Any) -> None:
    await scene.ledger.record_signals([event("a"), event("b"), event("c")], NOW)
    change = await take(scene, "a", "b")
    await close(scene, "c")
    await close(scene, "a")
    assert (await downgraded(scene), len((await scene.ledger.claims())[0].proof)) == ([], 2)
    await close(scene, "b")
    await close(scene, "b")
    assert (await downgraded(scene), (await scene.ledger.claims())[0].proof) == ([change.id], ())
    await scene.ledger.verify()


async def test_two_signals_of_one_message_downgrade_once(scene: Any) -> None:
    await scene.ledger.record_signals([event("a"), event("b")], NOW)
    change = await take(scene, "a", "b")
    await close(scene, "a", "b")
    assert await downgraded(scene) == [change.id]


async def test_a_superseded_claim_comes_back_without_its_proof(scene: Any) -> None:
    await scene.ledger.record_signals([event("a")], NOW)
    first = await take(scene, "a")
    [claim] = await scene.ledger.claims()
    second = await take(scene, actor="rival", settle=False, supersedes=(claim.id,))
    await close(scene, "a")
    await scene.ledger.record_outcome(second, FAILED, NOW)
    [again] = await scene.ledger.claims()
    assert (again.id, again.proof, await downgraded(scene)) == (claim.id, (), [first.id])
    await scene.ledger.verify()


async def test_a_claim_that_has_ended_for_good_stays_as_it_was(scene: Any) -> None:
    await scene.ledger.record_signals([event("a")], NOW)
    await take(scene, "a")
    [claim] = await scene.ledger.claims()
    await take(scene, actor="rival", supersedes=(claim.id,))
    await close(scene, "a")
    assert await downgraded(scene) == []
    await scene.ledger.verify()
