"""The backlog reads from the ledger which mutations wait to be written back."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.json import Json
from gateway.core.model.mutation import Call, Effect, EffectAction
from gateway.core.model.outcome import Failed
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Record, Stage
from gateway.ledger.ledger import SqlLedger
from reconciler.changes.backlog import MOST_OF_SESSION, Backlog
from reconciler.model import Wanted
from reconciler.terraform.plan import ResourceChange
from tests.kit import nouns
from tests.kit.bodies import sample_body, sample_record, unreadable, written_back
from tests.kit.mutations import APPLIED, record_mutation
from tests.kit.nouns import effect

Apply = Callable[..., Awaitable[str]]
Take = Callable[..., Awaitable[Any]]
QUEUE = "aws_sqs_queue.{}"


@pytest.fixture
def take(ledger: SqlLedger) -> Take:
    """Records a mutation with these effects over whatever claim stands; its id if it is settled, else the mutation."""

    async def record(*effects: Effect, outcome: Any = APPLIED) -> Any:
        for claim in await ledger.claims():
            holder = Caller(actor=claim.actor, kind=ActorKind.AGENT, key_id="SNTL0")
            await ledger.release(claim.mutation_id, caller=holder, at=datetime.now(UTC))
        mutation = await record_mutation(ledger, [(each, 0) for each in effects], outcome=outcome)
        return mutation if outcome is None else mutation.id

    return record


async def _backlog(ledger: SqlLedger) -> Backlog:
    backlog = Backlog(stack="shop")
    await backlog.read(ledger)
    return backlog


def _ids(backlog: Backlog) -> list[str]:
    return [applied.id for applied in backlog.pending()]


async def test_applied_and_not_reconciled_is_pending_in_the_order_of_the_ledger(
    ledger: SqlLedger, applied: Apply
) -> None:
    first, second = [await applied((QUEUE.format(name), "delay_seconds", 0, 1)) for name in "ab"]
    open_one = await applied((QUEUE.format("c"), "delay_seconds", 0, 1), settle=False)
    backlog = await _backlog(ledger)
    assert _ids(backlog) == [first, second]
    assert open_one in backlog.decided
    assert backlog.decided[first].settled_at >= backlog.decided[first].at

    await ledger.record_reconciliation(first, at=datetime.now(UTC), body=written_back({"commit": "c0ffee"}))
    await backlog.read(ledger)
    assert _ids(backlog) == [second]
    assert first not in backlog.decided


async def test_what_was_left_is_not_pending_and_still_explains_a_difference(ledger: SqlLedger, applied: Apply) -> None:
    mutation = await applied((QUEUE.format("a"), "tags.owner", "x", "y"))
    await ledger.record_reconciliation(mutation, at=datetime.now(UTC), body=written_back({"left": [{"reason": "no"}]}))
    other = await applied((QUEUE.format("b"), "delay_seconds", 0, 1))
    backlog = await _backlog(ledger)
    assert _ids(backlog) == [other]
    without = {other}
    assert mutation in backlog.explain(ResourceChange(address=QUEUE.format("a"), attribute="tags.owner"), without)
    assert mutation in backlog.explain(ResourceChange(address=QUEUE.format("a"), attribute="*"), without)
    assert not backlog.explain(ResourceChange(address=QUEUE.format("a"), attribute="name"), without)
    assert not backlog.explain(ResourceChange(address=QUEUE.format("b"), attribute="delay_seconds"), without)


async def test_other_stacks_are_ignored(ledger: SqlLedger, applied: Apply) -> None:
    await applied((QUEUE.format("a"), "delay_seconds", 0, 1))
    backlog = Backlog(stack="other")
    await backlog.read(ledger)
    assert not backlog.decided


async def test_the_later_of_two_supersedes_whether_it_is_written_yet_or_not(
    ledger: SqlLedger, applied: Apply, take: Take
) -> None:
    first = await applied((QUEUE.format("a"), "delay_seconds", 0, 1))
    second = await take(effect(QUEUE.format("a"), "delay_seconds", 2))
    backlog = await _backlog(ledger)
    assert backlog.superseded(backlog.decided[first]) == {(QUEUE.format("a"), "delay_seconds"): second}
    assert backlog.superseded(backlog.decided[second]) == {}

    before = backlog.decided[first]
    await ledger.record_reconciliation(second, at=datetime.now(UTC), body=written_back({"commit": "c0ffee"}))
    await backlog.read(ledger)
    assert backlog.superseded(before) == {(QUEUE.format("a"), "delay_seconds"): second}


async def test_who_changed_a_value_since_is_named(ledger: SqlLedger, applied: Apply, take: Take) -> None:
    first = await applied((QUEUE.format("a"), "delay_seconds", 0, 1))
    want = Wanted(address=QUEUE.format("a"), attribute="delay_seconds", value=1)
    backlog = await _backlog(ledger)
    mutation = backlog.decided[first]
    assert backlog.changed_since(want, mutation) == ""
    assert backlog.others(mutation) == []

    flying = await take(effect(QUEUE.format("a"), "delay_seconds", 2), outcome=None)
    await backlog.read(ledger)
    assert (
        backlog.changed_since(want, mutation)
        == f"{flying.id} asked for another value, and its outcome is not known yet"
    )
    assert backlog.others(mutation) == [flying.id]
    assert backlog.superseded(mutation) == {}

    await ledger.record_outcome(flying, APPLIED, datetime.now(UTC))
    await backlog.read(ledger)
    assert backlog.changed_since(want, mutation) == f"{flying.id} set it since"
    assert backlog.superseded(mutation) == {want.key: flying.id}

    implied = await take(effect(QUEUE.format("a"), "delay_seconds", 3, implied=True))
    await backlog.read(ledger)
    assert backlog.changed_since(want, mutation) == f"{implied} changed it, as a consequence of its call, since"
    assert backlog.superseded(mutation) == {want.key: flying.id}


async def test_one_that_failed_changed_nothing(ledger: SqlLedger, applied: Apply, take: Take) -> None:
    first = await applied((QUEUE.format("a"), "delay_seconds", 0, 1))
    failed = Failed(code="No", message="no", reply=APPLIED.reply, request_id="r")
    await take(effect(QUEUE.format("a"), "delay_seconds", 2), outcome=failed)
    backlog = await _backlog(ledger)
    assert not backlog.in_flight
    assert backlog.others(backlog.decided[first]) == []


@pytest.mark.parametrize(
    "made",
    [
        (effect(QUEUE.format("a"), "*", None, action=EffectAction.INVOKE),),
        (effect(QUEUE.format("a"), "delay_seconds", None, action=EffectAction.INVOKE),),
        (effect(QUEUE.format("a"), "delay_seconds", 5, implied=True),),
    ],
)
async def test_what_sets_no_attribute_never_waits(ledger: SqlLedger, take: Take, made: tuple[Effect, ...]) -> None:
    await take(*made)
    backlog = await _backlog(ledger)
    assert not backlog.pending()
    assert not backlog.decided


async def test_traffic_of_the_data_plane_leaves_no_trace(ledger: SqlLedger, applied: Apply) -> None:
    """Neither a call that only does something nor one of the class `data`, whatever its effects."""
    await applied((QUEUE.format("a"), "delay_seconds", 0, 1))
    (settled, decided) = await ledger.records(RecordQuery())
    backlog = Backlog(stack="shop")
    for number in range(400):
        body: Any = decided.body.members
        if number % 2:
            body["call"] = {**body["call"], "class": "data"}
        else:
            body["effects"] = [{**body["effects"][0], "action": "invoke", "attribute": "*"}]
        backlog._add(replace(decided, mutation_id=f"mut_{number}", body=sample_body(Stage.DECIDED, body)))
        backlog._add(replace(settled, mutation_id=f"mut_{number}"))
    assert backlog == Backlog(stack="shop")


async def test_what_was_left_stays_and_what_was_written_goes(ledger: SqlLedger, applied: Apply) -> None:
    mutation = await applied((QUEUE.format("a"), "delay_seconds", 0, 1), (QUEUE.format("a"), "tags.owner", "x", "y"))
    left = [{"address": QUEUE.format("a"), "attribute": "tags.owner", "reason": "no"}]
    await ledger.record_reconciliation(
        mutation, at=datetime.now(UTC), body=written_back({"commit": "c0", "left": left})
    )
    backlog = await _backlog(ledger)
    (record,) = await ledger.records(RecordQuery(stage=Stage.RECONCILED))

    (over,) = backlog.left_over()

    assert [effect.attribute for effect in over.effects] == ["tags.owner"]
    assert (over.corrects, backlog.pending()) == (record.seq, ())
    assert backlog.committed == {mutation: "c0"}

    await ledger.record_reconciliation(
        mutation, at=datetime.now(UTC), body=written_back({"merged": True, "commit": "c0"})
    )
    await backlog.read(ledger)
    assert not backlog.committed
    assert list(backlog.left_over()) == [over]

    body: dict[str, Json] = {"commit": "c1", "corrects": record.seq}
    await ledger.record_reconciliation(mutation, at=datetime.now(UTC), body=written_back(body))
    await backlog.read(ledger)
    assert backlog.committed == {f"{mutation}@{record.seq}": "c1"}
    assert not list(backlog.left_over())
    assert not backlog.decided


async def test_a_record_that_cannot_be_read_does_not_stop_the_others(ledger: SqlLedger, applied: Apply) -> None:
    good = await applied((QUEUE.format("a"), "delay_seconds", 0, 1))
    (record,) = await ledger.records(RecordQuery(stage=Stage.DECIDED))
    backlog = Backlog(stack="shop")
    bodies: list[dict[str, Any]] = [
        {"decision": {"carried_out": True}},
        {"decision": 5},
        {"decision": {"carried_out": True}, "call": 3},
    ]
    for members in bodies:
        body = unreadable(Stage.DECIDED, members)
        backlog._add(Record(at=record.at, mutation_id="mut_bad", stack="shop", body=body, seq=9))
    await backlog.read(ledger)
    assert _ids(backlog) == [good]


async def test_who_approved_is_known(ledger: SqlLedger) -> None:
    backlog = Backlog(stack="shop")
    body = {"approval": "apr_1"}
    backlog._add(sample_record(stage=Stage.APPROVED, at=datetime.now(UTC), mutation_id="mut_0", actor="ada", body=body))
    assert backlog.approvers == {"apr_1": "ada"}


async def test_deletions_and_creations_are_known_until_they_are_merged(
    ledger: SqlLedger, carried_out: Callable[..., Awaitable[str]]
) -> None:
    def effect(address: str, action: EffectAction, *, declared: bool) -> Effect:
        return nouns.effect(address, "*", action=action, declared=declared)

    call = Call(service="ec2", operation="X")
    gone = await carried_out(effect("aws_instance.a", EffectAction.DELETE, declared=True), call=call)
    made = await carried_out(effect("aws_instance{}", EffectAction.CREATE, declared=False), call=call, made="i-2")
    backlog = Backlog(stack="shop")
    await backlog.read(ledger)
    assert backlog.deletions == {"aws_instance.a": gone}
    assert {each.id: each.made for each in backlog.creations.values()} == {made: "i-2"}
    for mutation in (gone, made):
        await ledger.record_reconciliation(
            mutation, at=datetime.now(UTC), body=written_back({"merged": True, "commit": "c"})
        )
    await backlog.read(ledger)
    assert (backlog.deletions, backlog.creations) == ({}, {})


NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
CREATE = effect("aws_sns_topic{pager}", "*", action=EffectAction.CREATE, declared=False, identity={"name": "pager"})
CREATE_TOPIC = Call(service="sns", operation="CreateTopic", region="eu-west-1", parameters={"Name": "pager"})


async def test_what_one_key_did_within_an_hour_may_be_one_change_also_what_was_left(ledger: SqlLedger) -> None:
    async def record(name: str, minutes: int = 0, **members: Any) -> str:
        given: dict[str, Any] = {"caller": nouns.caller("ada"), "at": NOW + timedelta(minutes=minutes)}
        mutation = await record_mutation(
            ledger, [(effect(QUEUE.format(name), "delay_seconds", 1), 0)], **given | members
        )
        return mutation.id

    left = await record("a")
    await ledger.record_reconciliation(left, at=NOW, body=written_back({"left": [{"reason": "no"}]}))
    middle, near = await record("b", 30), await record("c", 59)
    await record("d", 120)
    await record("e", caller=nouns.caller("bob"))
    await record("f", caller=nouns.caller("ada", key_id="SNTLOTHER"))
    await record("g", outcome=None)
    backlog = await _backlog(ledger)
    mates = backlog.of_session(backlog.decided[middle])
    assert [(each.id, each.corrects > 0) for each in mates] == [(left, True), (near, False)]
    assert [each.id for each in backlog.of_session(backlog.decided[near])] == [left, middle]
    for number in range(MOST_OF_SESSION):
        await record(f"n{number}", 31)
    await backlog.read(ledger)
    assert left not in {each.id for each in backlog.of_session(backlog.decided[middle])}
    assert len(backlog.of_session(backlog.decided[middle])) == MOST_OF_SESSION


async def test_a_session_that_created_something_rests_once_it_is_quiet_and_no_call_is_under_way(
    ledger: SqlLedger,
) -> None:
    quiet, ada = timedelta(seconds=5), nouns.caller("ada")
    value = (effect(QUEUE.format("a"), "delay_seconds", 1), 0)
    first = (await record_mutation(ledger, [value], at=NOW, caller=ada)).id
    backlog = await _backlog(ledger)
    assert backlog.rests(backlog.decided[first], NOW, quiet), "nothing was created"
    created = (await record_mutation(ledger, [(CREATE, None)], call=CREATE_TOPIC, at=NOW, caller=ada)).id
    await backlog.read(ledger)
    for mutation in (first, created):
        seconds = [
            at for at in range(9) if backlog.rests(backlog.decided[mutation], NOW + timedelta(seconds=at), quiet)
        ]
        assert seconds == [5, 6, 7, 8]
    other = (effect(QUEUE.format("b"), "delay_seconds", 1), 0)
    await record_mutation(ledger, [other], at=NOW + timedelta(seconds=4), caller=ada, outcome=None)
    await backlog.read(ledger)
    later = [
        at for at in range(0, 90, 10) if backlog.rests(backlog.decided[created], NOW + timedelta(seconds=at), quiet)
    ]
    assert later == [70, 80], "a call in doubt is not waited for without end"
