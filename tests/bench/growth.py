"""Whether the line slows down as things grow: `python -m tests.bench.growth [--rounds N]`, one JSON object a figure.

One allowed mutation (decided by the embedded policy, recorded on SQLite with FULL, sent to nobody) in a small and in a large world:
resources in the state, open claims, records in the ledger, earlier changes of the same attribute. The value is its median in the large world, the floor in the small one, so the
ratio is the growth; 1 is flat. The two worlds take turns. `.cpu` is the same in processor time, which says more where others use the machine. With
`--postgresql` the ledgers are on a PostgreSQL of its own that has analyzed its tables, and `.cpu` is without that server's.
"""

import argparse
import asyncio
import os
import tempfile
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import structlog
from sqlalchemy import insert

from gateway.app.checks import checks
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.claim import Claim, ClaimEnd
from gateway.core.model.ids import new_id
from gateway.core.model.inbound import Upload
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.model.mutation import Call, CallClass
from gateway.core.model.outcome import Applied, Reply, Sent
from gateway.core.model.verdict import Mode
from gateway.core.ports import Prepared, Request, SentFor
from gateway.core.records.record import Stage
from gateway.core.settings import PolicySettings, StackSettings
from gateway.core.times import SystemClock
from gateway.effects.resolver import EffectResolver
from gateway.ledger.ledger import SqlLedger, open_ledger
from gateway.ledger.store.serialize import claim_to_row
from gateway.ledger.store.statements import Statement
from gateway.ledger.store.tables import CLAIMS
from gateway.ledger.store.timestamps import to_text
from gateway.ledger.store.transaction import Transaction
from gateway.line.pipeline import Pipeline
from gateway.line.survey import Survey
from gateway.policy.engine import open_engine
from gateway.terraform.stacks import Stacks
from tests.bench.figure import quantile, show
from tests.bench.stack import write_stack
from tests.kit.bodies import sample_record
from tests.kit.stores import KEYS, Cluster, running_cluster

FEW = 10
GROUP = "aws_autoscaling_group.group[7]"
WHY = Motive(intent=Intent.AVAILABILITY, motivation=Motivation.INCIDENT, text="lag", evidence=("A-1",))
AGENT = Caller(actor="agent", kind=ActorKind.AGENT, key_id="SNTLAAAAAAAAAAAAAAAA")
_PAGE = 1000
_INSERT = Statement(insert(CLAIMS))


class Nobody:
    """A `ports.Cloud` that says yes at once, and its own request."""

    scope = ""

    async def prepare(
        self, call: Call, mutation_id: str, upload: Upload | None = None, reason: SentFor | None = None
    ) -> Prepared:
        """Nothing."""
        return self

    async def send(self, prepared: Prepared) -> Sent:
        """Applied."""
        return Applied(reply=Reply(status=200, headers=(), body=b"<ok/>"), request_id=f"request of {prepared!r:.20}")


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """How large everything is."""

    resources: int = FEW
    claims: int = FEW
    records: int = 1000
    changes: int = FEW
    """Claims of today, all ended, on the attribute that is changed."""


