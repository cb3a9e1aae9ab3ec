"""What mutations need of the ledger, on every store: view, record decisions and outcomes, recover."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import pytest

from gateway.core.errors import ApprovalSpent, AttemptInFlight, ClaimTaken, NotAllowed, NotFound, PolicyInvalid
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.claim import Claim, ClaimEnd, Relation, StandingClaim
from gateway.core.model.facts import Approval, Facts
from gateway.core.model.json import Json
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.model.mutation import Call, Effect, EffectAction, Mutation
from gateway.core.model.outcome import Applied, Failed, InDoubt, Reply, Resolution, SettledBy
from gateway.core.model.verdict import Verdict
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from gateway.ledger.decide.ledger_view import FLIP_CLAIMS
from gateway.ledger.decide.settlement import STOPPED
from gateway.ledger.ledger import SqlLedger, open_ledger
from gateway.ledger.store import database
from tests.kit import nouns
from tests.kit.stores import KEYS

NOW = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
GROUP = "aws_autoscaling_group.kafka"
APPLIED = Applied(
    reply=Reply(status=200, headers=(("content-type", "text/xml"),), body=b"<ok/>\x00\xff"), request_id="r-1"
)
FAILED = Failed(code="ValidationError", message="no" * 5_000, reply=APPLIED.reply, request_id="r-2")
HUMAN = Caller(actor="alice", kind=ActorKind.HUMAN, key_id="SNTLHUMAN", roles=("approver",))


def effect(value: Json = 6, attribute: str = "desired_capacity", **members: Any) -> Effect:
    """A SET on the example group, unless `members` say otherwise."""
    given = {"address": GROUP, "action": EffectAction.SET, "resource_type": "aws_autoscaling_group", **members}
    return Effect(attribute=attribute, value=value, **given)


def mutation(
    *effects: Effect, actor: str = "agent", key: str = "", motive: Motive | None = None, **call: Any
) -> Mutation:
    """A new mutation of the call that sets what the effects say."""
    parameters = {"Name": "kafka", "Secret": "hunter2", "Value": [str(each.value) for each in effects], **call}
    return nouns.mutation(
        *(effects or (effect(),)),
        caller=nouns.caller(actor),
        call=Call(service="autoscaling", operation="SetDesiredCapacity", parameters=parameters),
        motive=motive or Motive(intent=Intent.AVAILABILITY, motivation=Motivation.INCIDENT),
        idempotency_key=key,
    )


def facts(change: Mutation, *, before: Json = 4, now: datetime = NOW, seen: Sequence[Claim] = ()) -> Facts:
    """The facts of a mutation whose attributes all have the value `before`."""
    claims = tuple(StandingClaim(claim=claim, relation=Relation.SAME) for claim in seen)
    return nouns.facts(
        *(nouns.subject(each, before, 4) for each in change.effects), now=now, stack="kafka", claims=claims
    )


async def execute(
    ledger: SqlLedger,
    change: Mutation,
    outcome: Applied | Failed | InDoubt = APPLIED,
    *,
    now: datetime = NOW,
    **members: Any,
) -> Sequence[Claim]:
    """Decide and settle; the claims taken."""
    claims = await ledger.record_decision(change, facts(change, now=now), nouns.decision(**members))
    await ledger.record_outcome(change, outcome, now)
    return claims


async def held_claims(ledger: SqlLedger, now: datetime = NOW, address: str = GROUP) -> tuple[Claim, ...]:
    """The open claims that a survey would see."""
    return (await ledger.view(addresses=[address], actor="agent", call_digest="", now=now, flip_window=DAY)).claims


async def test_a_mutation_leaves_decided_then_settled_and_its_claim_and_value(ledger: SqlLedger) -> None:
    change = mutation()
    [claim] = await execute(ledger, change)
    decided, settled = await ledger.records(RecordQuery(newest_first=False))
    assert (decided.stage, settled.stage, decided.seq, settled.seq) == (Stage.DECIDED, Stage.SETTLED, 1, 2)
    assert (decided.at, decided.actor, decided.stack, settled.previous) == (NOW, "agent", "kafka", decided.hash)
    view = await ledger.view(addresses=[GROUP, "aws_lb.front"], actor="agent", call_digest="", now=NOW, flip_window=DAY)
    assert view.claims == (claim,)
    assert view.values == {(GROUP, "desired_capacity"): 6}
    assert await ledger.verify() == 2


async def test_the_decided_record_holds_the_call_whole_with_its_secrets_masked(ledger: SqlLedger) -> None:
    secret = effect({"hmac_sha256": "ab"}, "password", sensitive=True)
    change = mutation(secret, effect())
    await ledger.record_decision(change, facts(change, before="hunter3"), nouns.decision())
    [record] = await ledger.records(RecordQuery())
    body: Any = record.body.members
    values = ["{'hmac_sha256': 'ab'}", "6"]
    assert body["call"]["parameters"] == {"Name": "kafka", "Secret": "***", "Value": values}
    assert body["call"]["whole"] is True
    assert [each["before"] for each in body["effects"]] == [None, "hunter3"]
    assert "hunter2" not in str(body)


@pytest.mark.parametrize("verdict", [Verdict.DENY, Verdict.HOLD])
async def test_a_mutation_that_is_not_carried_out_takes_no_claim(ledger: SqlLedger, verdict: Verdict) -> None:
    change = mutation(key="k")
    assert await ledger.record_decision(change, facts(change), nouns.decision(verdict)) == ()
    assert await held_claims(ledger) == ()
    assert await ledger.attempt("agent", "k") is None
    assert [hold.mutation_id for hold in await ledger.holds()] == ([change.id] if verdict is Verdict.HOLD else [])


@pytest.mark.parametrize(
    ("given", "before", "keys"),
    [
        (effect(), 6, ["desired_capacity"]),
        (effect(None, "*", action=EffectAction.DELETE), 4, ["*"]),
        (effect({"a": 1}, "*", action=EffectAction.CREATE), 4, []),
        (effect(None, "*", action=EffectAction.INVOKE), 4, []),
    ],
    ids=["restated", "delete", "create", "invoke"],
)
async def test_which_effects_take_a_claim(ledger: SqlLedger, given: Effect, before: Json, keys: list[str]) -> None:
    change = mutation(given)
    claims = await ledger.record_decision(change, facts(change, before=before), nouns.decision())
    assert [claim.attribute for claim in claims] == keys


async def test_a_restated_attribute_is_claimed_only_while_the_call_is_under_way(ledger: SqlLedger) -> None:
    change = mutation(effect(6), effect(4, "min_size"))
    claims = await ledger.record_decision(change, facts(change, before=4), nouns.decision())
    assert sorted(claim.attribute for claim in claims) == ["desired_capacity", "min_size"]
    assert len(await held_claims(ledger)) == 2
    await ledger.record_outcome(change, APPLIED, NOW)
    assert [claim.attribute for claim in await held_claims(ledger)] == ["desired_capacity"]
    [settled] = await ledger.records(RecordQuery(stage=Stage.SETTLED))
    assert settled.body.members["claims_ended"] == [claim.id for claim in claims if claim.attribute == "min_size"]


@pytest.mark.parametrize(
    ("granted", "wanted", "seconds"), [(None, None, None), (60, None, 60), (None, 30, 30), (60, 30, 30), (60, 90, 60)]
)
async def test_a_claim_lasts_for_the_sooner_of_granted_and_wanted(
    ledger: SqlLedger, granted: int | None, wanted: int | None, seconds: int | None
) -> None:
    span = timedelta(seconds=wanted) if wanted else None
    change = mutation(motive=Motive(intent=Intent.COST, motivation=Motivation.BUDGET, wanted_for=span))
    obligations = {"claim_seconds": granted} if granted else {}
    [claim] = await execute(ledger, change, obligations=obligations)
    assert claim.until == (NOW + timedelta(seconds=seconds) if seconds else None)
    assert await held_claims(ledger) == (claim,)


@pytest.mark.parametrize("odd", ["60", True, 0, -1, float("inf"), float("nan"), [60], 1e300])
async def test_an_invalid_obligation_stores_nothing(ledger: SqlLedger, odd: Any) -> None:
    change = mutation()
    with pytest.raises(PolicyInvalid):
        await ledger.record_decision(change, facts(change), nouns.decision(obligations={"claim_seconds": odd}))
    assert await ledger.verify() == 0


async def test_a_rival_that_does_not_supersede_is_refused_and_stores_nothing(ledger: SqlLedger) -> None:
    first = await execute(ledger, mutation())
    rival = mutation(effect(3), actor="rival")
    with pytest.raises(ClaimTaken, match="agent"):
        await ledger.record_decision(rival, facts(rival, seen=first), nouns.decision())
    assert await ledger.verify() == 2


@pytest.mark.parametrize(
    ("standing", "wanted"),
    [
        (effect(), effect(None, "*", action=EffectAction.DELETE)),
        (effect(None, "*", action=EffectAction.DELETE), effect()),
    ],
    ids=["attribute then whole", "whole then attribute"],
)
async def test_a_claim_on_the_whole_that_the_checks_did_not_see_refuses_a_mutation(
    ledger: SqlLedger, standing: Effect, wanted: Effect
) -> None:
    seen = await execute(ledger, mutation(standing))
    rival = mutation(wanted, actor="rival")
    with pytest.raises(ClaimTaken):
        await ledger.record_decision(rival, facts(rival), nouns.decision())
    assert len(await ledger.record_decision(rival, facts(rival, seen=seen), nouns.decision())) == 1


async def test_superseding_ends_the_old_claim_and_a_second_superseder_loses(ledger: SqlLedger) -> None:
    [old] = await execute(ledger, mutation())
    winner, loser = mutation(effect(8), actor="b"), mutation(effect(9), actor="c")
    [new] = await execute(ledger, winner, supersedes=(old.id,))
    with pytest.raises(ClaimTaken, match="ended meanwhile"):
        await ledger.record_decision(loser, facts(loser), nouns.decision(supersedes=(old.id,)))
    assert await held_claims(ledger) == (new,)
    ended = [claim for claim in await ledger.claims(open_only=False) if claim.id == old.id]
    assert ended == [replace(old, ended_at=NOW, end=ClaimEnd.SUPERSEDED)]


async def test_a_claim_in_flight_or_in_doubt_cannot_be_superseded_and_does_not_expire(ledger: SqlLedger) -> None:
    change = mutation()
    [claim] = await ledger.record_decision(change, facts(change), nouns.decision(obligations={"claim_seconds": 1}))
    later = NOW + timedelta(hours=1)
    for _ in range(2):
        rival = mutation(effect(9), actor="b")
        with pytest.raises(ClaimTaken, match="in doubt"):
            await ledger.record_decision(rival, facts(rival, now=later), nouns.decision(supersedes=(claim.id,)))
        assert await ledger.expire(later) == 0
        assert [held.id for held in await held_claims(ledger, later)] == [claim.id]
        if (await ledger.records(RecordQuery()))[0].stage is Stage.DECIDED:
            await ledger.record_outcome(change, InDoubt(reason="cut off"), NOW)
    truth = Resolution(carried_out=True, by=SettledBy.READ_BACK, reason="The live value is the asked one.")
    await ledger.resolve(change.id, truth, later)
    assert await held_claims(ledger, later) == ()
    assert (await ledger.view(addresses=[GROUP], actor="", call_digest="", now=later, flip_window=DAY)).values == {
        (GROUP, "desired_capacity"): 6
    }


async def test_an_expired_claim_is_ended_by_the_next_and_recorded(ledger: SqlLedger) -> None:
    await execute(ledger, mutation(), obligations={"claim_seconds": 60})
    later = NOW + timedelta(seconds=60)
    [new] = await execute(ledger, mutation(effect(9), actor="b"), now=later)
    assert await held_claims(ledger, later) == (new,)
    assert len(await ledger.records(RecordQuery(stage=Stage.EXPIRED))) == 1


async def test_a_failure_ends_its_claim_frees_its_key_and_reopens_superseded_claims(ledger: SqlLedger) -> None:
    [old] = await execute(ledger, mutation())
    change = mutation(effect(9), actor="b", key="k")
    await execute(ledger, change, FAILED, supersedes=(old.id,))
    assert await held_claims(ledger) == (old,)
    assert await ledger.attempt("b", "k") is None
    again = mutation(effect(9), actor="b", key="k")
    await execute(ledger, again, supersedes=(old.id,))
    [record] = await ledger.records(RecordQuery(mutation_id=change.id, stage=Stage.SETTLED))
    assert record.body.members["claims_reopened"] == [old.id]
    assert len(str(record.body.members["message"])) == 2_000


@pytest.mark.parametrize("outcome", [APPLIED, FAILED], ids=["applied", "failed"])
async def test_a_definite_outcome_is_recorded_once(ledger: SqlLedger, outcome: Applied | Failed) -> None:
    change = mutation()
    await execute(ledger, change, outcome)
    with pytest.raises(NotAllowed):
        await ledger.record_outcome(change, APPLIED, NOW)
    with pytest.raises(NotFound):
        await ledger.record_outcome(mutation(), APPLIED, NOW)


async def test_a_repeated_idempotency_key_gets_the_first_reply(ledger: SqlLedger) -> None:
    change = mutation(key="k")
    await ledger.record_decision(change, facts(change), nouns.decision())
    attempt = await ledger.attempt("agent", "k")
    assert attempt is not None
    assert (attempt.mutation_id, attempt.call_digest, attempt.outcome) == (change.id, change.call.digest, None)
    twin = mutation(effect(1, "min_size"), key="k")
    with pytest.raises(AttemptInFlight):
        await ledger.record_decision(twin, facts(twin), nouns.decision())
    await ledger.record_outcome(change, APPLIED, NOW)
    attempt = await ledger.attempt("agent", "k")
    assert attempt is not None
    assert attempt.outcome == APPLIED
    assert await ledger.attempt("rival", "k") is None
    asked: dict[str, Any] = {"addresses": [GROUP], "call_digest": "", "now": NOW, "flip_window": DAY}
    assert (await ledger.view(actor="agent", idempotency_key="k", **asked)).attempt == attempt
    for actor, key in (("agent", ""), ("agent", "k2"), ("rival", "k")):
        assert (await ledger.view(actor=actor, idempotency_key=key, **asked)).attempt is None


@pytest.mark.parametrize(
    ("change", "size"),
    [
        (mutation(effect({"hmac_sha256": "ab"}, "password", sensitive=True), key="k"), 10),
        (replace(mutation(key="k"), effects=()), 10),
        (mutation(key="k"), 256 * 1024 + 1),
    ],
    ids=["sensitive", "not understood", "large"],
)
async def test_a_reply_that_may_hold_a_secret_or_is_large_is_not_kept(
    ledger: SqlLedger, change: Mutation, size: int
) -> None:
    await execute(ledger, change, replace(APPLIED, reply=replace(APPLIED.reply, body=b"s" * size)))
    attempt = await ledger.attempt("agent", "k")
    assert attempt is not None
    assert isinstance(attempt.outcome, InDoubt)
    assert "was applied" in attempt.outcome.reason


async def test_only_one_of_many_uses_the_approval(ledger: SqlLedger) -> None:
    approval = await _approved(ledger)
    tries = [mutation(effect(6, f"a{number}"), call="x") for number in range(100)]
    ends = await asyncio.gather(
        *(
            ledger.record_decision(each, facts(each), nouns.decision(Verdict.HOLD, approval=approval.id))
            for each in tries
        ),
        return_exceptions=True,
    )
    assert [type(end) for end in ends if isinstance(end, BaseException)] == [ApprovalSpent] * 99


async def _approved(ledger: SqlLedger) -> Approval:
    change = mutation(effect(6, "a0"), call="x")
    await ledger.record_decision(change, facts(change), nouns.decision(Verdict.HOLD))
    return await ledger.approve(change.id, approver=HUMAN, at=NOW, lasts=timedelta(hours=1))


@pytest.mark.parametrize("changed", ["actor", "call", "late"])
async def test_an_approval_is_for_one_actor_one_call_and_its_time(ledger: SqlLedger, changed: str) -> None:
    approval = await _approved(ledger)
    change = mutation(
        effect(6, "a0"), call="y" if changed == "call" else "x", actor="b" if changed == "actor" else "agent"
    )
    now = NOW + timedelta(hours=1 if changed == "late" else 0)
    with pytest.raises(ApprovalSpent):
        await ledger.record_decision(change, facts(change, now=now), nouns.decision(Verdict.HOLD, approval=approval.id))


async def test_flips_are_counted_within_the_given_window(ledger: SqlLedger) -> None:
    held: Sequence[Claim] = ()
    for hour, actor in enumerate(["a", "b", "a", "a", "b"]):
        change = mutation(effect(10 + hour), actor=actor)
        held = await execute(ledger, change, now=NOW + timedelta(hours=hour), supersedes=tuple(one.id for one in held))
    for hours, window, flips in (
        (4, DAY, 3),
        (25, DAY, 1),
        (40, DAY, 0),
        (40, 2 * DAY, 3),
        (4, HOUR, 0),
        (4, 4 * HOUR, 2),
    ):
        now = NOW + timedelta(hours=hours)
        view = await ledger.view(
            addresses=[GROUP],
            actor="a",
            call_digest="",
            now=now,
            flip_window=window,
            changing=[(GROUP, "desired_capacity")],
        )
        assert view.flips.get(f"{GROUP}.desired_capacity", 0) == flips


async def test_flips_are_counted_for_each_attribute_of_each_resource(ledger: SqlLedger) -> None:
    held: Sequence[Claim] = ()
    for hour, actor in enumerate(["a", "b", "a"]):
        names = [("capacity", "aws_x.one"), ("size", "aws_x.one"), ("capacity", "aws_x.two")][: 3 - hour]
        change = mutation(*(effect(hour, name, address=address) for name, address in names), actor=actor)
        held = await execute(
            ledger,
            change,
            now=NOW + timedelta(hours=hour),
            supersedes=tuple(one.id for one in held if (one.attribute, one.address) in names),
        )
    for actor, held_before in (
        ("a", {"aws_x.one.capacity", "aws_x.one.size"}),
        ("b", {"aws_x.one.capacity", "aws_x.one.size"}),
        ("c", set()),
    ):
        view = await ledger.view(
            addresses=["aws_x.none", "aws_x.one", "aws_x.two"],
            actor=actor,
            call_digest="",
            now=NOW + timedelta(hours=3),
            flip_window=DAY,
            changing=list(product(("aws_x.none", "aws_x.one", "aws_x.two"), ("capacity", "size", "other"))),
        )
        assert dict(view.flips) == {"aws_x.one.capacity": 2, "aws_x.one.size": 1}
        assert view.held_before == held_before


async def test_who_sets_the_whole_changes_hands_with_who_sets_a_part(ledger: SqlLedger) -> None:
    held: Sequence[Claim] = ()
    taken: list[tuple[str, str, Json]] = [
        ("a", "tags", {"x": "1"}),
        ("b", "tags.x", "2"),
        ("a", "tags", {"x": "3"}),
        ("b", "tags.x", "4"),
    ]
    for hour, (actor, attribute, value) in enumerate(taken):
        change = mutation(effect(value, attribute), actor=actor)
        held = await execute(ledger, change, now=NOW + timedelta(hours=hour), supersedes=tuple(one.id for one in held))
    view = await ledger.view(
        addresses=[GROUP],
        actor="a",
        call_digest="",
        now=NOW + timedelta(hours=5),
        flip_window=DAY,
        changing=[(GROUP, name) for name in ("tags", "tags.x", "tags.y", "*", "size")],
    )
    assert dict(view.flips) == {f"{GROUP}.tags": 3, f"{GROUP}.tags.x": 3, f"{GROUP}.*": 3}
    assert view.held_before == view.flips.keys()


async def test_flips_are_counted_among_the_latest_claims(ledger: SqlLedger) -> None:
    held: Sequence[Claim] = ()
    seen = []
    for number in range(FLIP_CLAIMS + 2):
        change = mutation(effect(100 + number), actor="b" if number == 1 else "a")
        now = NOW + timedelta(seconds=number)
        held = await execute(ledger, change, now=now, supersedes=tuple(one.id for one in held))
        if number >= FLIP_CLAIMS - 1:
            view = await ledger.view(
                addresses=[GROUP],
                actor="a",
                call_digest="",
                now=now,
                flip_window=DAY,
                changing=[(GROUP, "desired_capacity")],
            )
            seen.append(view.flips.get(f"{GROUP}.desired_capacity", 0))
    assert seen == [2, 1, 0]


async def test_a_deletion_removes_values_and_later_values_come_after_earlier_ones(ledger: SqlLedger) -> None:
    await execute(ledger, mutation(effect("a", "tags.owner")))
    await execute(ledger, mutation(effect({}, "tags")))
    await execute(ledger, mutation(effect("c", "tags.team")))
    view = await ledger.view(addresses=[GROUP], actor="", call_digest="", now=NOW, flip_window=DAY)
    assert list(view.values) == [(GROUP, "tags.owner"), (GROUP, "tags"), (GROUP, "tags.team")]
    deletion = mutation(effect(None, "*", action=EffectAction.DELETE))
    await ledger.record_decision(deletion, facts(deletion, seen=view.claims), nouns.decision())
    await ledger.record_outcome(deletion, APPLIED, NOW)
    assert (await ledger.view(addresses=[GROUP], actor="", call_digest="", now=NOW, flip_window=DAY)).values == {}


async def test_recovery_marks_what_was_in_flight_as_in_doubt(store_url: str) -> None:
    change = mutation(key="k")
    async with open_ledger(store_url, KEYS) as ledger:
        [claim] = await ledger.record_decision(change, facts(change), nouns.decision())
    async with open_ledger(store_url, KEYS) as ledger:
        assert await ledger.recover(NOW) == 1
        assert await ledger.recover(NOW) == 0
        attempt = await ledger.attempt("agent", "k")
        assert attempt is not None
        assert attempt.outcome == InDoubt(reason=STOPPED)
        assert await held_claims(ledger) == (claim,)
        assert await ledger.verify() == 2


async def test_a_lease_keeps_others_away_and_a_doubt_is_left_to_a_human_and_settled_once(store_url: str) -> None:
    change = mutation()
    async with open_ledger(store_url, KEYS) as one, open_ledger(store_url, KEYS) as two:
        await one.renew_lease(NOW, timedelta(seconds=15))
        await two.renew_lease(NOW, timedelta(hours=1))
        await one.record_decision(change, facts(change), nouns.decision())
        assert await two.recover(NOW) == 0
        await one.renew_lease(NOW, timedelta(seconds=30))
        assert await two.recover(NOW + timedelta(seconds=29)) == 0
        assert await two.recover(NOW + timedelta(seconds=30)) == 1
        assert [doubt.mutation_id for doubt in await two.in_doubt()] == [change.id]
        assert await two.leave_to_human(change.id, "Nothing shows it.", NOW)
        assert not await two.leave_to_human(change.id, "Nothing shows it.", NOW)
        truth = Resolution(carried_out=False, by=SettledBy.READ_BACK, reason="It is as before.")
        await two.resolve(change.id, truth, NOW)
        with pytest.raises(NotAllowed):
            await one.record_outcome(change, APPLIED, NOW)
        assert await two.in_doubt() == ()
        assert await held_claims(two) == ()
        await two.end_lease()
        assert await two.verify() == 4


@pytest.mark.slow
@pytest.mark.parametrize(("wishes", "attributes"), [(1_000, 50), pytest.param(10_000, 500, marks=pytest.mark.long)])
async def test_many_claims_on_few_attributes_have_one_winner_each(
    store_url: str, wishes: int, attributes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Two writers take turns at SQLite's lock without any order: on a busy machine one may wait longer than a caller would.
    monkeypatch.setattr(database, "BUSY_MS", 300_000)
    async with open_ledger(store_url, KEYS) as one, open_ledger(store_url, KEYS) as two:

        async def contend(number: int) -> bool:
            change = mutation(effect(f"v{number}", address=f"aws_sqs_queue.q{number % attributes}"), actor=f"a{number}")
            try:
                return len(await (one, two)[number % 2].record_decision(change, facts(change), nouns.decision())) == 1
            except ClaimTaken:
                return False

        won = await asyncio.gather(*(contend(number) for number in range(wishes)))
        assert sum(won) == attributes
        assert {number % attributes for number, mine in enumerate(won) if mine} == set(range(attributes))
        assert await one.verify() == attributes


async def test_a_value_that_aws_chose_itself_is_unknown(ledger: SqlLedger) -> None:
    await execute(ledger, mutation(effect()))
    before = (await ledger.view(addresses=[GROUP], actor="", call_digest="", now=NOW, flip_window=DAY)).values
    moved = mutation(effect(None, action=EffectAction.INVOKE))
    assert await execute(ledger, moved) == ()
    after = (await ledger.view(addresses=[GROUP], actor="", call_digest="", now=NOW, flip_window=DAY)).values
    assert (before, after) == ({(GROUP, "desired_capacity"): 6}, {})


@pytest.mark.parametrize("sensitive", [True, False])
async def test_a_message_of_aws_is_kept_only_where_it_cannot_repeat_a_secret(
    ledger: SqlLedger, sensitive: bool
) -> None:
    change = mutation(effect({"hmac_sha256": "ab"}, "password", sensitive=sensitive))
    reply = Reply(status=400, headers=(), body=b"")
    await execute(ledger, change, Failed(code="ValidationError", message="'hunter2' is too short", reply=reply))
    settled = (await ledger.records(RecordQuery()))[0]
    assert ("hunter2" in str(settled.body.members["message"])) is not sensitive
