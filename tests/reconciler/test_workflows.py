"""DBOS runs the line once for each mutation, one at a time, and continues after a failure."""

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gateway.clock import SystemClock
from gateway.ledger.ledger import SqlLedger
from gateway.model.json import Json
from gateway.model.outcome import InDoubt
from gateway.model.record import Stage
from gateway.ports import RecordQuery
from reconciler.backlog import Backlog
from reconciler.doubt.read_back import ReadBack
from reconciler.doubt.verdict import DoubtVerdict
from reconciler.drift.applied import AppliedMutation
from reconciler.errors import TerraformFailed
from reconciler.loop import Line
from reconciler.proof.undeclared import DeclaredCache
from reconciler.proposal import Proposal
from reconciler.terraform.cli import Terraform
from reconciler.terraform.refreshed import Refreshed
from reconciler.workflows import Worker, durable, serve, terraform_is_applying
from tests.kit.decided import effect, record_mutation

Apply = Callable[..., Awaitable[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeLine(Line):
    """The line without git and terraform: it counts, and fails for the mutations in `poison`."""

    began: list[str] = field(default_factory=list)
    looked: list[int] = field(default_factory=list)
    published: list[str] = field(default_factory=list)
    poison: set[str] = field(default_factory=set)

    async def prove(self, applied: AppliedMutation, backlog: Backlog) -> Proposal:
        self.began.append(applied.id)
        if applied.id in self.poison:
            raise TerraformFailed.saying("plan", "no credentials")
        return Proposal()

    async def protected_head(self) -> str:
        return "c0ffee"

    async def record_merges(self, backlog: Backlog) -> None:
        self.looked.append(len(backlog.committed))

    async def publish(self, applied: AppliedMutation, backlog: Backlog, proposal: Proposal) -> dict[str, Json]:
        self.published.append(applied.id)
        return {"commit": "c0ffee", "files": []}


@pytest.fixture
def worker(ledger: SqlLedger, tmp_path: Path) -> Worker:
    line = FakeLine(
        stack="shop",
        source=tmp_path,
        state=None,
        branch="sentinel/shop",
        worktree=tmp_path / "worktree",
        terraform=Terraform(environment={}, workdir=tmp_path),
        queries=ledger,
        commands=ledger,
        clock=SystemClock(),
        declared_cache=DeclaredCache(),
    )
    return Worker(line=line, backlog=Backlog(stack="shop"))


def _line(worker: Worker) -> FakeLine:
    assert isinstance(worker.line, FakeLine)
    return worker.line


def _database(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'workflows.db'}"


async def test_mutations_are_written_back_once_and_in_their_order(
    worker: Worker, ledger: SqlLedger, applied: Apply, tmp_path: Path
) -> None:
    ids = [await applied((f"aws_sqs_queue.{name}", "delay_seconds", 0, 1)) for name in "acd"]
    open_one = await applied(("aws_sqs_queue.b", "delay_seconds", 0, 1), settle=False)

    async with durable({"shop": worker}, database=_database(tmp_path), poll_seconds=0.05) as runner:
        assert await worker.run_once(runner) == 3
        assert await worker.run_once(runner) == 0
        assert await worker.run_once(runner) == 0
    assert _line(worker).looked == [3]

    assert _line(worker).published == ids
    assert {record.mutation_id for record in await ledger.records(RecordQuery(stage=Stage.RECONCILED))} == set(ids)
    assert open_one not in _line(worker).began


async def test_one_that_fails_does_not_stop_the_others_and_is_tried_again(
    worker: Worker, applied: Apply, tmp_path: Path
) -> None:
    bad, good = [await applied((f"aws_sqs_queue.{name}", "delay_seconds", 0, 1)) for name in "ab"]
    _line(worker).poison.add(bad)

    async with durable({"shop": worker}, database=_database(tmp_path), poll_seconds=0.05) as runner:
        assert await worker.run_once(runner) == 1
        assert _line(worker).published == [good]
        _line(worker).poison.clear()
        assert await worker.run_once(runner) == 0
        worker.retries[bad].again_at = 0
        assert await worker.run_once(runner) == 1

    assert _line(worker).published == [good, bad]


async def test_a_killed_workflow_continues_where_it_was(
    worker: Worker, ledger: SqlLedger, applied: Apply, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutation = await applied(("aws_sqs_queue.a", "delay_seconds", 0, 1))
    stuck = threading.Event()

    async def never(self: Line, applied: AppliedMutation, body: Mapping[str, Json]) -> None:
        stuck.set()
        await asyncio.sleep(3600)

    with monkeypatch.context() as patched:
        patched.setattr(Line, "record", never)
        async with durable({"shop": worker}, database=_database(tmp_path), poll_seconds=0.05) as runner:
            first = asyncio.ensure_future(worker.run_once(runner))
            assert await asyncio.to_thread(stuck.wait, 10)
            first.cancel()
            await asyncio.gather(first, return_exceptions=True)

    fresh = Worker(line=worker.line, backlog=Backlog(stack="shop"))
    async with durable({"shop": fresh}, database=_database(tmp_path), poll_seconds=0.05) as runner:
        await fresh.run_once(runner)

    assert _line(worker).began == [mutation]
    assert len(await ledger.records(RecordQuery(stage=Stage.RECONCILED))) == 1


async def test_a_doubt_seen_by_a_killed_process_is_recorded_by_the_next_and_once(
    worker: Worker, ledger: SqlLedger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await record_mutation(
        ledger,
        [(effect("aws_sqs_queue.a", "delay_seconds", 1), 0)],
        outcome=InDoubt(reason="cut off"),
        at=datetime.now(UTC) - timedelta(hours=1),
    )
    stuck = threading.Event()
    read: list[list[str]] = []

    async def read_live(targets: list[str]) -> Refreshed:
        read.append(targets)
        return Refreshed(read=frozenset(targets), objects={"aws_sqs_queue.a": {"delay_seconds": 1}})

    async def never(self: ReadBack, mutation_id: str, verdict: DoubtVerdict) -> None:
        stuck.set()
        await asyncio.sleep(3600)

    def doubting() -> Worker:
        read_back = ReadBack(
            ledger=ledger,
            queries=ledger,
            clock=SystemClock(),
            concerns=lambda stack: stack == "shop",
            read_live=read_live,
            first_look=timedelta(0),
            settle_after=timedelta(minutes=16),
        )
        return Worker(line=worker.line, backlog=Backlog(stack="shop"), read_back=read_back)

    with monkeypatch.context() as patched:
        patched.setattr(ReadBack, "settle", never)
        first = doubting()
        async with durable({"shop": first}, database=_database(tmp_path), poll_seconds=0.05) as runner:
            running = asyncio.ensure_future(first.run_once(runner))
            assert await asyncio.to_thread(stuck.wait, 10)
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
    assert len(await ledger.in_doubt()) == 1

    second = doubting()
    async with durable({"shop": second}, database=_database(tmp_path), poll_seconds=0.05) as runner:
        while await ledger.in_doubt():
            await second.run_once(runner)
        await second.run_once(runner)

    settled = await ledger.records(RecordQuery(stage=Stage.SETTLED, newest_first=False))
    assert [record.body["outcome"] for record in settled] == ["in_doubt", "applied"]
    assert read


async def test_a_doubt_of_no_stack_is_left_to_a_human(worker: Worker, ledger: SqlLedger, tmp_path: Path) -> None:
    await record_mutation(
        ledger,
        [(effect("aws_sqs_queue.a", "delay_seconds", 1), 0)],
        outcome=InDoubt(reason="cut off"),
        at=datetime.now(UTC) - timedelta(hours=1),
        stack="",
    )
    stop = asyncio.Event()
    elsewhere = ReadBack(
        ledger=ledger,
        queries=ledger,
        clock=SystemClock(),
        concerns=lambda stack: stack != "shop",
        read_live=None,
        first_look=timedelta(0),
        settle_after=timedelta(minutes=16),
    )
    serving = asyncio.ensure_future(
        serve({"shop": worker}, database=_database(tmp_path), poll_seconds=0.1, stop=stop, elsewhere=elsewhere)
    )
    while not (await ledger.in_doubt())[0].left_to_human:
        assert not serving.done()
        await asyncio.sleep(0.05)
    stop.set()
    await asyncio.wait_for(serving, 300)


async def test_it_reacts_within_a_second_and_ends_at_the_stop_event(
    worker: Worker, ledger: SqlLedger, applied: Apply, tmp_path: Path
) -> None:
    stop = asyncio.Event()
    serving = asyncio.ensure_future(serve({"shop": worker}, database=_database(tmp_path), poll_seconds=0.1, stop=stop))
    await asyncio.sleep(1)
    await applied(("aws_sqs_queue.a", "delay_seconds", 0, 1))
    async with asyncio.timeout(300):
        while not await ledger.records(RecordQuery(stage=Stage.RECONCILED)):  # noqa: ASYNC110  nothing signals a new record
            await asyncio.sleep(0.02)
        stop.set()
        await serving


async def test_nothing_is_written_back_while_terraform_applies(worker: Worker, applied: Apply, tmp_path: Path) -> None:
    await applied(("aws_sqs_queue.a", "delay_seconds", 0, 1))
    lock = tmp_path / ".terraform.tfstate.lock.info"
    lock.write_text("{}")
    locked = Worker(line=replace(_line(worker), state=tmp_path / "terraform.tfstate"), backlog=Backlog(stack="shop"))

    async with durable({"shop": locked}, database=_database(tmp_path), poll_seconds=0.05) as runner:
        assert await locked.run_once(runner) == 0
        lock.unlink()
        assert await locked.run_once(runner) == 1


def test_a_lock_that_a_killed_terraform_left_is_not_waited_for_forever(tmp_path: Path) -> None:
    lock = tmp_path / ".terraform.tfstate.lock.info"
    lock.write_text("{}")
    assert terraform_is_applying(tmp_path / "terraform.tfstate")
    os.utime(lock, (0, 0))
    assert not terraform_is_applying(tmp_path / "terraform.tfstate")
    assert not terraform_is_applying(None)
