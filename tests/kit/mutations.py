"""Mutations recorded in a ledger without a gateway: decided, and settled or left in doubt."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from gateway.core.model.caller import Caller
from gateway.core.model.json import Json
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.model.mutation import Call, Effect, Mutation, PutBack
from gateway.core.model.outcome import Applied, Reply, Sent
from gateway.core.model.time_box import TimeBox
from gateway.core.model.verdict import Verdict
from gateway.ledger.ledger import SqlLedger
from tests.kit import nouns

APPLIED = Applied(reply=Reply(status=200, headers=(), body=b""), request_id="r1")


async def record_mutation(
    ledger: SqlLedger,
    effects: Sequence[tuple[Effect, Json]],
    *,
    outcome: Sent | None = APPLIED,
    stack: str = "shop",
    possible_stacks: tuple[str, ...] = (),
    at: datetime | None = None,
    caller: Caller | None = None,
    call: Call | None = None,
    idempotency_key: str = "",
    time_box: TimeBox | None = None,
    puts_back: PutBack | None = None,
    supersedes: tuple[str, ...] = (),
) -> Mutation:
    """Record a mutation with its effects, each with the value before; with an outcome, settle it."""
    mutation = nouns.mutation(
        *(each for each, _ in effects),
        caller=caller or nouns.caller("agent-scaler"),
        call=call or Call(service="autoscaling", operation="SetDesiredCapacity"),
        motive=Motive(intent=Intent.AVAILABILITY, motivation=Motivation.INCIDENT, text="lag grows"),
        idempotency_key=idempotency_key,
        puts_back=puts_back,
    )
    now = at or datetime.now(UTC)
    subjects = (nouns.subject(each, before, before) for each, before in effects)
    facts = nouns.facts(
        *subjects, now=now, stack=stack, possible_stacks=possible_stacks, time_box=time_box or TimeBox()
    )
    await ledger.record_decision(mutation, facts, nouns.decision(supersedes=supersedes))
    if outcome is not None:
        await ledger.record_outcome(mutation, outcome, now)
    return mutation


async def record_hold(
    ledger: SqlLedger, actor: str = "agent-scaler", *, call: str = "x", code: str = "t1", attached: str = ""
) -> Mutation:
    """Record a call that waits for a person. `code` tells circumstances apart, `attached` names the hold that it repeats."""
    mutation = nouns.mutation(
        nouns.effect("aws_sqs_queue.jobs", "delay_seconds", 9),
        caller=nouns.caller(actor),
        call=Call(service="sqs", operation="SetQueueAttributes", parameters={"QueueUrl": call}),
        motive=Motive(intent=Intent.AVAILABILITY, motivation=Motivation.INCIDENT, text="lag grows"),
    )
    facts = nouns.facts(*nouns.subjects(mutation.effects, 0), now=datetime.now(UTC))
    decision = nouns.decision(Verdict.HOLD, binding=replace(nouns.BOUND, code=code), attached=attached)
    await ledger.record_decision(mutation, facts, decision)
    return mutation
