"""DBOS runs the line once for each mutation, one at a time, and continues after a failure."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from dbos import DBOS

from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.json import Json
from gateway.core.model.mutation import Call, EffectAction
from gateway.core.model.outcome import InDoubt
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Record, Stage
from gateway.core.records.write_backs import ReconciledBody
from gateway.core.times import SystemClock
from gateway.ledger.ledger import SqlLedger
from reconciler.changes.applied_mutation import AppliedMutation
from reconciler.changes.backlog import Backlog
from reconciler.changes.classification import classify_mutation, leave_all
from reconciler.drift.in_doubt.live_evidence import DoubtVerdict
from reconciler.drift.in_doubt.read_back import ReadBack
from reconciler.errors import TerraformFailed
from reconciler.line.loop import Beside, Line
from reconciler.line.proposal import Proposal, WrittenBack
from reconciler.model import Wanted
from reconciler.proof.proved_edit import DeclaredCache
from reconciler.terraform.cli import Terraform
from reconciler.terraform.refresh import Refreshed
from reconciler.workflows import Worker, durable, serve
from tests.kit.mutations import record_mutation
from tests.kit.nouns import effect

pytestmark = pytest.mark.slow  # each starts the service, and all of them take four seconds

Apply = Callable[..., Awaitable[str]]
SCALER = Caller(actor="agent-scaler", kind=ActorKind.AGENT, key_id="SNTL0")


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeLine(Line):
    """The line without git and terraform: it counts, fails for the mutations in `poison`, and leaves those in `stuck` to a human."""

    began: list[str] = field(default_factory=list)
    looked: list[int] = field(default_factory=list)
    published: list[str] = field(default_factory=list)
    poison: set[str] = field(default_factory=set)
    stuck: set[str] = field(default_factory=set)
    one_change: set[str] = field(default_factory=set)
    """The mutations that are one change with any other one of their session."""
    heads: list[str] = field(default_factory=lambda: ["c0ffee"])
    """The last one is the protected branch's commit."""

    async def prove(self, applied: AppliedMutation, backlog: Backlog, beside: Beside | None = None) -> Proposal:
        self.began.append(applied.id)
        if applied.id in self.poison:
            raise TerraformFailed.saying("plan", "no credentials")
        if applied.id not in self.stuck:
            return Proposal(corrects=applied.corrects)
        itself = Wanted(address=applied.operation, attribute="*", value=None)
        wanted = classify_mutation(applied, superseded={}).wanted or (itself,)
        tried = await self.circumstances(applied, backlog)
        return Proposal(left=leave_all(wanted, "Stuck."), tried=tried, corrects=applied.corrects)

    async def protected_head(self) -> str:
        return self.heads[-1]

    async def record_merges(self, backlog: Backlog) -> None:
        self.looked.append(len(backlog.committed))

    async def publish(
        self, applied: AppliedMutation, backlog: Backlog, proposal: Proposal, beside: Beside | None = None
    ) -> WrittenBack:
        self.published.append(applied.id)
        if proposal.left:
            return proposal.written_back(branch=self.branch, commit="", diff="")
        there = [each.id for each in backlog.of_session(applied) if each.id in self.one_change]
        body = ReconciledBody(commit="c0ffee", corrects=proposal.corrects)
        return WrittenBack(body=body, beside=dict.fromkeys(there, ReconciledBody(commit="c0ffee")))


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

    async with durable(
        {"shop": worker}, database=_database(tmp_path), key=b"a key for tests", poll_seconds=0.05
    ) as runner:
        assert await worker.run_once(runner) == 3
        assert await worker.run_once(runner) == 0
        assert await worker.run_once(runner) == 0
    assert _line(worker).looked == [3]

    assert _line(worker).published == ids
    assert {record.mutation_id for record in await ledger.records(RecordQuery(stage=Stage.RECONCILED))} == set(ids)
    assert open_one not in _line(worker).began


async def test_mutations_that_are_one_change_are_written_back_and_recorded_at_once(
    worker: Worker, ledger: SqlLedger, applied: Apply, tmp_path: Path
) -> None:
    first, second, third = [await applied((f"aws_sqs_queue.{name}", "delay_seconds", 0, 1)) for name in "acd"]
    _line(worker).one_change.add(third)
    async with durable(
        {"shop": worker}, database=_database(tmp_path), key=b"a key for tests", poll_seconds=0.05
    ) as runner:
        assert await worker.run_once(runner) == 2
    assert _line(worker).published == [first, second]
    records = await ledger.records(RecordQuery(stage=Stage.RECONCILED))
    assert {record.mutation_id: record.body.members["commit"] for record in records} == dict.fromkeys(
        (first, second, third), "c0ffee"
    )


