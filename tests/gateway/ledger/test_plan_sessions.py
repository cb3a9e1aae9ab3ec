"""Sessions of plans in the ledger: how they open, what their calls use, and how they end. The scene verifies its tables at the end."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from gateway.core.errors import NotFound, Overloaded, PlanUsed
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.model.mutation import EffectAction
from gateway.core.model.outcome import Failed, InDoubt, Sent
from gateway.core.model.path import WHOLE
from gateway.core.model.plan_session import PlanSessionEnd
from gateway.core.model.verdict import Verdict
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from gateway.ledger.decide import plan_sessions
from tests.kit import nouns
from tests.kit.plan_sessions import PlanScene

REFUSED = Failed(code="Throttling", message="no", reply=nouns.APPLIED.reply, request_id="r-2")


@pytest.fixture
def plans(scene: Any) -> PlanScene:
    """A pipeline on the scene's ledger."""
    return PlanScene(scene.ledger, now=scene.now)


async def ends(plans: PlanScene) -> list[dict[str, Any]]:
    """What the records of ended sessions say, oldest first."""
    found = await plans.ledger.records(RecordQuery(stage=Stage.PLAN_ENDED, newest_first=False))
    return [record.body.members for record in found]


async def test_a_plan_that_passes_claims_what_it_sets_and_opens_a_session(plans: PlanScene) -> None:
    mutation, key = await plans.plan()
    session = await plans.session(key)
    assert (session.id, session.actor, [each.address for each in session.changes]) == (
        mutation.id,
        "deployer",
        [nouns.QUEUE],
    )
    assert session.changes[0].values == {"delay_seconds": 6}
    [claim] = (await plans.claims()).values()
    assert (claim.mutation_id, claim.unsettled) == (mutation.id, False)
    found = await plans.keys.find(session.key_id)
    assert found is not None
    assert (found.plan, found.roles, found.is_session) == (mutation.id, (), True)


async def test_a_plan_that_is_held_opens_none(plans: PlanScene) -> None:
    mutation, key = await plans.plan(verdict=Verdict.HOLD)
    assert key is None
    [hold] = await plans.ledger.holds(mutation_id=mutation.id)
    assert hold.mutation_id == mutation.id
    assert await plans.claims() == {}


async def test_a_call_takes_no_claim_and_is_counted(plans: PlanScene) -> None:
    session = await plans.session((await plans.plan())[1])
    await plans.call(session)
    assert len(await plans.claims()) == 1
    assert await plans.sessions.used(session.id) == {(nouns.QUEUE, "set", "sqs:SetQueueAttributes"): 1}
    with pytest.raises(PlanUsed, match="as often as plan"):
        await plans.call(session)


async def test_the_id_of_what_a_call_created_is_known(plans: PlanScene) -> None:
    created = nouns.effect(action=EffectAction.CREATE, attribute=WHOLE)
    session = await plans.session((await plans.plan(created))[1])
    assert await plans.sessions.made(session.id) == {}
    await plans.call(session, action=EffectAction.CREATE, outcome=replace(nouns.APPLIED, made="q-1"))
    assert await plans.sessions.made(session.id) == {nouns.QUEUE: "q-1"}


async def test_a_refused_call_may_be_sent_again(plans: PlanScene) -> None:
    session = await plans.session((await plans.plan())[1])
    await plans.call(session, outcome=REFUSED)
    await plans.call(session)


async def test_calls_at_once_do_not_exceed_what_is_planned(plans: PlanScene) -> None:
    session = await plans.session((await plans.plan())[1])
    done = await asyncio.gather(*(plans.call(session, outcome=None) for _ in range(8)), return_exceptions=True)
    assert sum(isinstance(each, PlanUsed) for each in done) == 7


async def test_another_gateway_of_the_ledger_knows_the_session_and_its_counts(plans: PlanScene) -> None:
    session = await plans.session((await plans.plan())[1])
    await plans.call(session)
    other = PlanScene(plans.ledger, now=plans.now, caller=plans.caller)
    seen = await other.sessions.session(session.key_id)
    assert seen == session
    with pytest.raises(PlanUsed):
        await other.call(session)


