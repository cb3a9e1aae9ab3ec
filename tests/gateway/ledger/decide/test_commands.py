"""Who is an approver, and how long an approval lasts."""

from datetime import timedelta
from typing import Any

import pytest

from gateway.core.errors import Malformed, NotAllowed, NotFound
from gateway.core.model.approval import is_approver
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.outcome import InDoubt, Resolution, SettledBy
from gateway.core.model.verdict import Verdict
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Record, Stage


@pytest.mark.parametrize("kind", ActorKind)
@pytest.mark.parametrize("roles", [(), ("operator",), ("approver",), ("Approver",)])
def test_only_a_human_with_the_role_is_an_approver(kind: ActorKind, roles: tuple[str, ...]) -> None:
    caller = Caller(actor="a", kind=kind, key_id="k", roles=roles)
    assert is_approver(caller) == (kind is ActorKind.HUMAN and roles == ("approver",))


@pytest.mark.parametrize("lasts", [timedelta(0), timedelta(seconds=-1)])
async def test_an_approval_without_duration_is_refused(scene: Any, lasts: timedelta) -> None:
    change = scene.mutation()
    await scene.ledger.record_decision(change, scene.facts(change), scene.decision(Verdict.HOLD))
    alice = Caller(actor="alice", kind=ActorKind.HUMAN, key_id="k", roles=("approver",))
    with pytest.raises(NotAllowed):
        await scene.ledger.approve(change.id, approver=alice, at=scene.now, lasts=lasts)


DAY = timedelta(days=1)
ADA = Caller(actor="ada", kind=ActorKind.HUMAN, key_id="SNTLADA", roles=("approver",))
APPLIED = Resolution(carried_out=True, by=SettledBy.READ_BACK, reason="Live is as asked.")
FAILED = Resolution(carried_out=False, by=SettledBy.CLOUDTRAIL, reason="AWS refused it.", request_id="r-9")


async def _doubt(scene: Any, **members: Any) -> Any:
    change = scene.mutation(**members)
    await scene.execute(change, InDoubt(reason="cut off"))
    return change


async def _last(scene: Any) -> Record:
    [record] = await scene.ledger.records(RecordQuery(stage=Stage.SETTLED, limit=1))
    assert isinstance(record, Record)
    return record


async def test_what_was_applied_leaves_its_values_and_frees_its_claim(scene: Any) -> None:
    change = await _doubt(scene)
    await scene.ledger.resolve(change.id, APPLIED, scene.now)
    body = (await _last(scene)).body.members
    assert (body["outcome"], body["settled_by"], body["why"]) == (
        "applied",
        {"means": "read_back", "actor": ""},
        "Live is as asked.",
    )
    view = await scene.ledger.view(
        addresses=["aws_sqs_queue.orders"], actor="", call_digest="", now=scene.now, flip_window=DAY
    )
    assert dict(view.values) == {("aws_sqs_queue.orders", "delay"): 6}
    rival = scene.mutation(9, actor="rival")
    await scene.execute(rival, supersedes=(view.claims[0].id,))


async def test_what_was_not_carried_out_ends_its_claim_and_reopens_the_superseded(scene: Any) -> None:
    [old] = await scene.execute(scene.mutation(5, actor="first"))
    change = scene.mutation(6)
    await scene.execute(change, InDoubt(reason="cut off"), supersedes=(old.id,))
    await scene.ledger.resolve(change.id, FAILED, scene.now)
    body = (await _last(scene)).body.members
    assert (body["outcome"], body["code"], body["request_id"], body["sent"]) == (
        "failed",
        "NotCarriedOut",
        "r-9",
        None,
    )
    assert body["claims_reopened"] == [old.id]
    assert [claim.id for claim in await scene.ledger.claims()] == [old.id]


@pytest.mark.parametrize("truth", [APPLIED, FAILED])
async def test_a_repeat_of_a_settled_attempt_is_never_sent(scene: Any, truth: Resolution) -> None:
    change = await _doubt(scene, key="k")
    await scene.ledger.resolve(change.id, truth, scene.now)
    attempt = await scene.ledger.attempt("agent", "k")
    assert attempt is not None
    assert isinstance(attempt.outcome, InDoubt)
    assert attempt.outcome.settled
    assert truth.reason in attempt.outcome.reason


