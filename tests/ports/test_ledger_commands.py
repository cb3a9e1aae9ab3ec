"""The commands and queries of humans and of the reconciler, on every store: approve, reject, release, reconcile, expire, blame, list."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import bindparam, update

from gateway.core.errors import NotAllowed, NotFound
from gateway.core.model.approval import HoldState, binding_from_json
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.claim import Claim, ClaimEnd
from gateway.core.model.inbound import Refusal
from gateway.core.model.json import Json, canonical_text
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.model.mutation import Call, Door, Mutation
from gateway.core.model.outcome import Applied, InDoubt, Reply, Sent
from gateway.core.model.verdict import Verdict
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from gateway.core.times import SystemClock
from gateway.ledger.keyring import SqlKeyRing
from gateway.ledger.ledger import SqlLedger
from gateway.ledger.store.statements import Statement
from gateway.ledger.store.tables import APPROVALS
from tests.kit import nouns
from tests.kit.bodies import written_back
from tests.kit.nouns import BOUND
from tests.kit.stores import MASTER

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
QUEUE = "aws_sqs_queue.orders"
AGENT = Caller(actor="agent", kind=ActorKind.AGENT, key_id="SNTLAGENT", on_behalf_of="carol")
ALICE = Caller(actor="alice", kind=ActorKind.HUMAN, key_id="SNTLALICE", roles=("approver",))
APPLIED = Applied(reply=Reply(status=200, headers=(), body=b""), request_id="r-1")


def mutation(
    value: Json = 6, *, caller: Caller = AGENT, address: str = QUEUE, attribute: str = "delay", call: str = "x"
) -> Mutation:
    """A new mutation that sets one attribute; `call` tells calls apart."""
    effect = nouns.effect(address, attribute, value)
    return nouns.mutation(
        effect,
        caller=caller,
        call=Call(service="sqs", operation="SetQueueAttributes", parameters={"Call": call}),
        motive=Motive(intent=Intent.COST, motivation=Motivation.BUDGET, text="less", evidence=("FIN-1",)),
    )


async def decide(
    ledger: SqlLedger, change: Mutation, verdict: Verdict = Verdict.ALLOW, *, at: datetime = NOW, **members: Any
) -> tuple[Claim, ...]:
    """Record a decision of one finding."""
    facts = nouns.facts(*nouns.subjects(change.effects), now=at)
    return tuple(await ledger.record_decision(change, facts, nouns.decision(verdict, **members)))


async def execute(
    ledger: SqlLedger, change: Mutation, outcome: Sent = APPLIED, *, at: datetime = NOW, **members: Any
) -> tuple[Claim, ...]:
    """Decide and settle."""
    claims = await decide(ledger, change, at=at, **members)
    await ledger.record_outcome(change, outcome, at)
    return claims


async def approval_seen(ledger: SqlLedger, change: Mutation, at: datetime = NOW) -> str:
    """The id of the unused approval for this call, or an empty text."""
    view = await ledger.view(
        addresses=[], actor=change.caller.actor, call_digest=change.call.digest, now=at, flip_window=DAY
    )
    return view.approval.id if view.approval else ""


async def test_one_approval_permits_one_call_however_often_it_was_held(ledger: SqlLedger) -> None:
    first, second = mutation(), mutation()
    await decide(ledger, first, Verdict.HOLD)
    await decide(ledger, second, Verdict.HOLD)
    approval = await ledger.approve(first.id, approver=ALICE, at=NOW, lasts=HOUR)
    assert await ledger.approve(second.id, approver=ALICE, at=NOW, lasts=HOUR) == approval
    assert await approval_seen(ledger, second) == approval.id
    assert await approval_seen(ledger, mutation(call="y")) == ""
    await execute(ledger, mutation(), approval=approval.id)
    assert await approval_seen(ledger, second) == ""
    with pytest.raises(NotAllowed, match="used"):
        await ledger.approve(second.id, approver=ALICE, at=NOW, lasts=HOUR)
    assert len(await ledger.records(RecordQuery(stage=Stage.APPROVED))) == 1


async def test_a_decision_says_through_which_door_it_came(ledger: SqlLedger) -> None:
    changes = [mutation(call=name) for name in "abcd"]
    for change in changes:
        await decide(ledger, change, Verdict.HOLD)
    first, second, third, fourth = (change.id for change in changes)
    on_call = replace(ALICE, roles=("break-glass",))
    await ledger.approve(first, approver=ALICE, at=NOW, lasts=HOUR, door=Door.CHAT)
    await ledger.reject(second, approver=ALICE, reason="No.", at=NOW, door=Door.CONSOLE)
    await ledger.break_glass(third, human=on_call, reason="Fire.", at=NOW, door=Door.API)
    await ledger.approve(fourth, approver=ALICE, at=NOW, lasts=HOUR)
    doors = [
        (await ledger.records(RecordQuery(mutation_id=change.id)))[0].body.members.get("door") for change in changes
    ]
    assert doors == ["chat", "console", "api", None]
    assert await ledger.verify()


async def test_approving_the_same_call_in_other_circumstances_replaces_the_approval(ledger: SqlLedger) -> None:
    first, second, third = mutation(), mutation(), mutation()
    later = replace(BOUND, code="t2")
    await decide(ledger, first, Verdict.HOLD)
    await decide(ledger, second, Verdict.HOLD, binding=later)
    await decide(ledger, third, Verdict.HOLD, binding=later)
    old = await ledger.approve(first.id, approver=ALICE, at=NOW, lasts=HOUR)
    assert old.binding == BOUND
    assert {hold.mutation_id for hold in await ledger.holds()} == {second.id, third.id}
    new = await ledger.approve(second.id, approver=ALICE, at=NOW, lasts=HOUR)
    assert (new.binding, await approval_seen(ledger, first)) == (later, new.id)
    assert await ledger.approve(third.id, approver=ALICE, at=NOW, lasts=HOUR) == new
    assert await ledger.holds() == ()
    with pytest.raises(NotAllowed, match="replaced"):
        await ledger.approve(first.id, approver=ALICE, at=NOW, lasts=HOUR)
    records = await ledger.records(RecordQuery(stage=Stage.APPROVED, newest_first=False))
    assert [binding_from_json(record.body.members["binding"]) for record in records] == [BOUND, later]


async def test_what_an_approver_cannot_have_seen_is_not_approved(ledger: SqlLedger) -> None:
    unbound, large, many = mutation(), mutation(call="x" * 70_000), mutation(["x" * 200_000], call="z")
    await decide(ledger, unbound, Verdict.HOLD, binding=None)
    await decide(ledger, large, Verdict.HOLD)
    await decide(ledger, many, Verdict.HOLD)
    for change, says in ((unbound, "bound to"), (large, "too large"), (many, "too large")):
        with pytest.raises(NotAllowed, match=says):
            await ledger.approve(change.id, approver=ALICE, at=NOW, lasts=HOUR)
        await ledger.reject(change.id, approver=ALICE, reason="unseen", at=NOW)


async def test_holds_are_listed_by_state_actor_and_mutation(ledger: SqlLedger) -> None:
    mine, yours = mutation(call="m"), mutation(caller=replace(AGENT, actor="rival", on_behalf_of=""))
    await decide(ledger, mine, Verdict.HOLD)
    await decide(ledger, yours, Verdict.HOLD, at=NOW + HOUR)
    assert [hold.mutation_id for hold in await ledger.holds()] == [yours.id, mine.id]
    assert [hold.mutation_id for hold in await ledger.holds(limit=1)] == [yours.id]
    assert [hold.mutation_id for hold in await ledger.holds(actor="agent")] == [mine.id]
    assert await ledger.holds(actor="rival", mutation_id=mine.id) == ()
    await ledger.approve(mine.id, approver=ALICE, at=NOW, lasts=HOUR)
    assert [hold.mutation_id for hold in await ledger.holds(state=HoldState.APPROVED)] == [mine.id]
    [hold] = await ledger.holds(state=None, mutation_id=mine.id)
    summary: Any = hold.summary
    assert (hold.actor, hold.on_behalf_of, hold.at, hold.state) == ("agent", "carol", NOW, HoldState.APPROVED)
    assert summary["call"]["parameters"] == {"Call": "m"}


async def test_an_approval_expires_and_can_be_given_again(ledger: SqlLedger) -> None:
    change = mutation()
    await decide(ledger, change, Verdict.HOLD)
    first = await ledger.approve(change.id, approver=ALICE, at=NOW, lasts=HOUR)
    assert await approval_seen(ledger, change, NOW + HOUR) == ""
    second = await ledger.approve(change.id, approver=ALICE, at=NOW + HOUR, lasts=HOUR)
    assert second.id != first.id
    assert await approval_seen(ledger, change, NOW + HOUR) == second.id


@pytest.mark.parametrize(
    "approver",
    [
        replace(ALICE, roles=()),
        replace(ALICE, kind=ActorKind.AGENT),
        replace(ALICE, kind=ActorKind.PIPELINE),
        replace(ALICE, actor="agent"),
        replace(ALICE, actor="carol"),
        replace(ALICE, on_behalf_of="agent"),
        replace(ALICE, actor="agent", key_id="SNTLSECOND"),
    ],
    ids=["no role", "agent", "pipeline", "own call", "on its behalf", "for the requester", "second key"],
)
async def test_no_other_caller_may_approve_or_reject(ledger: SqlLedger, approver: Caller) -> None:
    change = mutation()
    await decide(ledger, change, Verdict.HOLD)
    with pytest.raises(NotAllowed):
        await ledger.approve(change.id, approver=approver, at=NOW, lasts=HOUR)
    with pytest.raises(NotAllowed):
        await ledger.reject(change.id, approver=approver, reason="no", at=NOW)
    assert await approval_seen(ledger, change) == ""
    assert await ledger.verify() == 1


async def test_a_rejection_is_final_and_withdraws_an_unused_approval(ledger: SqlLedger) -> None:
    change = mutation()
    await decide(ledger, change, Verdict.HOLD)
    await ledger.approve(change.id, approver=ALICE, at=NOW, lasts=HOUR)
    await ledger.reject(change.id, approver=ALICE, reason="not today", at=NOW)
    assert await approval_seen(ledger, change) == ""
    for act in (
        ledger.approve(change.id, approver=ALICE, at=NOW, lasts=HOUR),
        ledger.reject(change.id, approver=ALICE, reason="again", at=NOW),
    ):
        with pytest.raises(NotAllowed):
            await act
    assert [hold.mutation_id for hold in await ledger.holds(state=HoldState.REJECTED)] == [change.id]


_ACTS: dict[str, Callable[[SqlLedger, str], Awaitable[object]]] = {
    "approve": lambda ledger, name: ledger.approve(name, approver=ALICE, at=NOW, lasts=HOUR),
    "reject": lambda ledger, name: ledger.reject(name, approver=ALICE, reason="", at=NOW),
    "release": lambda ledger, name: ledger.release(name, caller=ALICE, at=NOW),
    "reconciled": lambda ledger, name: ledger.record_reconciliation(name, at=NOW, body=written_back({})),
}


@pytest.mark.parametrize("act", _ACTS)
async def test_an_unknown_mutation_is_not_found(ledger: SqlLedger, act: str) -> None:
    with pytest.raises(NotFound):
        await _ACTS[act](ledger, "mut_none")
    assert await ledger.verify() == 0


async def test_only_its_actor_or_an_approver_releases_a_claim(ledger: SqlLedger) -> None:
    for caller in (AGENT, ALICE):
        change = mutation()
        [claim] = await execute(ledger, change)
        with pytest.raises(NotFound):
            await ledger.release(change.id, caller=replace(AGENT, actor="rival"), at=NOW)
        assert await ledger.release(change.id, caller=caller, at=NOW) == (
            replace(claim, ended_at=NOW, end=ClaimEnd.RELEASED),
        )
        with pytest.raises(NotFound):
            await ledger.release(change.id, caller=caller, at=NOW)


async def test_what_is_in_doubt_is_released_only_by_an_approver(ledger: SqlLedger) -> None:
    change = mutation()
    await decide(ledger, change)
    with pytest.raises(NotAllowed):
        await ledger.release(change.id, caller=ALICE, at=NOW)
    await ledger.record_outcome(change, InDoubt(reason="cut off"), NOW)
    with pytest.raises(NotAllowed):
        await ledger.release(change.id, caller=AGENT, at=NOW)
    assert len(await ledger.release(change.id, caller=ALICE, at=NOW)) == 1


async def test_only_a_merge_ends_claim_and_value(ledger: SqlLedger) -> None:
    change = mutation()
    [claim] = await execute(ledger, change)
    await ledger.record_reconciliation(
        change.id, at=NOW, body=written_back({"branch": "sentinel/shop", "commit": "c0ffee"})
    )
    view = await ledger.view(addresses=[QUEUE], actor="", call_digest="", now=NOW, flip_window=DAY)
    assert (view.claims, dict(view.values)) == ((claim,), {(QUEUE, "delay"): 6})
    await ledger.record_reconciliation(change.id, at=NOW, body=written_back({"merged": True}))
    view = await ledger.view(addresses=[QUEUE], actor="", call_digest="", now=NOW, flip_window=DAY)
    assert (view.claims, dict(view.values)) == ((), {})
    assert [each.end for each in await ledger.claims(open_only=False)] == [ClaimEnd.MERGED]


async def test_expired_claims_are_ended_and_recorded(ledger: SqlLedger) -> None:
    for number in range(3):
        await execute(
            ledger, mutation(address=f"aws_sqs_queue.q{number}"), obligations={"claim_seconds": 60 * (number + 1)}
        )
    assert await ledger.expire(NOW + timedelta(seconds=120)) == 2
    assert await ledger.expire(NOW + timedelta(seconds=120)) == 0
    assert len(await ledger.records(RecordQuery(stage=Stage.EXPIRED))) == 2


async def test_blame_names_actor_motive_approver_and_what_was_replaced(ledger: SqlLedger) -> None:
    before, held, change = mutation(5, caller=replace(AGENT, actor="first")), mutation(), mutation()
    [old] = await execute(ledger, before)
    await decide(ledger, held, Verdict.HOLD)
    approval = await ledger.approve(held.id, approver=ALICE, at=NOW, lasts=HOUR)
    await execute(ledger, change, at=NOW + timedelta(seconds=1), approval=approval.id, supersedes=(old.id,))
    await ledger.record_reconciliation(
        change.id, at=NOW, body=written_back({"branch": "sentinel/shop", "commit": "c0ffee"})
    )
    found = await ledger.blame(QUEUE, "delay")
    assert found is not None
    assert (found.actor, found.kind, found.on_behalf_of, found.approver) == ("agent", "agent", "carol", "alice")
    assert (found.intent, found.motivation, found.text, found.evidence) == ("cost", "budget", "less", ("FIN-1",))
    assert (found.value, found.previous, found.previous_actor) == (6, 4, "first")
    assert (found.previous_mutation_id, found.previous_at) == (before.id, NOW)
    assert (found.branch, found.commit, found.claim_open, found.outcome) == ("sentinel/shop", "c0ffee", True, "applied")
    assert found.operation == "sqs:SetQueueAttributes"


async def test_blame_takes_what_covers_the_attribute_and_no_refusal(ledger: SqlLedger) -> None:
    await execute(ledger, mutation({"a": 1}, attribute="tags"))
    await decide(ledger, mutation({"a": 2}, attribute="tags.owner"), Verdict.DENY)
    found = await ledger.blame(QUEUE, "tags.owner")
    assert found is not None
    assert (found.attribute, found.value) == ("tags", {"a": 1})
    assert await ledger.blame(QUEUE, "delay") is None
    assert await ledger.blame("aws_sqs_queue.other", "tags") is None


@pytest.mark.parametrize(
    ("query", "seqs"),
    [
        (RecordQuery(), [5, 4, 3, 2, 1]),
        (RecordQuery(newest_first=False, limit=2), [1, 2]),
        (RecordQuery(newest_first=False, after_seq=2), [3, 4, 5]),
        (RecordQuery(actor="b"), [4, 3]),
        (RecordQuery(stage=Stage.DECIDED), [5, 3, 1]),
        (RecordQuery(intent="cost"), [5, 3, 1]),
        (RecordQuery(motivation="launch"), []),
        (RecordQuery(verdict="deny"), [5]),
        (RecordQuery(resource="aws_sqs_queue.a"), [5, 1]),
        (RecordQuery(resource="aws_sqs_queue.a1"), [5]),
        (RecordQuery(resource="aws_sqs_queue"), [5, 3, 1]),
        (RecordQuery(resource="%"), []),
        (RecordQuery(since=NOW + HOUR), [5, 4, 3]),
        (RecordQuery(until=NOW + HOUR), [4, 3, 2, 1]),
        (RecordQuery(since=NOW + HOUR, until=NOW + HOUR, actor="b", resource="aws_sqs_queue.b"), [3]),
        (RecordQuery(actor="' OR 1=1 --"), []),
        (RecordQuery(limit=0), []),
        (RecordQuery(limit=-1), []),
    ],
)
async def test_records_are_found_by_what_they_are_about(ledger: SqlLedger, query: RecordQuery, seqs: list[int]) -> None:
    for hour, name in enumerate("ab"):
        change = mutation(address=f"aws_sqs_queue.{name}", caller=replace(AGENT, actor=name))
        await execute(ledger, change, at=NOW + hour * HOUR)
    await decide(ledger, mutation(address="aws_sqs_queue.a1"), Verdict.DENY, at=NOW + 2 * HOUR)
    assert [record.seq for record in await ledger.records(query)] == seqs


async def test_records_are_found_by_key_refusal_and_missing_evidence(ledger: SqlLedger) -> None:
    ring = SqlKeyRing(ledger, master=MASTER, clock=SystemClock())
    ours, theirs = [(await ring.issue(actor="agent", kind=ActorKind.AGENT)).id for _ in range(2)]
    caller = replace(AGENT, key_id=ours)
    bare = replace(mutation(caller=caller), motive=Motive(intent=Intent.COST, motivation=Motivation.BUDGET))
    # A parameter that looks like the caller's key, or like missing evidence, misleads nobody.
    decoy: dict[str, Json] = {"key_id": ours, "evidence": [], "motive": None}
    other = mutation(caller=replace(AGENT, key_id=theirs))
    other = replace(other, call=replace(other.call, parameters=decoy))
    for change, verdict in ((mutation(caller=caller), Verdict.DENY), (other, Verdict.DENY), (bare, Verdict.HOLD)):
        await decide(ledger, change, verdict)
    for key_id in (ours, "SNTLSTRANGER"):
        refusal = Refusal(
            at=NOW, reason="No.", code="malformed", key_id=key_id, actor="agent" if key_id == ours else ""
        )
        await ledger.record_refusal(refusal)

    async def seqs(**wanted: Any) -> list[int]:
        return [record.seq for record in await ledger.records(RecordQuery(newest_first=False, **wanted))]

    assert await seqs(key_id=ours) == [3, 5, 6]
    assert await seqs(key_id=theirs) == [4]
    assert await seqs(key_id="SNTLSTRANGER") == await seqs(key_id="%") == []
    assert await seqs(refused=True) == [3, 4, 6, 7]
    assert await seqs(refused=True, key_id=ours) == [3, 6]
    assert await seqs(no_evidence=True) == [5]
    assert await seqs(key_id=ours, limit=2) == [3, 5]
    assert await seqs(no_evidence=True, refused=True) == []


async def test_refusals_are_recorded_at_a_limited_rate_and_the_others_counted(ledger: SqlLedger) -> None:
    async def refuse(at: datetime, peer: str = "10.0.0.1") -> None:
        refusal = Refusal(
            at=at, reason="No.", code="not_authenticated", peer=peer, key_id="AKIAIOSFODNN7EXAMPLE", about="GET /\udce9"
        )
        await ledger.record_refusal(refusal)

    for _ in range(60):
        await refuse(NOW)
    await refuse(NOW, "10.0.0.2")
    records = await ledger.records(RecordQuery(stage=Stage.TURNED_AWAY))
    assert len(records) == 51
    assert records[0].body.members["suppressed"] == 10
    assert "AKIAIOSFODNN7EXAMPLE" not in str(records)
    assert str(records[0].body.members["key_id"]).startswith("…MPLE sha256:")
    await refuse(NOW + timedelta(seconds=1))
    assert (await ledger.records(RecordQuery()))[0].body.members["suppressed"] == 0


# What a revoked key leaves behind --------------------------------------------------------------------------------------


async def person(ledger: SqlLedger, actor: str) -> tuple[SqlKeyRing, Caller]:
    """Somebody who may approve, with a key of their own."""
    ring = SqlKeyRing(ledger, master=MASTER, clock=SystemClock())
    key = await ring.issue(actor=actor, kind=ActorKind.HUMAN, roles=("approver",))
    return ring, replace(ALICE, actor=actor, key_id=key.id)


async def held_state(ledger: SqlLedger, change: Mutation) -> HoldState:
    """Whether people are waited for."""
    [hold] = await ledger.holds(state=None, mutation_id=change.id)
    return hold.state


async def test_a_revoked_key_takes_its_unused_approvals_along(ledger: SqlLedger) -> None:
    ring, thief = await person(ledger, "thief")
    _, other = await person(ledger, "other")
    theirs, others, used, late = (mutation(call=name) for name in ("theirs", "others", "used", "late"))
    now = SystemClock().now()
    for change in (theirs, others, used, late):
        await decide(ledger, change, Verdict.HOLD, at=now)
    approval = await ledger.approve(theirs.id, approver=thief, at=now, lasts=HOUR)
    await ledger.approve(others.id, approver=other, at=now, lasts=HOUR)
    gone = await ledger.approve(used.id, approver=thief, at=now, lasts=HOUR)
    await decide(ledger, mutation(call="used"), approval=gone.id, at=now)
    await ledger.approve(late.id, approver=thief, at=now - DAY, lasts=HOUR)
    ended = await ring.revoke(thief.key_id)
    assert ended.approvals == (approval.id,)
    states = [await held_state(ledger, change) for change in (theirs, others, used)]
    assert states == [HoldState.OPEN, HoldState.APPROVED, HoldState.APPROVED]
    assert (await ring.revoke(thief.key_id)).approvals == ()
    again = await ledger.approve(theirs.id, approver=other, at=now, lasts=HOUR)
    assert (again.id != approval.id, again.missing) == (True, 0)
    assert await ledger.verify()


async def test_an_approval_whose_key_nobody_recorded_ends_with_any_key_of_its_person(ledger: SqlLedger) -> None:
    """Records of before do not tell the key."""
    ring, alice = await person(ledger, "alice")
    _, bob = await person(ledger, "bob")
    now = SystemClock().now()
    for name, approver in (("hers", alice), ("his", bob)):
        change = mutation(call=name)
        await decide(ledger, change, Verdict.HOLD, at=now)
        await ledger.approve(change.id, approver=approver, at=now, lasts=HOUR)
    keys = Statement(update(APPROVALS).where(APPROVALS.c.approver == bindparam("who")).values(keys=bindparam("with")))
    for approver in (alice, bob):
        older = {"who": approver.actor, "with": None}
        await ledger.write(lambda transaction, values=older: transaction.change(keys, values))  # type: ignore[misc]
    assert len((await ring.revoke(alice.key_id)).approvals) == 1
    for approver in (alice, bob):  # as the records have it, which are verified in the end
        told = {"who": approver.actor, "with": canonical_text([approver.key_id])}
        await ledger.write(lambda transaction, values=told: transaction.change(keys, values))  # type: ignore[misc]


async def test_a_key_that_is_only_put_away_takes_nothing_along_until_it_is_distrusted(ledger: SqlLedger) -> None:
    ring, alice = await person(ledger, "alice")
    change, now = mutation(), SystemClock().now()
    await decide(ledger, change, Verdict.HOLD, at=now)
    await ledger.approve(change.id, approver=alice, at=now, lasts=HOUR)
    assert (await ring.revoke(alice.key_id, distrust=False)).approvals == ()
    assert await held_state(ledger, change) is HoldState.APPROVED
    assert len((await ring.revoke(alice.key_id)).approvals) == 1
    assert await held_state(ledger, change) is HoldState.OPEN
    assert await ledger.verify()
