"""What the ledger says was created is told as events tell it: nothing is passed over because no row explains its call."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import pytest

from gateway.core.model.caller import ActorKind
from gateway.core.model.json import Json
from gateway.core.model.mutation import Call, CallClass, EffectAction
from gateway.ledger.ledger import SqlLedger
from reconciler.changes.backlog import Backlog
from reconciler.changes.classification import classify_mutation
from reconciler.changes.creating_events import Place, creations_in, told
from tests.kit import nouns
from tests.kit.bodies import written_back
from tests.kit.mutations import APPLIED, record_mutation

Apply = Callable[..., Awaitable[str]]
REGISTER = Call(
    service="elbv2", operation="RegisterTargets", region="eu-west-1", account="123456789012",
    parameters={"TargetGroupArn": "arn:tg", "Targets": [{"Id": "i-1"}, {"Id": "i-2"}]},
)  # fmt: skip


async def _backlog(ledger: SqlLedger) -> Backlog:
    backlog = Backlog(stack="shop")
    await backlog.read(ledger)
    return backlog


async def test_a_call_without_effects_that_may_create_something_waits_to_be_looked_at(
    ledger: SqlLedger, carried_out: Apply
) -> None:
    mutation = await carried_out(call=REGISTER, made="made-1")
    (applied,) = (await _backlog(ledger)).pending()
    assert (applied.id, applied.concerns_code) == (mutation, True)
    assert applied.call is not None
    assert applied.call.origin.actor == "agent-builder"
    assert applied.call.origin.event == "elasticloadbalancing:RegisterTargets"
    one, two = creations_in(applied.call)
    assert {"i-1", "arn:tg", "made-1"} <= one.values.texts
    assert {"i-2", "arn:tg", "made-1"} <= two.values.texts
    assert classify_mutation(applied, superseded={}).concerns_code


async def test_the_keys_of_tags_are_told_as_they_are(ledger: SqlLedger, carried_out: Apply) -> None:
    parameters: dict[str, Json] = {"QueueName": "jobs", "Tags": {"ManagedBy": "platform"}}
    await carried_out(call=Call(service="sqs", operation="CreateQueue", parameters=parameters), made="made-1")
    (applied,) = (await _backlog(ledger)).pending()
    assert applied.call is not None
    assert applied.call.call["requestParameters"] == {"queueName": "jobs", "tags": {"ManagedBy": "platform"}}


@pytest.mark.parametrize(
    "call",
    [
        Call(service="ecs", operation="UpdateService"),
        Call(service="sqs", operation="DeleteQueue"),
        Call(service="sns", operation="Publish"),
    ],
)
async def test_a_call_that_creates_nothing_is_no_creation(ledger: SqlLedger, carried_out: Apply, call: Call) -> None:
    await carried_out(call=call)
    (applied,) = (await _backlog(ledger)).pending()
    assert (applied.call, applied.unread is not None) == (None, True), "what it did instead is read back"


async def test_traffic_and_what_terraform_does_itself_are_no_creations(ledger: SqlLedger) -> None:
    create = Call(service="sns", operation="CreateTopic", parameters={"Name": "t"})
    whole = nouns.effect("aws_sns_topic{name=t}", "*", None, action=EffectAction.CREATE, declared=False)
    terraform = nouns.caller("terraform", ActorKind.PIPELINE)
    for mutation in (
        nouns.mutation(call=create, caller=terraform),
        nouns.mutation(call=create, call_class=CallClass.DATA),
    ):
        await ledger.record_decision(mutation, nouns.facts(stack="shop"), nouns.decision())
        await ledger.record_outcome(mutation, APPLIED, datetime.now(UTC))
    (by_terraform,) = (await _backlog(ledger)).pending()
    assert by_terraform.call is None
    mutation = await record_mutation(ledger, [(whole, None)], call=create)
    applied = (await _backlog(ledger)).decided[mutation.id]
    assert applied.call is not None, "an effect that no block declares is looked at too"


@pytest.mark.parametrize("waits", [True, False])
async def test_what_was_left_waits_and_what_was_written_does_not(
    ledger: SqlLedger, carried_out: Apply, *, waits: bool
) -> None:
    left: list[Json] = [{"address": "aws_x{a}", "attribute": "*", "value": None, "reason": "No.", "chain": []}]
    mutation = await carried_out(call=REGISTER)
    body = written_back({"left": left} if waits else {"nothing_to_do": "It is declared."})
    await ledger.record_reconciliation(mutation, at=datetime.now(UTC), body=body)
    assert [each.id for each in (await _backlog(ledger)).left_over()] == [mutation] * waits


async def test_it_is_told_as_an_event_of_its_account_is(ledger: SqlLedger, carried_out: Apply) -> None:
    await carried_out(call=REGISTER)
    (applied,) = (await _backlog(ledger)).pending()
    assert applied.call is not None
    assert len(told([applied.call], Place(accounts=frozenset({"123456789012"}))).creations) == 2
    assert told([applied.call], Place(accounts=frozenset({"999999999999"}))).creations == ()
