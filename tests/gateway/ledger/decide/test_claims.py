"""Expired claims end in batches, each with a record."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from gateway.core.errors import ImpossibleTransition
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.claim import Claim, ClaimEnd, SeenValue, UndoneBy
from gateway.core.model.json import Json
from gateway.core.model.outcome import Failed, InDoubt, Resolution, SettledBy
from gateway.core.model.verdict import Mode, Verdict
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from gateway.ledger.decide import claims
from gateway.ledger.decide.claims import (
    TRANSITIONS,
    ClaimEvent,
    ClaimState,
    ClaimTransition,
    require,
    state_of,
    table_text,
)
from gateway.ledger.store.rows import ClaimRow
from tests.kit.bodies import written_back
from tests.kit.history import FAILED as HISTORY_FAILED
from tests.kit.history import NOW
from tests.kit.plan_sessions import PlanScene


async def test_many_expire_in_batches_and_each_is_recorded(scene: Any) -> None:
    for number in range(7):
        await scene.execute(scene.mutation(attribute=f"a{number}"), obligations={"claim_seconds": 60})
    later = scene.now + timedelta(seconds=60)
    batches = [await scene.ledger.write(lambda transaction: claims.expire(transaction, later, 3)) for _ in range(4)]
    assert batches == [3, 3, 1, 0]
    expired = await scene.ledger.records(RecordQuery(stage=Stage.EXPIRED))
    assert {record.body.members["attribute"] for record in expired} == {f"a{number}" for number in range(7)}


async def test_a_claim_without_end_does_not_expire(scene: Any) -> None:
    await scene.execute(scene.mutation())
    assert await scene.ledger.expire(scene.now + timedelta(days=10_000)) == 0


DOCUMENT = Path(__file__).parents[4] / "docs" / "investigators.md"
FAILED = Failed(code="ValidationError", message="no", reply=None, request_id="")
DOUBT = InDoubt(reason="No answer.")
FOUND = Resolution(carried_out=True, by=SettledBy.READ_BACK, reason="Read back.")
HUMAN = Caller(actor="ann", kind=ActorKind.HUMAN, key_id="SNTL1", roles=("approver",))
ENDS = {ClaimState(end.value) for end in ClaimEnd}
Act = Callable[[Any], Awaitable[str]]


def row(state: ClaimState | None) -> ClaimRow:
    """A row in this state."""
    ended = state in ENDS
    return ClaimRow(
        id="clm_1", mutation_id="mut_1", address="aws_x.a", attribute="v", value="1", actor="a", kind="agent", motive=None,
        since="1", until=None, unsettled=int(state is ClaimState.UNSETTLED), ended_at="2" if ended else None,
        end=state.value if ended and state else None, proof="[]", undone="",
    )  # fmt: skip


async def _taken(scene: Any, *, actor: str = "agent", settle: bool = True, value: int = 6) -> tuple[Any, Claim]:
    change = scene.mutation(value, actor=actor)
    [claim] = await scene.ledger.record_decision(
        change, scene.facts(change), scene.decision(obligations={"claim_seconds": 60})
    )
    if settle:
        await scene.ledger.record_outcome(change, scene.applied, scene.now)
    return change, claim


async def _superseded(scene: Any, claim: Claim, *, observe: bool = False) -> Any:
    change = scene.mutation(7, actor="rival")
    mode = Mode.OBSERVE if observe else Mode.ENFORCE
    decision = scene.decision(Verdict.ALLOW, mode=mode, supersedes=(claim.id,))
    await scene.ledger.record_decision(change, scene.facts(change, mode), decision)
    return change


async def _take(scene: Any) -> str:
    return (await _taken(scene, settle=False))[1].id


async def _apply(scene: Any) -> str:
    return (await _taken(scene))[1].id


async def _restate(scene: Any) -> str:
    return (await _taken(scene, value=4))[1].id


async def _fail(scene: Any) -> str:
    change, claim = await _taken(scene, settle=False)
    await scene.ledger.record_outcome(change, FAILED, scene.now)
    return claim.id


async def _release_in_doubt(scene: Any) -> str:
    change, claim = await _taken(scene, settle=False)
    await scene.ledger.record_outcome(change, DOUBT, scene.now)
    await scene.ledger.release(change.id, caller=HUMAN, at=scene.now)
    return claim.id


async def _supersede_unsettled(scene: Any) -> str:
    _, claim = await _taken(scene, settle=False)
    await _superseded(scene, claim, observe=True)
    return claim.id


async def _supersede(scene: Any) -> str:
    _, claim = await _taken(scene)
    await _superseded(scene, claim)
    return claim.id


async def _expire(scene: Any) -> str:
    _, claim = await _taken(scene)
    await scene.ledger.expire(scene.now + timedelta(hours=1))
    return claim.id


async def _release(scene: Any) -> str:
    change, claim = await _taken(scene)
    await scene.ledger.release(change.id, caller=change.caller, at=scene.now)
    return claim.id


async def _merge(scene: Any) -> str:
    change, claim = await _taken(scene)
    await scene.ledger.record_reconciliation(change.id, at=scene.now, body=written_back({"merged": True}))
    return claim.id


async def _came_back_after_release(scene: Any) -> tuple[Any, str]:
    """A mutation in doubt whose claims an approver ended, but for one that had been superseded and came back."""
    both = scene.mutation(6)
    both = replace(both, effects=(*both.effects, scene.mutation(6, "size").effects[0]))
    kept, other = await scene.ledger.record_decision(both, scene.facts(both), scene.decision())
    await scene.ledger.record_outcome(both, DOUBT, scene.now)
    rival = await _superseded(scene, kept, observe=True)
    await scene.ledger.release(both.id, caller=HUMAN, at=scene.now)
    await scene.ledger.record_outcome(rival, FAILED, scene.now)
    assert other.attribute == "size"
    return both, kept.id


async def _fail_after_release(scene: Any) -> str:
    change, claim_id = await _came_back_after_release(scene)
    await scene.ledger.resolve(change.id, replace(FOUND, carried_out=False), scene.now)
    return claim_id


async def _unneeded(scene: Any) -> str:
    _, claim = await _taken(scene)
    assert await scene.ledger.end_unneeded([claim.id], scene.now) == 1
    return claim.id


async def _reopen(scene: Any) -> str:
    _, claim = await _taken(scene)
    rival = await _superseded(scene, claim)
    await scene.ledger.record_outcome(rival, FAILED, scene.now)
    return claim.id


async def _reopen_unsettled(scene: Any) -> str:
    _, claim = await _taken(scene, settle=False)
    rival = await _superseded(scene, claim, observe=True)
    await scene.ledger.record_outcome(rival, FAILED, scene.now)
    return claim.id


async def _open_plan(scene: Any) -> str:
    plans = PlanScene(scene.ledger, now=scene.now)
    await plans.plan()
    return next(iter(await plans.claims()))


async def _end_plan(scene: Any) -> str:
    plans = PlanScene(scene.ledger, now=scene.now)
    session = await plans.session((await plans.plan())[1])
    await plans.sessions.end(session.id, by=await plans.standing(), at=scene.now)
    return next(iter(await plans.claims()))


_S, _E = ClaimState, ClaimEvent
ACTS_OF_PLANS: dict[tuple[ClaimEvent, str], Act] = {
    (_E.TAKEN, "standing"): _open_plan,
    (_E.RELEASED, "plan_ended"): _end_plan,
}
ACTS: dict[tuple[ClaimState | None, ClaimEvent, ClaimState], Act] = {
    (None, _E.TAKEN, _S.UNSETTLED): _take,
    (_S.UNSETTLED, _E.APPLIED, _S.STANDING): _apply,
    (_S.UNSETTLED, _E.RESTATED, _S.RESTATED): _restate,
    (_S.UNSETTLED, _E.FAILED, _S.FAILED): _fail,
    (_S.UNSETTLED, _E.RELEASED, _S.RELEASED): _release_in_doubt,
    (_S.UNSETTLED, _E.SUPERSEDED, _S.SUPERSEDED): _supersede_unsettled,
    (_S.STANDING, _E.SUPERSEDED, _S.SUPERSEDED): _supersede,
    (_S.STANDING, _E.EXPIRED, _S.EXPIRED): _expire,
    (_S.STANDING, _E.RELEASED, _S.RELEASED): _release,
    (_S.STANDING, _E.FAILED, _S.FAILED): _fail_after_release,
    (_S.STANDING, _E.MERGED, _S.MERGED): _merge,
    (_S.STANDING, _E.UNNEEDED, _S.UNNEEDED): _unneeded,
    (_S.SUPERSEDED, _E.REOPENED, _S.STANDING): _reopen,
    (_S.SUPERSEDED, _E.REOPENED, _S.UNSETTLED): _reopen_unsettled,
}


def shown(claim: Claim) -> ClaimState:
    """The state that a claim shows."""
    if claim.end is not None:
        return ClaimState(claim.end.value)
    return ClaimState.UNSETTLED if claim.unsettled else ClaimState.STANDING


@pytest.mark.parametrize("line", TRANSITIONS, ids=lambda line: f"{line.before}-{line.event}-{line.after}")
async def test_each_transition_happens_and_is_recorded(scene: Any, line: ClaimTransition) -> None:
    of_plan = ACTS_OF_PLANS.get((line.event, line.record)) or ACTS_OF_PLANS.get((line.event, line.after.value))
    act = of_plan or ACTS[line.before, line.event, line.after]
    claim_id = await act(scene)
    found = {claim.id: claim for claim in await scene.ledger.claims(open_only=False)}
    assert shown(found[claim_id]) is line.after
    records = await scene.ledger.records(RecordQuery())
    telling = [each for each in records if each.stage.value == line.record]
    assert any(claim_id in str(each.body) or line.event is ClaimEvent.APPLIED for each in telling)


def test_what_the_table_does_not_name_is_refused() -> None:
    allowed = {(line.before, line.event) for line in TRANSITIONS}
    refused = 0
    for state, event in product(ClaimState, ClaimEvent):
        if (state, event) in allowed:
            require([row(state)], event)
            continue
        refused += 1
        with pytest.raises(
            ImpossibleTransition, match=rf"clm_1 .* is {state.value}, so it cannot be {event.value}\. Nothing"
        ):
            require([row(state)], event)
    assert refused == len(ClaimState) * len(ClaimEvent) - len(allowed) + 1, "all but TAKEN begin with a state"


def test_every_end_has_a_state_an_event_and_a_line() -> None:
    for end in ClaimEnd:
        assert state_of(row(ClaimState(end.value))) is ClaimState(end.value)
        assert any(line.after == end.value and line.event == end.value for line in TRANSITIONS)
    assert {line.after for line in TRANSITIONS} == set(ClaimState)
    assert {line.event for line in TRANSITIONS} == set(ClaimEvent)
    final = ENDS - {ClaimState.SUPERSEDED}
    assert not [line for line in TRANSITIONS if line.before in final], "only what was superseded comes back"


async def test_a_claim_that_ended_meanwhile_changes_nothing_of_a_transaction(
    scene: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    change, claim = await _taken(scene)
    merged = replace(claim, ended_at=scene.now, end=ClaimEnd.MERGED)
    assert merged.end is ClaimEnd.MERGED
    stale = row(ClaimState.MERGED)
    monkeypatch.setattr("gateway.ledger.decide.commands.open_claims_of", lambda *_: [stale])
    before = await scene.ledger.records(RecordQuery())
    with pytest.raises(ImpossibleTransition, match="is merged, so it cannot be released"):
        await scene.ledger.release(change.id, caller=change.caller, at=scene.now)
    assert await scene.ledger.records(RecordQuery()) == before


async def test_a_claim_that_came_back_after_a_release_stands_if_its_mutation_was_applied(scene: Any) -> None:
    change, claim_id = await _came_back_after_release(scene)
    await scene.ledger.resolve(change.id, FOUND, scene.now)
    assert [claim.id for claim in await scene.ledger.claims()] == [claim_id]


async def test_a_claim_whose_own_mutation_failed_meanwhile_is_not_reopened(scene: Any) -> None:
    change, claim = await _taken(scene, settle=False)
    rival = await _superseded(scene, claim, observe=True)
    await scene.ledger.record_outcome(change, FAILED, scene.now)
    await scene.ledger.record_outcome(rival, FAILED, scene.now)
    assert await scene.ledger.claims() == ()


def test_the_document_shows_the_table() -> None:
    assert table_text() in DOCUMENT.read_text(encoding="utf-8"), table_text()


async def claim(scene: Any, value: int, attribute: str = "delay") -> Any:
    [taken] = await scene.execute(scene.mutation(value, attribute))
    return taken


async def test_it_ends_with_a_record_once(scene: Any) -> None:
    taken = await claim(scene, 6)
    assert [await scene.ledger.end_unneeded([taken.id, "clm_unknown"], NOW) for _ in range(2)] == [1, 0]
    [ended] = await scene.ledger.claims(open_only=False)
    assert (ended.end, ended.ended_at) == (ClaimEnd.UNNEEDED, NOW)
    [record] = await scene.ledger.records(RecordQuery(stage=Stage.UNNEEDED))
    assert (record.actor, record.body.members["claim"]) == ("agent", taken.id)
    assert await claim(replace(scene), 7)


@pytest.mark.parametrize("value", [4])
async def test_what_the_code_declared_all_along_stands(scene: Any, value: int) -> None:
    change = scene.mutation(value)
    facts = scene.facts(change)
    facts = replace(facts, subjects=tuple(replace(each, before=9) for each in facts.subjects))
    [taken] = await scene.ledger.record_decision(change, facts, scene.decision())
    await scene.ledger.record_outcome(change, scene.applied, NOW)
    assert await scene.ledger.end_unneeded([taken.id], NOW) == 0
    assert len(await scene.ledger.claims()) == 1


async def test_what_is_in_flight_stands(scene: Any) -> None:
    change = scene.mutation(6)
    [taken] = await scene.ledger.record_decision(change, scene.facts(change), scene.decision())
    assert await scene.ledger.end_unneeded([taken.id], NOW) == 0


GONE = UndoneBy(actor="arn:aws:iam::1:user/bob", event="SetQueueAttributes")


async def _bodies(scene: Any) -> list[Any]:
    return [
        each.body.members for each in await scene.ledger.records(RecordQuery(stage=Stage.UNDONE, newest_first=False))
    ]


@pytest.mark.parametrize("live", [None, 0, "é\n", {"b": [1.5, None], "a": {}}])
async def test_another_value_is_news_once(scene: Any, live: Json) -> None:
    [claim] = await scene.execute(scene.mutation())
    for known in (False, True):
        seen = SeenValue(claim=claim.id, stands=False, live=live, by=GONE)
        assert await scene.ledger.record_seen([seen], scene.now) == ([] if known else [claim.id])
    [body] = await _bodies(scene)
    assert (body["conflict"], body["stands"], body["live"], body["attribute"]) == ("implicit", False, live, "delay")
    [now] = await scene.ledger.claims()
    assert (now.undone.live, now.undone.by, now.undone.at) == (live, GONE, scene.now)


async def test_the_claimed_value_is_news_only_after_another(scene: Any) -> None:
    [claim] = await scene.execute(scene.mutation())
    stands = SeenValue(claim=claim.id, stands=True)
    assert await scene.ledger.record_seen([stands], scene.now) == []
    await scene.ledger.record_seen([SeenValue(claim=claim.id, stands=False)], scene.now)
    assert await scene.ledger.record_seen([stands], scene.now) == [claim.id]
    assert (await scene.ledger.claims())[0].undone is None
    assert [body["stands"] for body in await _bodies(scene)] == [False, True]


async def test_of_a_claim_that_does_not_stand_nothing_is_recorded(scene: Any) -> None:
    [ended] = await scene.execute(scene.mutation(), obligations={"claim_seconds": 60})
    await scene.ledger.expire(scene.now + timedelta(hours=1))
    flying = scene.mutation(attribute="other")
    [unsettled] = await scene.ledger.record_decision(flying, scene.facts(flying), scene.decision())
    seen = [SeenValue(claim=each, stands=False) for each in (ended.id, unsettled.id, "clm_unknown")]
    assert await scene.ledger.record_seen(seen, scene.now) == []
    assert await _bodies(scene) == []


async def test_a_reopened_claim_is_still_undone(scene: Any) -> None:
    [claim] = await scene.execute(scene.mutation())
    await scene.ledger.record_seen([SeenValue(claim=claim.id, stands=False, live=9)], scene.now)
    rival = scene.mutation(7, actor="rival")
    await scene.ledger.record_decision(rival, scene.facts(rival), scene.decision(supersedes=(claim.id,)))
    await scene.ledger.record_outcome(rival, HISTORY_FAILED, scene.now)
    [back] = await scene.ledger.claims()
    assert (back.id, back.undone.live) == (claim.id, 9)