async def test_the_end_frees_what_was_not_done(plans: PlanScene) -> None:
    other = "aws_sqs_queue.other"
    _, key = await plans.plan(nouns.effect(value=6), nouns.effect(other, value=7))
    session = await plans.session(key)
    await plans.call(session)
    await plans.sessions.end(session.id, by=await plans.standing(), at=plans.now, exit_code=1)
    by_address = {claim.address: claim for claim in (await plans.claims()).values()}
    assert (by_address[nouns.QUEUE].end, by_address[other].end) == (None, "released")
    [end] = await ends(plans)
    assert (end["end"], end["exit_code"], end["unused"], end["calls"]) == ("ended", 1, [other], {"applied": 1})
    with pytest.raises(PlanUsed, match="has ended"):
        await plans.call(session, address=other)
    found = await plans.keys.find(session.key_id)
    assert found is not None
    assert found.revoked


@pytest.mark.parametrize(
    ("motivation", "outcome", "stands"),
    [
        (Motivation.ROUTINE, nouns.APPLIED, False),
        (Motivation.ROUTINE, InDoubt(reason="silence"), True),
        (Motivation.LAUNCH, nouns.APPLIED, True),
    ],
)
async def test_the_end_of_a_routine_apply_frees_what_was_done_too(
    plans: PlanScene, motivation: Motivation, outcome: Sent, stands: bool
) -> None:
    """Else two pipelines that apply every day would keep each other out for an hour."""
    motive = Motive(intent=Intent.CONSISTENCY, motivation=motivation)
    plan, key = await plans.plan(motive=motive)
    await plans.call(await plans.session(key), outcome=outcome)
    await plans.sessions.end(plan.id, by=await plans.standing(), at=plans.now, exit_code=0)

    [claim] = (await plans.claims()).values()
    assert (claim.end is None) == stands


async def test_what_the_plan_ended_stands_again_if_nothing_was_done(plans: PlanScene, scene: Any) -> None:
    [hotfix] = await scene.execute(scene.mutation(9, "delay_seconds", address=nouns.QUEUE))
    _, key = await plans.plan(supersedes=(hotfix.id,))
    assert (await plans.claims())[hotfix.id].end == "superseded"
    session = await plans.session(key)
    await plans.sessions.end(session.id, by=await plans.standing(), at=plans.now)
    assert (await plans.claims())[hotfix.id].end is None


async def test_the_same_plan_again_replaces_the_session(plans: PlanScene) -> None:
    first = await plans.session((await plans.plan(nouns.effect(action=EffectAction.CREATE, attribute=WHOLE)))[1])
    second = await plans.session((await plans.plan(nouns.effect(action=EffectAction.CREATE, attribute=WHOLE)))[1])
    with pytest.raises(PlanUsed, match="has ended"):
        await plans.call(first, action=EffectAction.CREATE)
    await plans.call(second, action=EffectAction.CREATE)
    assert [each["end"] for each in await ends(plans)] == [PlanSessionEnd.REPLACED]


async def test_a_session_ends_with_the_key_that_opened_it(plans: PlanScene) -> None:
    session = await plans.session((await plans.plan())[1])
    await plans.keys.revoke((await plans.standing()).key_id)
    with pytest.raises(PlanUsed, match="has ended"):
        await plans.call(session)
    assert [each["end"] for each in await ends(plans)] == [PlanSessionEnd.REVOKED]


async def test_a_session_ends_at_its_time(plans: PlanScene) -> None:
    session = await plans.session((await plans.plan())[1])
    later = plans.now + timedelta(hours=1)
    with pytest.raises(PlanUsed, match="has ended"):
        await plans.call(session, at=later)
    assert await plans.ledger.end_expired_plans(plans.now) == 0
    assert await plans.ledger.end_expired_plans(later) == 1
    assert [each["end"] for each in await ends(plans)] == [PlanSessionEnd.EXPIRED]


async def test_nobody_else_ends_a_session(plans: PlanScene) -> None:
    session = await plans.session((await plans.plan())[1])
    with pytest.raises(NotFound):
        await plans.sessions.end(session.id, by=nouns.caller("rival"), at=plans.now)
    await plans.sessions.end(session.id, by=await plans.standing(), at=plans.now)
    await plans.sessions.end(session.id, by=await plans.standing(), at=plans.now)
    assert len(await ends(plans)) == 1


async def test_one_actor_has_only_so_many_sessions(plans: PlanScene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_sessions, "MOST_SESSIONS", 2)
    for number in range(2):
        await plans.plan(nouns.effect(f"aws_sqs_queue.q{number}"), digest=str(number))
    with pytest.raises(Overloaded, match="end one first"):
        await plans.plan(nouns.effect("aws_sqs_queue.q2"), digest="2")