@pytest.mark.parametrize("first", [APPLIED, FAILED])
@pytest.mark.parametrize("second", [APPLIED, FAILED])
async def test_it_is_settled_once(scene: Any, first: Resolution, second: Resolution) -> None:
    change = await _doubt(scene)
    await scene.ledger.resolve(change.id, first, scene.now)
    with pytest.raises(NotAllowed, match="recorded already"):
        await scene.ledger.resolve(change.id, second, scene.now)
    with pytest.raises(NotAllowed, match="recorded already"):
        await scene.ledger.settle_by_hand(change.id, approver=ADA, carried_out=True, reason="seen", at=scene.now)
    with pytest.raises(NotAllowed, match="recorded already"):
        await scene.ledger.leave_to_human(change.id, "Nothing showed it.", scene.now)
    assert len(await scene.ledger.records(RecordQuery(stage=Stage.SETTLED))) == 2


async def test_what_is_in_flight_or_unknown_is_not_in_doubt(scene: Any) -> None:
    change = scene.mutation()
    await scene.ledger.record_decision(change, scene.facts(change), scene.decision())
    with pytest.raises(NotAllowed, match="running gateway"):
        await scene.ledger.resolve(change.id, APPLIED, scene.now)
    with pytest.raises(NotFound):
        await scene.ledger.resolve("mut_none", APPLIED, scene.now)


async def test_a_human_settles_it_by_hand_with_name_and_reason(scene: Any) -> None:
    change = await _doubt(scene)
    await scene.ledger.settle_by_hand(change.id, approver=ADA, carried_out=False, reason=" looked ", at=scene.now)
    record = await _last(scene)
    assert record.body.members["settled_by"] == {"means": "human", "actor": "ada"}
    assert (record.body.members["why"], record.actor) == ("looked", "agent")
    assert await scene.ledger.claims() == ()


@pytest.mark.parametrize(
    "caller",
    [
        Caller(actor="bob", kind=ActorKind.HUMAN, key_id="K"),
        Caller(actor="agent", kind=ActorKind.AGENT, key_id="K", roles=("approver",)),
        Caller(actor="ci", kind=ActorKind.PIPELINE, key_id="K", roles=("approver",)),
        Caller(actor="svc", kind=ActorKind.SERVICE, key_id="K", roles=("approver",)),
    ],
)
async def test_nobody_but_a_human_approver_settles_by_hand(scene: Any, caller: Caller) -> None:
    change = await _doubt(scene)
    with pytest.raises(NotAllowed, match="approver"):
        await scene.ledger.settle_by_hand(change.id, approver=caller, carried_out=True, reason="seen", at=scene.now)
    assert len(await scene.ledger.in_doubt()) == 1


@pytest.mark.parametrize("reason", ["", " ", "\n\t"])
async def test_a_reason_is_needed(scene: Any, reason: str) -> None:
    change = await _doubt(scene)
    with pytest.raises(Malformed, match="reason"):
        await scene.ledger.settle_by_hand(change.id, approver=ADA, carried_out=True, reason=reason, at=scene.now)


async def test_it_is_left_to_a_human_once_and_stays_in_doubt_until_then(scene: Any) -> None:
    change = await _doubt(scene)
    assert await scene.ledger.leave_to_human(change.id, "Nothing showed it.", scene.now)
    assert not await scene.ledger.leave_to_human(change.id, "Nothing showed it.", scene.now)
    [doubt] = await scene.ledger.in_doubt()
    assert doubt.left_to_human
    assert len(await scene.ledger.records(RecordQuery(stage=Stage.SETTLED))) == 2
    assert (await _last(scene)).body.members == {
        "outcome": "in_doubt",
        "reason": "Nothing showed it.",
        "left_to_human": True,
    }
    assert len(await scene.ledger.claims()) == 1
    await scene.ledger.resolve(change.id, APPLIED, scene.now)
    assert await scene.ledger.in_doubt() == ()
    assert await scene.ledger.verify() == 4
