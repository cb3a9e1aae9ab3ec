"""Who may stop and resume, and that neither a decision nor an approval gets past a stop, even one that came after the facts were gathered."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from gateway.core.errors import NotAllowed, NotFound, Overloaded, Stopped
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.stop import StopScope
from gateway.core.model.verdict import Mode, Verdict
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from gateway.ledger.decide import stops
from tests.kit.history import NOW

CHIEF = Caller(actor="chief", kind=ActorKind.HUMAN, key_id="SNTLC", roles=("operator",))
APPROVER = Caller(actor="alice", kind=ActorKind.HUMAN, key_id="SNTLA", roles=("approver", "break-glass"))
HOUR = timedelta(hours=1)


async def stop(scene: Any, scope: StopScope = StopScope.ALL, name: str = "", by: Caller = CHIEF, **more: Any) -> Any:
    return await scene.ledger.stop(scope, name, by=by, **{"reason": "It runs amok.", "at": NOW, **more})


async def resume(scene: Any, stop_id: str, by: Caller = CHIEF) -> Any:
    return await scene.ledger.resume(stop_id, by=by, reason="Mended.", at=NOW + HOUR)


async def records(scene: Any, stage: Stage) -> Any:
    return await scene.ledger.records(RecordQuery(stage=stage))


@pytest.mark.parametrize(
    "caller",
    [
        replace(CHIEF, roles=("approver",)),
        replace(CHIEF, roles=("Operator",)),
        *(replace(CHIEF, kind=kind) for kind in ActorKind if kind is not ActorKind.HUMAN),
    ],
    ids=str,
)
async def test_only_people_with_the_role_may(scene: Any, caller: Caller) -> None:
    standing = await stop(scene)
    with pytest.raises(NotAllowed, match="human with the role `operator`"):
        await stop(scene, by=caller)
    with pytest.raises(NotAllowed, match="human with the role `operator`"):
        await resume(scene, standing.id, by=caller)
    assert await scene.ledger.stops() == (standing,)


async def test_stop_and_resume_are_recorded(scene: Any) -> None:
    made = await stop(scene, StopScope.STACK, "shop")
    ended = await resume(scene, made.id, by=replace(CHIEF, actor="ana"))
    [stopped], [resumed] = await records(scene, Stage.STOPPED), await records(scene, Stage.RESUMED)
    assert (stopped.mutation_id, stopped.actor, stopped.stack) == (made.id, "chief", "shop")
    assert stopped.body.members == {"scope": "stack", "name": "shop", "reason": "It runs amok."}
    assert (resumed.mutation_id, resumed.actor, resumed.body.members["reason"]) == (made.id, "ana", "Mended.")
    assert await scene.ledger.stops() == ()
    assert await scene.ledger.stops(every=True) == (ended,)
    assert (ended.ended_at, ended.ended_by) == (NOW + HOUR, "ana")


async def test_the_same_stop_again_is_not_a_second_one(scene: Any) -> None:
    first = await stop(scene)
    assert await stop(scene, at=NOW + HOUR) == first
    other = await stop(scene, reason="Another reason.")
    rival = await stop(scene, by=replace(CHIEF, actor="ana"))
    assert {each.id for each in await scene.ledger.stops()} == {first.id, other.id, rival.id}
    await resume(scene, first.id)
    assert len(await scene.ledger.stops()) == 2, "each person ends what is no longer needed of theirs"


async def test_what_does_not_stand_cannot_be_resumed(scene: Any) -> None:
    made = await stop(scene)
    await resume(scene, made.id)
    with pytest.raises(NotFound, match="was ended by chief"):
        await resume(scene, made.id)
    with pytest.raises(NotFound, match="No stop stp_x stands"):
        await resume(scene, "stp_x")
    assert len(await records(scene, Stage.RESUMED)) == 1


async def test_nobody_ends_a_stop_of_themselves(scene: Any) -> None:
    for name, by in (("chief", CHIEF), ("boss", replace(CHIEF, actor="aide", on_behalf_of="boss"))):
        made = await stop(scene, StopScope.ACTOR, name)
        with pytest.raises(NotAllowed, match="about yourself"):
            await resume(scene, made.id, by=by)
        await resume(scene, made.id, by=replace(CHIEF, actor="ana"))


async def test_their_number_is_limited(scene: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stops, "MOST_STOPS", 2)
    one, _ = [await stop(scene, reason=reason) for reason in ("a", "b")]
    with pytest.raises(Overloaded, match="2 stops stand"):
        await stop(scene, reason="c")
    await resume(scene, one.id)
    await stop(scene, reason="c")


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize(
    ("scope", "name"),
    [(StopScope.ALL, ""), (StopScope.ACTOR, "agent"), (StopScope.STACK, "shop"), (StopScope.SERVICE, "sqs")],
)
async def test_a_decision_made_before_the_stop_is_not_stored_after_it(
    scene: Any, scope: StopScope, name: str, mode: Mode
) -> None:
    change = scene.mutation()
    facts, decision = scene.facts(change, mode), scene.decision(mode=mode)
    await stop(scene, scope, name)
    with pytest.raises(Stopped, match=r"It runs amok\. Ask chief; reads stay open\. Nothing was sent\."):
        await scene.ledger.record_decision(change, facts, decision)
    assert await scene.ledger.claims() == ()
    assert await records(scene, Stage.DECIDED) == ()


async def test_what_is_in_flight_is_settled_all_the_same(scene: Any) -> None:
    change = scene.mutation()
    await scene.ledger.record_decision(change, scene.facts(change), scene.decision())
    await stop(scene)
    await scene.ledger.record_outcome(change, scene.applied, NOW)
    [settled] = await records(scene, Stage.SETTLED)
    assert settled.body.members["outcome"] == "applied"


@pytest.mark.parametrize(
    ("scope", "name"),
    [
        (StopScope.ALL, ""),
        (StopScope.ACTOR, "agent"),
        (StopScope.ACTOR, "alice"),
        (StopScope.STACK, "shop"),
        (StopScope.SERVICE, "sqs"),
    ],
)
async def test_what_is_held_cannot_be_approved_while_it_is_stopped(scene: Any, scope: StopScope, name: str) -> None:
    held = scene.mutation()
    await scene.ledger.record_decision(held, scene.facts(held), scene.decision(Verdict.HOLD))
    made = await stop(scene, scope, name)
    with pytest.raises(Stopped, match="approve it then"):
        await scene.ledger.approve(held.id, approver=APPROVER, at=NOW, lasts=HOUR)
    with pytest.raises(Stopped, match="approve it then"):
        await scene.ledger.break_glass(held.id, human=APPROVER, reason="Now!", at=NOW)
    assert await records(scene, Stage.APPROVED) == await records(scene, Stage.BROKE_GLASS) == ()
    await resume(scene, made.id)
    await scene.ledger.approve(held.id, approver=APPROVER, at=NOW, lasts=HOUR)


async def test_an_approval_of_before_is_neither_used_nor_spent(scene: Any) -> None:
    held = scene.mutation()
    await scene.ledger.record_decision(held, scene.facts(held), scene.decision(Verdict.HOLD))
    approval = await scene.ledger.approve(held.id, approver=APPROVER, at=NOW, lasts=HOUR)
    made = await stop(scene, StopScope.STACK, "shop")
    again = scene.mutation()
    with pytest.raises(Stopped):
        await scene.ledger.record_decision(again, scene.facts(again), scene.decision(approval=approval.id))
    await resume(scene, made.id)
    assert await scene.ledger.record_decision(again, scene.facts(again), scene.decision(approval=approval.id))


async def test_rejecting_and_releasing_stay_open(scene: Any) -> None:
    held, claiming = scene.mutation(), scene.mutation(attribute="other")
    await scene.ledger.record_decision(held, scene.facts(held), scene.decision(Verdict.HOLD))
    await scene.execute(claiming)
    await stop(scene)
    await scene.ledger.reject(held.id, approver=APPROVER, reason="No.", at=NOW)
    await scene.ledger.release(claiming.id, caller=APPROVER, at=NOW)


async def test_the_view_of_a_decision_has_them(scene: Any) -> None:
    made = await stop(scene)
    asked = {"addresses": ["aws_sqs_queue.orders"], "actor": "agent", "call_digest": "d", "now": NOW}
    assert (await scene.ledger.view(**asked, flip_window=HOUR)).stops == (made,)