async def test_a_stop_waits_for_one_write_back_and_not_for_all_that_is_queued(
    worker: Worker, applied: Apply, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [await applied((f"aws_sqs_queue.{name}", "delay_seconds", 0, 1)) for name in "acd"]
    publish = FakeLine.publish

    async def last(*given: Any) -> WrittenBack:
        worker.stop.set()
        return await publish(*given)

    monkeypatch.setattr(FakeLine, "publish", last)
    async with durable(
        {"shop": worker}, database=_database(tmp_path), key=b"a key for tests", poll_seconds=0.05
    ) as runner:
        assert await worker.run_once(runner) == 1
    assert _line(worker).published == ids[:1]


@dataclass
class CountingQueries:
    """The ledger's queries, counted."""

    ledger: SqlLedger
    asked: int = 0

    async def records(self, query: RecordQuery) -> Sequence[Record]:
        self.asked += 1
        return await self.ledger.records(query)


async def _traffic(ledger: SqlLedger, count: int) -> None:
    """Writes on the data plane."""
    put = effect("aws_dynamodb_table.orders", "*", None, action=EffectAction.INVOKE)
    for _ in range(count):
        await record_mutation(ledger, [(put, None)], call=Call(service="dynamodb", operation="PutItem"))


async def _reconciled(ledger: SqlLedger, mutation: str = "") -> list[Record]:
    query = RecordQuery(stage=Stage.RECONCILED, mutation_id=mutation, newest_first=False, limit=1_000)
    return list(await ledger.records(query))


async def test_a_change_does_not_wait_behind_traffic_of_the_data_plane(
    worker: Worker, ledger: SqlLedger, applied: Apply, tmp_path: Path
) -> None:
    """The traffic costs no workflow, no record and no step: only its part of a page of records."""
    await _traffic(ledger, 400)
    change = await applied(("aws_sqs_queue.a", "delay_seconds", 0, 1))
    await _traffic(ledger, 20)
    queries: Any = CountingQueries(ledger)
    counted = Worker(line=replace(_line(worker), queries=queries), backlog=worker.backlog)

    await counted.backlog.read(queries)
    assert [waiting.id for waiting in counted.backlog.pending()] == [change]
    assert queries.asked == 2
    async with durable(
        {"shop": counted}, database=_database(tmp_path), key=b"a key for tests", poll_seconds=0.05
    ) as runner:
        assert await counted.run_once(runner) == 1

    assert _line(counted).began == [change]
    assert [record.mutation_id for record in await _reconciled(ledger)] == [change]


async def test_what_needs_no_code_is_recorded_at_once_and_without_a_workflow(
    worker: Worker, ledger: SqlLedger, applied: Apply, tmp_path: Path
) -> None:
    new = partial(effect, action=EffectAction.CREATE, declared=False)
    created = [new(f"aws_sqs_queue.q{number}", "*", {}) for number in range(30)]
    for each in created:
        await record_mutation(ledger, [(each, None)])
    change = await applied(("aws_sqs_queue.a", "delay_seconds", 0, 1))

    async with durable(
        {"shop": worker}, database=_database(tmp_path), key=b"a key for tests", poll_seconds=0.05
    ) as runner:
        assert await worker.run_once(runner) == 31
        assert await worker.run_once(runner) == 0
        ran = await DBOS.list_workflows_async()
    assert [workflow.workflow_id for workflow in ran] == [f"{change}.shop.0.sentinel-2"]
    records = await _reconciled(ledger)
    assert len(records) == 31
    assert all("was created" in str(record.body.members["left"]) for record in records if record.mutation_id != change)


async def test_what_was_left_is_tried_again_when_the_code_changed_and_only_then(
    worker: Worker, ledger: SqlLedger, applied: Apply, tmp_path: Path
) -> None:
    mutation = await applied(("aws_sqs_queue.a", "delay_seconds", 0, 1))
    line = _line(worker)
    line.stuck.add(mutation)
    async with durable(
        {"shop": worker}, database=_database(tmp_path), key=b"a key for tests", poll_seconds=0.05
    ) as runner:
        for _ in range(3):
            await worker.run_once(runner)
        assert line.began == [mutation]
        line.heads.append("c1")
        for _ in range(3):
            await worker.run_once(runner)
        assert line.began == [mutation] * 2
        (first,) = await _reconciled(ledger)
        line.heads.append("c2")
        line.stuck.clear()
        for _ in range(3):
            await worker.run_once(runner)

    assert line.began == [mutation] * 3
    corrected = (await _reconciled(ledger, mutation))[-1]
    assert (corrected.body.members["commit"], corrected.body.members["corrects"]) == ("c0ffee", first.seq)
    assert not worker.backlog.left


async def test_a_call_that_may_be_about_several_stacks_is_left_to_each_until_one_has_it(
    worker: Worker, ledger: SqlLedger, tmp_path: Path
) -> None:
    """Nobody knows what the call did, and two of three stacks are in its account and region."""
    call = Call(service="events", operation="CancelReplay")
    mutation = await record_mutation(ledger, [], call=call, stack="", possible_stacks=("bakery", "shop"))
    line = _line(worker)
    line.stuck.add(mutation.id)
    lines = {name: replace(line, stack=name, stuck={mutation.id}) for name in ("bakery", "florist", "shop")}
    workers = {name: Worker(line=each, backlog=Backlog(stack=name)) for name, each in lines.items()}

    async def left() -> list[str]:
        return sorted(record.stack for record in await ledger.records(RecordQuery(left=True)))

    async with durable(workers, database=_database(tmp_path), key=b"a key for tests", poll_seconds=0.05) as runner:
        for each in workers.values():
            await each.run_once(runner)
        assert await left() == ["bakery", "shop"]
        lines["bakery"].stuck.clear()
        lines["bakery"].heads.append("c1")
        await workers["bakery"].run_once(runner)
        assert await left() == ["shop"]
        await workers["shop"].run_once(runner)
    assert await left() == []
    (done,) = [each for each in await _reconciled(ledger, mutation.id) if each.stack == "shop"][1:]
    assert done.body.members["nothing_to_do"] == "It was written into the code of the stack bakery."
    assert not workers["florist"].backlog.decided


async def test_a_new_process_tries_what_was_left_only_if_something_changed_since(
    worker: Worker, applied: Apply, tmp_path: Path
) -> None:
    mutation = await applied(("aws_sqs_queue.a", "delay_seconds", 0, 1))
    line = _line(worker)
    line.stuck.add(mutation)
    async with durable(
        {"shop": worker}, database=_database(tmp_path), key=b"a key for tests", poll_seconds=0.05
    ) as runner:
        await worker.run_once(runner)
        for head, tries in (("c0ffee", 1), ("c1", 2)):
            line.heads.append(head)
            fresh = Worker(line=line, backlog=Backlog(stack="shop"))
            runner._workers = {"shop": fresh}
            await fresh.run_once(runner)
            await fresh.run_once(runner)
            assert line.began == [mutation] * tries


async def test_new_changes_come_before_what_was_left(worker: Worker, applied: Apply, tmp_path: Path) -> None:
    """One that was left is tried in each round, after all that is new."""
    left = [await applied((f"aws_sqs_queue.{name}", "delay_seconds", 0, 1)) for name in "ab"]
    line = _line(worker)
    line.stuck.update(left)
    async with durable(
        {"shop": worker}, database=_database(tmp_path), key=b"a key for tests", poll_seconds=0.05
    ) as runner:
        await worker.run_once(runner)
        line.heads.append("c1")
        new = [await applied((f"aws_sqs_queue.{name}", "delay_seconds", 0, 1)) for name in "cd"]
        line.began.clear()
        await worker.run_once(runner)
        assert line.began == [*new, left[0]]
        await worker.run_once(runner)
        assert line.began == [*new, *left]


async def test_what_was_left_and_is_superseded_since_is_corrected_without_a_plan(
    worker: Worker, ledger: SqlLedger, applied: Apply, tmp_path: Path
) -> None:
    first = await applied(("aws_sqs_queue.a", "delay_seconds", 0, 1))
    line = _line(worker)
    line.stuck.add(first)
    async with durable(
        {"shop": worker}, database=_database(tmp_path), key=b"a key for tests", poll_seconds=0.05
    ) as runner:
        await worker.run_once(runner)
        await ledger.release(first, caller=SCALER, at=datetime.now(UTC))
        second = await applied(("aws_sqs_queue.a", "delay_seconds", 1, 2))
        await worker.run_once(runner)
        await worker.run_once(runner)

    assert line.began == [first, second]
    wrong, right = await _reconciled(ledger, first)
    assert "left" in wrong.body.members
    assert (right.body.members["superseded_by"], right.body.members["corrects"]) == ([second], wrong.seq)
    assert "left" not in right.body.members


async def test_one_that_fails_does_not_stop_the_others_and_is_tried_again(
    worker: Worker, applied: Apply, tmp_path: Path
) -> None:
    bad, good = [await applied((f"aws_sqs_queue.{name}", "delay_seconds", 0, 1)) for name in "ab"]
    _line(worker).poison.add(bad)

    async with durable(
        {"shop": worker}, database=_database(tmp_path), key=b"a key for tests", poll_seconds=0.05
    ) as runner:
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
        async with durable(
            {"shop": worker}, database=_database(tmp_path), key=b"a key for tests", poll_seconds=0.05
        ) as runner:
            first = asyncio.ensure_future(worker.run_once(runner))
            assert await asyncio.to_thread(stuck.wait, 10)
            first.cancel()
            await asyncio.gather(first, return_exceptions=True)

    fresh = Worker(line=worker.line, backlog=Backlog(stack="shop"))
    async with durable(
        {"shop": fresh}, database=_database(tmp_path), key=b"a key for tests", poll_seconds=0.05
    ) as runner:
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
        async with durable(
            {"shop": first}, database=_database(tmp_path), key=b"a key for tests", poll_seconds=0.05
        ) as runner:
            running = asyncio.ensure_future(first.run_once(runner))
            assert await asyncio.to_thread(stuck.wait, 10)
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
    assert len(await ledger.in_doubt()) == 1

    second = doubting()
    async with durable(
        {"shop": second}, database=_database(tmp_path), key=b"a key for tests", poll_seconds=0.05
    ) as runner:
        while await ledger.in_doubt():
            await second.run_once(runner)
        await second.run_once(runner)

    settled = await ledger.records(RecordQuery(stage=Stage.SETTLED, newest_first=False))
    assert [record.body.members["outcome"] for record in settled] == ["in_doubt", "applied"]
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
        serve(
            {"shop": worker},
            database=_database(tmp_path),
            key=b"a key for tests",
            poll_seconds=0.1,
            stop=stop,
            elsewhere=elsewhere,
        )
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
    serving = asyncio.ensure_future(
        serve({"shop": worker}, database=_database(tmp_path), key=b"a key for tests", poll_seconds=0.1, stop=stop)
    )
    await asyncio.sleep(1)
    await applied(("aws_sqs_queue.a", "delay_seconds", 0, 1))
    async with asyncio.timeout(300):
        while not await ledger.records(RecordQuery(stage=Stage.RECONCILED)):  # noqa: ASYNC110  nothing signals a new record
            await asyncio.sleep(0.02)
        stop.set()
        await serving


async def test_a_round_that_breaks_is_followed_by_the_next(
    worker: Worker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rounds: list[int] = []
    once = Worker.run_once

    async def breaks_first(self: Worker, runner: Any) -> int:
        rounds.append(len(rounds))
        if len(rounds) == 1:
            raise AttributeError("an odd answer")
        return await once(self, runner)

    monkeypatch.setattr(Worker, "run_once", breaks_first)
    stop = asyncio.Event()
    running = asyncio.ensure_future(
        serve({"shop": worker}, database=_database(tmp_path), key=b"a key for tests", poll_seconds=0.05, stop=stop)
    )
    while len(rounds) < 3 and not running.done():  # noqa: ASYNC110  nothing signals a round
        await asyncio.sleep(0.01)
    stop.set()
    await asyncio.wait_for(running, 300)
    assert len(rounds) >= 3


@dataclass(slots=True)
class DuePutBack:
    """A change whose time is up in the first round."""

    sent: bool = False

    async def round(self, runs: Any) -> None:
        if not self.sent:
            await runs.run("shop", "mut_timed")

    async def look(self, mutation_id: str) -> dict[str, Json]:
        return {"left": [], "send": True}

    async def send(self, mutation_id: str) -> dict[str, Json]:
        self.sent = True
        return {"status": 200, "code": "", "detail": ""}


async def test_a_put_back_waits_for_no_write_back(
    worker: Worker, applied: Apply, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await applied(("aws_sqs_queue.a", "delay_seconds", 0, 1))
    proving, goes_on = threading.Event(), threading.Event()

    async def slow(self: FakeLine, applied: AppliedMutation, backlog: Backlog) -> Proposal:
        proving.set()
        await asyncio.to_thread(goes_on.wait)
        return Proposal(corrects=applied.corrects)

    monkeypatch.setattr(FakeLine, "prove", slow)
    due: Any = DuePutBack()
    timed = replace(worker, putting_back=due)
    async with durable(
        {"shop": timed}, database=_database(tmp_path), key=b"a key for tests", poll_seconds=0.05
    ) as runner:
        writing = asyncio.ensure_future(timed.run_once(runner))
        assert await asyncio.to_thread(proving.wait, 300)
        await asyncio.wait_for(timed.put_back(runner), 300)
        assert (due.sent, writing.done()) == (True, False)
        goes_on.set()
        assert await asyncio.wait_for(writing, 300) == 1


async def test_nothing_is_written_back_while_terraform_applies(worker: Worker, applied: Apply, tmp_path: Path) -> None:
    await applied(("aws_sqs_queue.a", "delay_seconds", 0, 1))
    lock = tmp_path / ".terraform.tfstate.lock.info"
    lock.write_text("{}")
    locked = Worker(line=replace(_line(worker), state=tmp_path / "terraform.tfstate"), backlog=Backlog(stack="shop"))

    async with durable(
        {"shop": locked}, database=_database(tmp_path), key=b"a key for tests", poll_seconds=0.05
    ) as runner:
        assert await locked.run_once(runner) == 0
        lock.unlink()
        assert await locked.run_once(runner) == 1
