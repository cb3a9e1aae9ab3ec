"""One run: many connections contend for the same attributes through several gateways on one ledger, while some are killed."""

import asyncio
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Final

from gateway.core.model.caller import ActorKind, Caller
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Record, Stage
from gateway.core.settings import Settings
from gateway.ledger.ledger import SqlLedger
from gateway.ledger.sealed_ledger import open_sealed_ledger
from tests.bench.contention.aws import RememberingAws, remembering_aws
from tests.bench.contention.callers import Answer, send_all
from tests.bench.contention.gateways import GatewayProcess, gateways, issue, settings_of
from tests.bench.contention.history import History, asked_of
from tests.bench.contention.stack import write_queues
from tests.bench.contention.wishes import ACTORS, queues, wishes

_PERSON: Final = Caller(actor="human-0", kind=ActorKind.HUMAN, key_id="", roles=("approver",))
_PAGE: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Contention:
    """What is contended for, by how many, and what goes wrong meanwhile."""

    requests: int
    connections: int = 64
    processes: int = 2
    kills: int = 2
    """How often a gateway is killed and started again, evenly over the run."""
    ledger: str = ""
    """URL of the ledger; empty for SQLite in the run's directory."""
    crash_database: Callable[[], None] | None = None
    """Crashes the database's server and starts it again; called once, in the middle of the run."""


@dataclass(frozen=True, kw_only=True)
class ContentionResult:
    """What came of a run."""

    problems: Sequence[str]
    """What must not be, as sentences."""
    seconds: float
    answers: Mapping[str, int]
    """Answers by status and code."""
    takings: int
    takeovers: int
    in_doubt: int
    """Mutations that a killed gateway left in doubt, which a person settled by what AWS got."""
    records: int


@dataclass
class _Progress:
    """The answers so far, and who waits for a certain number of them."""

    answers: list[Answer] = field(default_factory=list)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def take(self, answer: Answer) -> None:
        self.answers.append(answer)
        self._changed.set()

    async def reach(self, count: int) -> None:
        while len(self.answers) < count:
            self._changed.clear()
            await self._changed.wait()


async def contend(directory: Path, contention: Contention) -> ContentionResult:
    """Play it in an empty directory, and check the history."""
    settings = settings_of(directory / "data", contention.ledger)
    keys = await issue(settings, ACTORS)
    write_queues(directory / "stack", queues(contention.requests))
    progress, began = _Progress(), perf_counter()
    async with remembering_aws() as aws:
        async with gateways(
            contention.processes,
            data=settings.data,
            ledger=settings.ledger_url,
            stack=directory / "stack",
            upstream=aws.port,
        ) as running:
            began = perf_counter()
            async with asyncio.TaskGroup() as group:
                group.create_task(_break(running, progress, contention))
                await send_all(
                    wishes(contention.requests),
                    ports=[each.port for each in running],
                    keys=keys,
                    connections=contention.connections,
                    told=progress.take,
                )
            seconds = perf_counter() - began
        return await _result(settings, aws, progress.answers, seconds)


async def _break(running: Sequence[GatewayProcess], progress: _Progress, contention: Contention) -> None:
    """Kill the gateways in turn, and crash the database in the middle."""
    for number in range(1, contention.kills + 1):
        await progress.reach(math.ceil(contention.requests * number / (contention.kills + 1)))
        gateway = running[number % len(running)]
        await gateway.kill()
        if contention.crash_database is not None and number == (contention.kills + 1) // 2:
            await asyncio.to_thread(contention.crash_database)
        await gateway.start()


async def _result(
    settings: Settings, aws: RememberingAws, answers: Sequence[Answer], seconds: float
) -> ContentionResult:
    async with open_sealed_ledger(settings) as ledger:
        # Every gateway has stopped. One that was killed may have left attempts in flight whose lease still runs.
        await ledger.recover(datetime(9000, 1, 1, tzinfo=UTC))
        settled = await _settle(ledger, aws)
        records = await _all_records(ledger)
        await ledger.verify()
        claims = {claim.id for claim in await ledger.claims()}
    history = History.of(records)
    arrived = {queue: aws.arrived(queue) for queue in aws.queues}
    return ContentionResult(
        problems=history.compare(answers, arrived, claims),
        seconds=seconds,
        answers=Counter(f"{answer.status} {answer.code}".strip() for answer in answers),
        takings=history.takings,
        takeovers=history.takeovers,
        in_doubt=settled,
        records=len(records),
    )


async def _settle(ledger: SqlLedger, aws: RememberingAws) -> int:
    """Settle what is in doubt as a person would who asks AWS. Returns how many."""
    doubts = await ledger.in_doubt()
    for doubt in doubts:
        records = await ledger.records(RecordQuery(mutation_id=doubt.mutation_id, stage=Stage.DECIDED))
        queue, value = asked_of(records[0])
        arrived = value in aws.arrived(queue)
        await ledger.settle_by_hand(
            doubt.mutation_id, approver=_PERSON, carried_out=arrived, reason="AWS was asked.", at=datetime.now(UTC)
        )
    return len(doubts)


async def _all_records(ledger: SqlLedger) -> list[Record]:
    found: list[Record] = []
    while page := await ledger.records(
        RecordQuery(after_seq=found[-1].seq if found else 0, limit=_PAGE, newest_first=False)
    ):
        found += page
    return found
