"""Mutations recorded in a ledger without a gateway: decided, and settled or left in doubt."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.contract import Contract
from gateway.core.model.facts import Facts, Subject
from gateway.core.model.ids import new_id
from gateway.core.model.json import Json
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.model.mutation import Call, CallClass, Effect, EffectAction, Mutation
from gateway.core.model.outcome import Applied, Reply, Sent
from gateway.core.model.verdict import Decision, Finding, Mode, Verdict
from gateway.ledger.ledger import SqlLedger
from tests.kit.bindings import BOUND

APPLIED = Applied(reply=Reply(status=200, headers=(), body=b""), request_id="r1")
_ALLOWED = Decision(
    findings=(Finding(check="bounds", verdict=Verdict.ALLOW, rule="bounds.none", reason="It is allowed."),)
)


def effect(
    address: str, attribute: str, value: Json, *, action: EffectAction = EffectAction.SET, **more: Any
) -> Effect:
    """An effect on a declared resource."""
    resource_type = address.rpartition(".")[0].rpartition(".")[2]
    return Effect(address=address, attribute=attribute, action=action, value=value, resource_type=resource_type, **more)


async def record_mutation(
    ledger: SqlLedger,
    effects: Sequence[tuple[Effect, Json]],
    *,
    outcome: Sent | None = APPLIED,
    stack: str = "shop",
    at: datetime | None = None,
    call: Call | None = None,
    idempotency_key: str = "",
) -> Mutation:
    """Record a mutation with its effects, each with the value before; with an outcome, settle it."""
    mutation = Mutation(
        id=new_id("mut"),
        caller=Caller(actor="agent-scaler", kind=ActorKind.AGENT, key_id="SNTL0"),
        call=call or Call(service="autoscaling", operation="SetDesiredCapacity"),
        call_class=CallClass.MUTATION,
        motive=Motive(intent=Intent.AVAILABILITY, motivation=Motivation.INCIDENT, text="lag grows"),
        effects=tuple(made for made, _ in effects),
        idempotency_key=idempotency_key,
    )
    now = at or datetime.now(UTC)
    facts = Facts(now=now, stack=stack, mode=Mode.ENFORCE, subjects=tuple(_subject(*each) for each in effects))
    await ledger.record_decision(mutation, facts, _ALLOWED)
    if outcome is not None:
        await ledger.record_outcome(mutation, outcome, now)
    return mutation


async def record_hold(
    ledger: SqlLedger, actor: str = "agent-scaler", *, call: str = "x", code: str = "t1", attached: str = ""
) -> Mutation:
    """Record a call that waits for a person. `code` tells circumstances apart, `attached` names the hold that it repeats."""
    mutation = Mutation(
        id=new_id("mut"),
        caller=Caller(actor=actor, kind=ActorKind.AGENT, key_id="SNTL0"),
        call=Call(service="sqs", operation="SetQueueAttributes", parameters={"QueueUrl": call}),
        call_class=CallClass.MUTATION,
        motive=Motive(intent=Intent.AVAILABILITY, motivation=Motivation.INCIDENT, text="lag grows"),
        effects=(effect("aws_sqs_queue.jobs", "delay_seconds", 9),),
    )
    facts = Facts(now=datetime.now(UTC), stack="shop", mode=Mode.ENFORCE, subjects=(_subject(mutation.effects[0], 0),))
    finding = Finding(check="policy", verdict=Verdict.HOLD, rule="SEN-1", reason="A person must see it.")
    decision = Decision(findings=(finding,), binding=replace(BOUND, code=code), attached=attached)
    await ledger.record_decision(mutation, facts, decision)
    return mutation


def _subject(made: Effect, before: Json) -> Subject:
    return Subject(
        effect=made, before=before, declared=before, attributes_before={}, attributes_after={}, contract=Contract()
    )
