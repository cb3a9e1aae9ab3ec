"""How long a policy decision takes: `python -m tests.bench.policy [rounds]`. Prints one JSON object per figure.

`name, value, unit, floor, ratio, n`: the floor is what the same document costs without any policy (JSON out and in again),
ratio is value over floor. The document is made from real nouns by `gateway.line.checks.policy_input`, about 5 KB with eight claims.
"""

import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.claim import Claim, Relation, StandingClaim
from gateway.core.model.contract import Contract
from gateway.core.model.facts import Dependant, Facts, Subject
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.model.mutation import Call, CallClass, Effect, EffectAction, Mutation
from gateway.core.model.verdict import Mode
from gateway.core.settings import PolicySettings
from gateway.line.checks.arbitration import ENTRYPOINT as ARBITRATION
from gateway.line.checks.policy import ENTRYPOINT as GUARDRAILS
from gateway.line.checks.policy_input import policy_input
from gateway.policy.bundle import RunningEngine
from gateway.policy.engine import open_engine
from tests.bench.figure import quantile, show

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
GROUP = "aws_autoscaling_group.kafka_consumer"
INCIDENT = Motive(
    intent=Intent.AVAILABILITY,
    motivation=Motivation.INCIDENT,
    text="consumer lag is 40 minutes and rising",
    evidence=("ALERT-42",),
)
COST = Motive(intent=Intent.COST, motivation=Motivation.BUDGET, text="spend is over the plan", evidence=("T-7",))


def facts_of(claim_motive: Motive) -> tuple[Mutation, Facts]:
    """An agent sets a capacity in an incident: a dozen dependants, eight claims, one of them in the way."""
    effect = Effect(
        address=GROUP,
        attribute="desired_capacity",
        action=EffectAction.SET,
        value=6,
        resource_type="aws_autoscaling_group",
    )
    dependants = tuple(
        Dependant(address=f"aws_cloudwatch_metric_alarm.lag_{number}", direct=number < 3) for number in range(12)
    )
    subject = Subject(
        effect=effect, before=4, declared=4, attributes_before={}, attributes_after={}, dependants=dependants,
        contract=Contract(managed_by_agent=True, owner="team-streaming"),
    )  # fmt: skip
    claims = tuple(
        StandingClaim(
            claim=Claim(
                id=f"clm_01kb{number:022d}", mutation_id="mut_1", address=GROUP, value={"note": "x" * 90}, actor="agent-optimizer", kind=ActorKind.AGENT,
                attribute="desired_capacity" if number == 0 else f"tags.t{number}", motive=claim_motive, since=NOW, until=NOW + timedelta(hours=1),
            ),
            relation=Relation.SAME if number == 0 else Relation.RESOURCE,
        )
        for number in range(8)
    )  # fmt: skip
    mutation = Mutation(
        id="mut_01kb0000000000000000000000",
        caller=Caller(actor="agent-scaler", kind=ActorKind.AGENT, key_id="SNTL0000000000000000", roles=("scaler",)),
        call=Call(service="autoscaling", operation="SetDesiredCapacity"),
        call_class=CallClass.MUTATION,
        motive=INCIDENT,
        effects=(effect,),
    )
    flips = {f"{GROUP}.desired_capacity": 1}
    return mutation, Facts(now=NOW, stack="kafka", mode=Mode.ENFORCE, subjects=(subject,), claims=claims, flips=flips)


async def timed(rounds: int, work: Callable[[], Awaitable[object]]) -> list[float]:
    """Milliseconds of each round, sorted; the first tenth is warm-up and left out."""
    times = []
    for _ in range(rounds + rounds // 10):
        started = time.perf_counter()
        await work()
        times.append((time.perf_counter() - started) * 1000)
    return sorted(times[rounds // 10 :])


async def main(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        started = time.perf_counter()
        engine = await open_engine(PolicySettings(), Path(scratch))
        opened = (time.perf_counter() - started) * 1000
        try:
            await measure(engine, rounds, opened)
        finally:
            await engine.close()


async def measure(engine: RunningEngine, rounds: int, opened: float) -> None:
    allowed, denied = facts_of(COST), facts_of(INCIDENT)
    given, refused = policy_input(*allowed), policy_input(*denied)

    async def nothing() -> object:
        return json.loads(json.dumps(given, ensure_ascii=False))

    async def made() -> object:
        return policy_input(*allowed)

    async def whole() -> object:
        document = policy_input(*allowed)  # made once for both, as `PolicyInputs` does
        return await engine.ask(GUARDRAILS, document), await engine.ask(ARBITRATION, document)

    floor = statistics.median(await timed(rounds, nothing))
    show("policy.input", len(json.dumps(given)), "bytes", n=1)
    show("policy.open", opened, "ms", n=1)
    show("policy.document.p50", quantile(await timed(rounds, made), 0.5), "ms", floor=floor, n=rounds)
    for name, entrypoint in (("guardrails", GUARDRAILS), ("arbitration", ARBITRATION)):
        times = await timed(rounds, lambda entrypoint=entrypoint: engine.ask(entrypoint, given))  # type: ignore[misc]
        show(f"policy.{name}.p50", quantile(times, 0.5), "ms", floor=floor, n=rounds)
        show(f"policy.{name}.p99", quantile(times, 0.99), "ms", floor=floor, n=rounds)
    held = await timed(rounds, lambda: engine.ask(ARBITRATION, refused))
    show("policy.arbitration.held.p50", quantile(held, 0.5), "ms", floor=floor, n=rounds)
    show("policy.both.p50", quantile(await timed(rounds, whole), 0.5), "ms", floor=floor, n=rounds)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 3000))
