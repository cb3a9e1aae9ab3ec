"""What counts as news of a signal, and that a decision rests only on signals that are open as it is recorded."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from gateway.core.errors import ClaimTaken, Overloaded
from gateway.core.model.motive import Motivation
from gateway.core.model.outcome import Failed
from gateway.core.model.signal import MotiveProof, SignalState
from gateway.core.ports import RecordQuery, SignalQuery
from gateway.core.records.record import Stage
from gateway.ledger.decide import signals
from tests.kit.history import NOW, event, signal

MINUTE = timedelta(minutes=1)
OPEN, CLOSED = SignalState.OPEN, SignalState.CLOSED


async def states(ledger: Any) -> list[tuple[str, str, str]]:
    return [(each.key, each.state.value, str(each.since - NOW)) for each in await ledger.signals(SignalQuery())]


@pytest.mark.parametrize(
    ("told", "state", "changes"),
    [
        ([(OPEN, 0), (OPEN, 0)], "open", [1, 0]),
        ([(OPEN, 0), (OPEN, 1)], "open", [1, 1]),
        ([(OPEN, 0), (CLOSED, 0)], "closed", [1, 1]),
        ([(CLOSED, 0), (OPEN, 0)], "closed", [1, 0]),
        ([(OPEN, 0), (CLOSED, 2), (OPEN, 1)], "closed", [1, 1, 0]),
        ([(OPEN, 0), (CLOSED, 2), (OPEN, 3)], "open", [1, 1, 1]),
        ([(OPEN, 0), (CLOSED, 1), (CLOSED, 3), (OPEN, 2)], "closed", [1, 1, 1, 0]),
        ([(CLOSED, 1), (OPEN, 0)], "closed", [1, 0]),
    ],
)
async def test_only_a_later_event_is_news(scene: Any, told: Any, state: str, changes: list[int]) -> None:
    found = [
        await scene.ledger.record_signals([event("a", which, at=NOW + minutes * MINUTE)], NOW)
        for which, minutes in told
    ]
    assert found == changes
    assert [each[1] for each in await states(scene.ledger)] == [state]
    assert len(await scene.ledger.records(RecordQuery(stage=Stage.SIGNALLED))) == sum(changes)
    await scene.ledger.verify()


async def test_it_is_open_since_it_opened_last(scene: Any) -> None:
    for which, minutes in ((OPEN, 0), (OPEN, 5), (CLOSED, 6), (OPEN, 7), (OPEN, 8)):
        await scene.ledger.record_signals([event("a", which, at=NOW + minutes * MINUTE)], NOW)
    assert await states(scene.ledger) == [("a", "open", "0:07:00")]


async def test_events_of_one_message_are_taken_in_their_order(scene: Any) -> None:
    message = [event("a", CLOSED, at=NOW + MINUTE), event("a", OPEN), event("b")]
    assert await scene.ledger.record_signals(message, NOW) == 3
    assert {(key, state) for key, state, _ in await states(scene.ledger)} == {("a", "closed"), ("b", "open")}


async def test_a_source_has_a_limited_number_of_open_signals(scene: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signals, "MOST_OPEN_SIGNALS", 2)
    await scene.ledger.record_signals([event("a"), event("b")], NOW)
    with pytest.raises(Overloaded, match="alerts has 2 open"):
        await scene.ledger.record_signals([event("b", CLOSED, at=NOW + MINUTE), event("c"), event("d")], NOW)
    assert {key for key, state, _ in await states(scene.ledger) if state == "open"} == {"a", "b"}
    await scene.ledger.record_signals([event("c", source="other"), event("b", CLOSED, at=NOW + MINUTE)], NOW)
    await scene.ledger.record_signals([event("c")], NOW)


def proof(*found: Any) -> MotiveProof:
    return MotiveProof(
        checked=frozenset({Motivation.INCIDENT}),
        signals=found,
        by_address={"aws_sqs_queue.orders": tuple(each.id for each in found)},
    )


async def decide(scene: Any, *found: Any) -> Any:
    change = scene.mutation()
    facts = replace(scene.facts(change), proof=proof(*found))
    return await scene.ledger.record_decision(change, facts, scene.decision())


async def test_a_claim_is_not_proven_by_what_closed_since_the_survey(scene: Any) -> None:
    await scene.ledger.record_signals([event("a")], NOW)
    await scene.ledger.record_signals([event("a", CLOSED, at=NOW + MINUTE)], NOW)
    with pytest.raises(ClaimTaken, match="closed meanwhile"):
        await decide(scene, signal("a"))
    with pytest.raises(ClaimTaken, match="closed meanwhile"):
        await decide(scene, signal("never heard of"))
    assert await scene.ledger.claims() == ()
    assert await scene.ledger.records(RecordQuery(stage=Stage.DECIDED)) == ()


async def test_a_claim_records_what_proves_it(scene: Any) -> None:
    await scene.ledger.record_signals([event("a")], NOW)
    [claim] = await decide(scene, signal("a"))
    [stored] = await scene.ledger.claims()
    assert claim.proof == stored.proof == (event("a").id,)
    assert await scene.ledger.proofs() == {event("a").id: 1}
    [record] = await scene.ledger.records(RecordQuery(stage=Stage.DECIDED))
    assert record.body.members["claims"][0]["proof"] == [event("a").id]


async def test_what_a_file_tells_is_recorded_when_a_claim_needs_it(scene: Any) -> None:
    await decide(scene, signal("CVE-1", filed=True))
    assert [each[:2] for each in await states(scene.ledger)] == [("CVE-1", "open")]
    await scene.ledger.record_signals([event("CVE-1", CLOSED, at=NOW)], NOW)
    [claim] = await scene.ledger.claims()
    assert claim.proof == ()
    await scene.ledger.verify()


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