def grown(records: int) -> dict[str, World]:
    """The large worlds."""
    return {
        "resources_10_to_10000": World(resources=10_000),
        "claims_10_to_100000": World(claims=100_000),
        f"records_1000_to_{records}": World(records=records),
        "changes_of_the_attribute_10_to_10000": World(changes=10_000),
        f"records_and_100000_claims_1000_to_{records}": World(records=records, claims=100_000),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--postgresql", action="store_true")
    parser.add_argument("--only", default="", help="the large worlds whose names begin so")
    given = parser.parse_args()
    worlds = {name: world for name, world in grown(given.records).items() if name.startswith(given.only)}
    with Path(os.devnull).open("w") as log, running_cluster() if given.postgresql else nullcontext() as cluster:
        # A line for each decision is written, as in production, but not among the figures.
        structlog.configure(
            processors=[structlog.processors.JSONRenderer()], logger_factory=structlog.PrintLoggerFactory(log)
        )
        asyncio.run(_measure(worlds, given.rounds, cluster))


async def _measure(worlds: Mapping[str, World], rounds: int, cluster: Cluster | None) -> None:
    for name, large in worlds.items():
        with tempfile.TemporaryDirectory() as directory:
            async with (
                _line(Path(directory) / "a", World(), cluster) as small,
                _line(Path(directory) / "b", large, cluster) as big,
            ):
                times: dict[Pipeline, list[tuple[float, float]]] = {small: [], big: []}
                for _ in range(rounds):
                    for pipeline, spent in times.items():
                        spent += [await _changed(pipeline, 5 + number % 2) for number in range(30)]
                for kind, figure in enumerate(("p50", "cpu")):
                    floor, value = (quantile([each[kind] for each in times[line]], 0.5) for line in (small, big))
                    show(
                        f"growth{'.postgresql' * bool(cluster)}.{name}.{figure}",
                        value,
                        "ms",
                        floor=floor,
                        n=rounds * 30,
                    )


@asynccontextmanager
async def _line(directory: Path, world: World, cluster: Cluster | None) -> AsyncIterator[Pipeline]:
    async with AsyncExitStack() as stack:
        write_stack(directory / "stack", world.resources)
        source = StackSettings(name="fleet", path=directory / "stack")
        stacks = Stacks.load([source], default_mode=Mode.ENFORCE)
        url = cluster.new_ledger() if cluster else f"sqlite:///{directory / 'ledger.db'}"
        ledger = await stack.enter_async_context(open_ledger(url, KEYS))
        await _fill(ledger, world)
        if cluster:
            await ledger.write(lambda transaction: transaction.command("ANALYZE"))
        engine = await open_engine(PolicySettings(), directory)
        stack.push_async_callback(engine.close)
        clock = SystemClock()
        yield Pipeline(
            resolver=EffectResolver(stacks),
            survey=Survey(stacks=stacks, ledger=ledger, policy=engine, clock=clock),
            checks=checks(engine),
            ledger=ledger,
            cloud=Nobody(),
            clock=clock,
        )


async def _changed(pipeline: Pipeline, capacity: int) -> tuple[float, float]:
    """Milliseconds that pass, and of the processor, in all threads."""
    call = Call(
        service="autoscaling",
        operation="SetDesiredCapacity",
        parameters={"AutoScalingGroupName": "group-7", "DesiredCapacity": capacity},
        region="us-east-1",
    )
    started, before = time.perf_counter(), time.process_time()
    carried = await pipeline.execute(AGENT, Request(call=call, call_class=CallClass.MUTATION, motive=WHY))
    spent = (time.perf_counter() - started) * 1000, (time.process_time() - before) * 1000
    assert isinstance(carried.outcome, Applied), carried
    return spent


async def _fill(ledger: SqlLedger, world: World) -> None:
    for start in range(0, world.records, _PAGE):
        await ledger.write(lambda transaction, start=start: _append(transaction, start))  # type: ignore[misc]  # bound early
    now = datetime.now(UTC)
    claims = [_claim(f"aws_sqs_queue.q{number}", "tags", now) for number in range(world.claims)]
    ended = {"ended_at": to_text(now), "end": ClaimEnd.SUPERSEDED.value}
    changes = [
        _claim(GROUP, "desired_capacity", now - timedelta(seconds=number + 1)) | ended
        for number in range(world.changes)
    ]
    for rows in ([*claims, *changes][start : start + _PAGE] for start in range(0, world.claims + world.changes, _PAGE)):
        await ledger.write(lambda transaction, rows=rows: transaction.change_each(_INSERT, rows))  # type: ignore[misc]  # bound early


def _append(transaction: Transaction, start: int) -> None:
    now = datetime.now(UTC)
    for number in range(start, start + _PAGE):
        record = sample_record(
            stage=Stage.DECIDED,
            at=now,
            mutation_id=f"mut_{number}",
            actor=f"actor-{number % 97}",
            body={"call": {"parameters": {"x": "y" * 900}}},
        )
        transaction.append(record, resources=[(f"aws_sqs_queue.q{number % 1009}", "tags")])


def _claim(address: str, attribute: str, since: datetime) -> dict[str, Any]:
    claim = Claim(
        id=new_id("clm"),
        mutation_id=new_id("mut"),
        address=address,
        attribute=attribute,
        value={"owner": "x"},
        actor="another",
        kind=ActorKind.AGENT,
        motive=WHY,
        since=since,
        until=since + timedelta(days=1),
    )
    return claim_to_row(claim) | {"unsettled": 0}


if __name__ == "__main__":
    main()
