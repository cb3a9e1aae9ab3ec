"""Figures of the ledger, one JSON object a line: what it adds to a mutation, appends under load, verification, audit questions.

Run `python -m tests.bench.ledger [URL]`; without a URL it uses SQLite in a temporary directory. `--records N` sets the size
of the chain that is verified and queried (default 100,000).
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.contract import Contract
from gateway.core.model.facts import Facts, Subject
from gateway.core.model.ids import new_id
from gateway.core.model.json import Json
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.model.mutation import Call, CallClass, Effect, EffectAction, Mutation
from gateway.core.model.outcome import Applied, Reply
from gateway.core.model.verdict import Decision, Finding, Mode, Verdict
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Record, Stage
from gateway.ledger.ledger import SqlLedger, open_ledger
from gateway.ledger.store.transaction import Transaction
from tests.bench.bare import BareCommits
from tests.bench.figure import quantile, show
from tests.kit.bodies import sample_body
from tests.kit.stores import KEYS

CALLERS = 16


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url", nargs="?", default="")
    parser.add_argument("--records", type=int, default=100_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        url = arguments.url or f"sqlite:///{Path(directory) / 'ledger.db'}"
        asyncio.run(_measure(url, Path(directory) / "checkpoint", arguments.records))


async def _measure(url: str, checkpoint: Path, records: int) -> None:
    async with open_ledger(url, KEYS, checkpoint) as ledger:
        await _line(ledger)
        await _load(ledger)
        await _verify(ledger, "ledger.verify_mutations")
        await _grow(ledger, records)
        count = await _verify(ledger, "ledger.verify")
        await _questions(ledger, count)
        await _line(ledger, suffix=f"_at_{count}")


async def _verify(ledger: SqlLedger, name: str) -> int:
    """Verify the chain, and what follows from it: each mutation has an attempt, a claim and a value. The number of records."""
    started = time.perf_counter()
    count = await ledger.verify()
    show(name, count / (time.perf_counter() - started), "records/s", n=count)
    return count


async def _line(ledger: SqlLedger, *, rounds: int = 500, suffix: str = "") -> None:
    """What one mutation alone waits for."""
    for _ in range(50):
        await one_mutation(ledger)
    times, bare = [], []
    with tempfile.TemporaryDirectory() as directory, BareCommits(Path(directory)) as commits:
        for _ in range(rounds):
            times.append(await _timed(lambda: one_mutation(ledger)) * 1e3)
            bare.append(commits.two())
    show(f"ledger.mutation{suffix}.p50", quantile(times, 0.5), "ms", floor=quantile(bare, 0.5), n=rounds)
    show(f"ledger.mutation{suffix}.p99", quantile(times, 0.99), "ms", floor=quantile(bare, 0.99), n=rounds)


async def _load(ledger: SqlLedger, *, each: int = 100) -> None:
    async def caller() -> None:
        for _ in range(each):
            await one_mutation(ledger)

    spent = await _timed(lambda: asyncio.gather(*(caller() for _ in range(CALLERS))))
    show("ledger.mutations_16_callers", CALLERS * each / spent, "mutations/s", n=CALLERS * each)


async def _grow(ledger: SqlLedger, records: int) -> None:
    call: Json = {
        "service": "autoscaling",
        "operation": "SetDesiredCapacity",
        "parameters": {"padding": "x" * 1_000},
    }
    body = sample_body(Stage.DECIDED, {"call": call})
    now = datetime.now(UTC)

    def work(transaction: Transaction, start: int) -> None:
        for number in range(start, start + 1_000):
            record = Record(at=now, mutation_id=f"mut_{number}", actor=f"actor-{number % 97}", body=body)
            transaction.append(record, resources=[(f"aws_sqs_queue.q{number % 1_009}", "tags")])

    for start in range(0, records, 1_000):
        await ledger.write(lambda transaction, start=start: work(transaction, start))  # type: ignore[misc]  # bound early


async def _questions(ledger: SqlLedger, count: int) -> None:
    questions = {
        "actor": RecordQuery(actor="actor-13"),
        "resource": RecordQuery(resource="aws_sqs_queue.q77"),
        "stage": RecordQuery(stage=Stage.SETTLED),
        "wide_prefix": RecordQuery(resource="aws_"),
        "mutation": RecordQuery(mutation_id=f"mut_{count // 2}"),
        "nothing": RecordQuery(actor="nobody"),
    }
    for name, question in questions.items():
        times = [await _timed(lambda question=question: ledger.records(question)) for _ in range(9)]  # type: ignore[misc]  # bound early
        show(f"ledger.question.{name}.p50", quantile(times, 0.5) * 1e3, "ms", n=count)


async def _timed(act: Callable[[], Awaitable[object]]) -> float:
    started = time.perf_counter()
    await act()
    return time.perf_counter() - started


async def one_mutation(ledger: SqlLedger) -> None:
    """View, decide, settle."""
    mutation = _mutation()
    address = mutation.effects[0].address
    now = datetime.now(UTC)
    await ledger.view(
        addresses=[address, "aws_lb.front"],
        actor=mutation.caller.actor,
        call_digest=mutation.call.digest,
        now=now,
        flip_window=timedelta(days=1),
    )
    subject = Subject(
        effect=mutation.effects[0],
        before=4,
        declared=4,
        attributes_before={},
        attributes_after={},
        contract=Contract(),
    )
    facts = Facts(now=now, stack="kafka", mode=Mode.ENFORCE, subjects=(subject,))
    await ledger.record_decision(mutation, facts, _ALLOWED)
    reply = Reply(status=200, headers=(("content-type", "text/xml"),), body=b"<ok/>" * 40)
    await ledger.record_outcome(mutation, Applied(reply=reply, request_id="0f4e"), now)


_ALLOWED = Decision(
    findings=tuple(
        Finding(check=name, verdict=Verdict.ALLOW, rule=f"{name}.passed", reason="Nothing against it.")
        for name in ("classes", "bounds", "dependencies", "policy", "arbitration")
    ),
    bundle="b" * 64,
    code="c" * 64,
    obligations={"claim_seconds": 3_600},
)


def _mutation() -> Mutation:
    effect = Effect(
        address=f"aws_autoscaling_group.g{new_id('x')}",
        attribute="desired_capacity",
        action=EffectAction.SET,
        value=6,
        resource_type="aws_autoscaling_group",
        identity={"name": "kafka-consumer"},
    )
    return Mutation(
        id=new_id("mut"),
        caller=Caller(actor="agent-scaler", kind=ActorKind.AGENT, key_id="SNTLAAAABBBBCCCCDDDD"),
        call=Call(
            service="autoscaling",
            operation="SetDesiredCapacity",
            parameters={"AutoScalingGroupName": "kafka-consumer", "DesiredCapacity": 6},
            account="123456789012",
            region="us-east-1",
        ),
        call_class=CallClass.MUTATION,
        motive=Motive(intent=Intent.AVAILABILITY, motivation=Motivation.INCIDENT, text="lag", evidence=("INC-7",)),
        effects=(effect,),
        idempotency_key=new_id("key"),
    )


if __name__ == "__main__":
    main()
