"""Runs the line for every stack, durably: each mutation is one DBOS workflow, and each stack runs one workflow at a time."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import Any

import structlog
from dbos import DBOS, DBOSConfig, SetWorkflowID
from dbos import error as dbos_error

from gateway.core.errors import LedgerUnavailable, SentinelError
from gateway.core.model.ids import new_id
from gateway.core.model.json import Json
from gateway.core.records.codec import body_of
from gateway.core.records.write_backs import ReconciledBody
from reconciler.changes.applied_mutation import AppliedMutation
from reconciler.changes.backlog import Backlog
from reconciler.drift.in_doubt.live_evidence import DoubtVerdict
from reconciler.drift.in_doubt.read_back import ReadBack
from reconciler.drift.put_backs.put_back import PutBacks
from reconciler.drift.put_backs.workflow import PutBackWorkflow
from reconciler.drift.scan import DriftScan
from reconciler.errors import GitFailed
from reconciler.line.loop import Line
from reconciler.line.proposal import Proposal, WrittenBack
from reconciler.notify.delivery import ReceiverWorker
from reconciler.notify.workflow import NoticeWorkflow
from reconciler.publish.publisher import Publisher
from reconciler.retry import LeftRetries, Retry
from reconciler.sealed_state import SealedSerializer, refuse_unsealed
from reconciler.terraform.state import terraform_is_applying

_VERSION = "sentinel-2"
"""DBOS resumes only workflows of the same version, whose ids have it: what an older one left is begun again. Change it when the JSON that one step
stores for the next changes."""
_PUT_BACK_SECONDS = 0.2
"""How often changes for a time are looked at, at least: each look is one query, and what it waits adds to how late they end."""
_LONGEST_PAUSE = 60.0
"""Seconds until the next round, at most, after rounds that broke for a reason that nobody foresaw."""
_DOUBTS_AT_ONCE = 4
"""Mutations in doubt that one round looks at, so that many of them do not keep others from being written back."""

log = structlog.get_logger()


@dataclass(slots=True)
class Worker:
    """Writes back the mutations of one stack."""

    line: Line
    backlog: Backlog
    read_back: ReadBack | None = None
    """Settles the stack's mutations in doubt."""
    pushing: Publisher | None = None
    """Pushes the stack's branch, if that is wanted."""
    drifting: DriftScan | None = None
    """Finds changes from outside, if that is wanted."""
    putting_back: PutBacks | None = None
    """Puts changes back that were wanted for a time."""
    retries: dict[str, Retry] = field(default_factory=dict)
    left_over: LeftRetries = field(default_factory=LeftRetries)
    looked_at_drift: int = -1
    """The slot of the schedule in which changes from outside were last looked for."""
    seen_head: str = ""
    """The protected branch's commit when merges were last recorded."""
    together: timedelta = timedelta()
    """How long a session must have been quiet before what it created or deleted is written back: what follows is one change with it."""
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when nothing more is to be begun: what is queued waits for the next start."""

    async def run_once(self, runner: "Runner") -> int:
        """Read the ledger and write back what is due, oldest first; returns how many succeeded. A failure does not stop the others."""
        await self.backlog.read(self.line.queries)
        done = await self._record_without_code()
        for applied in self.backlog.pending():
            retry = self.retries.setdefault(applied.id, Retry())
            if self.stop.is_set():
                return done
            if not retry.due or terraform_is_applying(self.line.state):
                continue
            if applied.id not in self.backlog.settled:
                continue  # it was written back with another one, as one change
            if not self.backlog.rests(applied, self.line.clock.now(), self.together):
                continue
            if await self._write_back(runner, applied, retry):
                done += 1
                await self.backlog.read(self.line.queries)
            # What is to be healed waits for one write-back at most, however many there are.
            await self._heed_drift(runner)
        await self._look_at_protected(runner)
        await self._settle_doubts(runner)
        await self._heed_drift(runner)
        return done

    async def put_back(self, runner: "Runner") -> None:
        """Put back what is due. It runs beside `run_once`: a change for a time ends at its time, however much is to be written back.

        Raises `errors.LedgerUnavailable`.
        """
        if self.putting_back is not None and not terraform_is_applying(self.line.state):
            await self.putting_back.round(runner.put_backs)

    async def _record_without_code(self) -> int:
        """Record the mutations that leave nothing to write, at once: they need neither git, nor terraform, nor a workflow."""
        done = 0
        for applied in self.backlog.pending():
            if proposal := self.line.without_code(applied, self.backlog):
                await self.line.record(applied.id, proposal.record_body(branch=self.line.branch, commit="", diff=""))
                done += 1
        if done:
            await self.backlog.read(self.line.queries)
        return done

    async def _look_at_protected(self, runner: "Runner") -> None:
        """Record what was merged, and try again what was left, as far as the protected branch or later mutations give reason to."""
        if not (self.backlog.committed or self.backlog.left):
            return
        try:
            head = await self.line.protected_head()
            if head != self.seen_head and self.backlog.committed:
                await self.line.record_merges(self.backlog)
                self.seen_head = head
            await self._correct(runner, head)
        except GitFailed as error:
            log.error("protected_branch_not_read", stack=self.line.stack, error=str(error))  # noqa: TRY400  the sentence is complete without a traceback

    async def _correct(self, runner: "Runner", head: str) -> None:
        """Try again what was left to a human and is due; with terraform only one in a round, so that new changes come first."""
        left_over = list(self.backlog.left_over())
        self.left_over.keep(frozenset(applied.id for applied in left_over))
        for applied in left_over:
            recorded = body_of(self.backlog.left[applied.id], ReconciledBody).tried
            now: dict[str, Json] = {"protected": head, **self.backlog.circumstances(applied)}
            if "branch" in recorded:
                now["branch"] = await self.line.tip()
            if not self.left_over.due(applied.id, recorded, now):
                continue
            if proposal := self.line.without_code(applied, self.backlog):
                await self.line.record(applied.id, proposal.record_body(branch=self.line.branch, commit="", diff=""))
                self.left_over.tried(applied.id, now)
            elif not terraform_is_applying(self.line.state):
                self.left_over.tried(applied.id, now)
                await self._write_back(runner, applied, Retry())
                return

    async def _settle_doubts(self, runner: "Runner") -> None:
        """Look at the mutations in doubt that are due. Not while terraform applies: code, state and live values then still change."""
        if self.read_back is None or terraform_is_applying(self.line.state):
            return
        for doubt in (await self.read_back.due())[:_DOUBTS_AT_ONCE]:
            self.read_back.looked(doubt.mutation_id)
            try:
                await runner.settle_doubt(self.line.stack, doubt.mutation_id)
            except (SentinelError, dbos_error.DBOSException, OSError, ValueError, KeyError, TypeError) as error:
                log.error("doubt_not_settled", stack=self.line.stack, mutation=doubt.mutation_id, error=str(error))  # noqa: TRY400  the sentence is complete without a traceback

    async def _heed_drift(self, runner: "Runner") -> None:
        """Look for changes from outside if it is time, and carry out what was decided about one of them."""
        if self.drifting is None or terraform_is_applying(self.line.state):
            return
        slot = self.drifting.slot()
        if slot != self.looked_at_drift:
            self.looked_at_drift = slot
            await self._try_drift("drift_not_looked_for", runner.scan_drift(self.line.stack, slot))
        await self._try_drift("merged_drift_not_followed", self.drifting.follow_merges())
        for drift in await self.drifting.follow():
            retry = self.retries.setdefault(f"{drift.id}.{drift.decision}", Retry())
            if not retry.due:
                continue
            work = runner.carry_out(self.line.stack, drift.id, decision=drift.decision, attempt=retry.count)
            if not await self._try_drift("drift_not_carried_out", work):
                retry.failed()
            return

    async def _try_drift(self, event: str, work: Awaitable[object]) -> bool:
        """Whether the work was done; what failed is logged and tried again later."""
        try:
            await work
        except (SentinelError, dbos_error.DBOSException, OSError, ValueError, KeyError, TypeError) as error:
            log.error(event, stack=self.line.stack, error=str(error))  # noqa: TRY400  the sentence is complete without a traceback
            return False
        return True

    async def _write_back(self, runner: "Runner", applied: AppliedMutation, retry: Retry) -> bool:
        began = time.monotonic()
        bound = log.bind(stack=self.line.stack, mutation=applied.id)
        try:
            body = await runner.run(self.line.stack, applied.id, attempt=retry.count, corrects=applied.corrects)
        except (SentinelError, dbos_error.DBOSException, OSError, ValueError, KeyError, TypeError) as error:
            bound.error("not_written_back", error=str(error), again_in_seconds=retry.failed())
            return False
        self.retries.pop(applied.id, None)
        bound.info(
            "written_back",
            commit=body.get("commit", ""),
            left=len(body.get("left", [])),
            seconds=round(time.monotonic() - began, 2),
        )
        return True


class Runner:
    """The DBOS workflow and its three steps. Make only one per process: DBOS itself is a singleton."""

    def __init__(
        self,
        workers: Mapping[str, Worker],
        *,
        poll_seconds: float,
        receivers: Mapping[str, ReceiverWorker] | None = None,
    ) -> None:
        self._workers = workers
        self.notices = NoticeWorkflow(receivers or {}, poll_seconds=poll_seconds)
        self._poll_seconds = poll_seconds

        # DBOS marks the function it registers, which a bound method does not allow.
        async def write_back(stack: str, mutation_id: str, corrects: int) -> dict[str, Any]:
            return await self._write_back(stack, mutation_id, corrects)

        async def read_back(stack: str, mutation_id: str) -> dict[str, Any]:
            return await self._read_back(stack, mutation_id)

        self._workflow = DBOS.workflow(name="write_back")(write_back)

        async def scan_drift(stack: str) -> int:
            return await DBOS.run_step_async({"name": "scan"}, self._drifting(stack).scan)

        async def carry_out(stack: str, drift_id: str) -> dict[str, Any]:
            async def step() -> dict[str, Any]:
                return dict(await self._drifting(stack).carry_out(drift_id))

            return await DBOS.run_step_async({"name": "carry_out"}, step)

        timed = {name: worker.putting_back for name, worker in workers.items() if worker.putting_back}
        self.put_backs = PutBackWorkflow(timed, queue=_put_back_queue, poll_seconds=poll_seconds)
        self._doubt_workflow = DBOS.workflow(name="read_back")(read_back)
        self._scan_workflow = DBOS.workflow(name="scan_drift")(scan_drift)
        self._drift_workflow = DBOS.workflow(name="carry_out")(carry_out)

    async def register(self) -> None:
        """Register two queues per stack, each running one workflow at a time: put-backs do not wait for anything else."""
        quick = min(self._poll_seconds, _PUT_BACK_SECONDS)
        queues = {_queue(stack): self._poll_seconds for stack in self._workers}
        queues |= {_put_back_queue(stack): quick for stack in self._workers}
        for queue, seconds in queues.items():
            await DBOS.register_queue_async(
                queue,
                global_concurrency=1,
                polling_interval_sec=seconds,
                on_conflict="always_update",
            )

    async def run(self, stack: str, mutation_id: str, *, attempt: int, corrects: int = 0) -> dict[str, Any]:
        """Enqueue the workflow of a mutation and return its result; if it ran or runs already, only wait for it.

        One that corrects a record may run many times for the same record, each time in other circumstances.
        Raises what `Line` raises.
        """
        # One mutation may be about several stacks, each of which has its own workflow for it.
        workflow = f"{mutation_id}.{stack}.{attempt}.{_VERSION}"
        with SetWorkflowID(f"{mutation_id}@{corrects}.{new_id('try')}" if corrects else workflow):
            handle = await DBOS.enqueue_workflow_async(_queue(stack), self._workflow, stack, mutation_id, corrects)
        return await handle.get_result(polling_interval_sec=self._poll_seconds)

    async def settle_doubt(self, stack: str, mutation_id: str) -> dict[str, Any]:
        """Look at a mutation in doubt once, and record what that showed; returns it.

        If the process is killed between the two, the next one records what was seen.
        """
        with SetWorkflowID(new_id("look")):
            handle = await DBOS.enqueue_workflow_async(_queue(stack), self._doubt_workflow, stack, mutation_id)
        return await handle.get_result(polling_interval_sec=self._poll_seconds)

    async def scan_drift(self, stack: str, slot: int) -> int:
        """Look for changes from outside, once in each slot of the schedule; returns how many there are. Raises what `DriftScan` raises."""
        with SetWorkflowID(f"drift.{stack}.{slot}.{_VERSION}"):
            handle = await DBOS.enqueue_workflow_async(_queue(stack), self._scan_workflow, stack)
        return await handle.get_result(polling_interval_sec=self._poll_seconds)

    async def carry_out(self, stack: str, drift_id: str, *, decision: int, attempt: int) -> dict[str, Any]:
        """Carry out a decision about a change from outside; returns what came of it. Raises what `DriftScan` raises."""
        with SetWorkflowID(f"{drift_id}.{decision}.{attempt}.{_VERSION}"):
            handle = await DBOS.enqueue_workflow_async(_queue(stack), self._drift_workflow, stack, drift_id)
        return await handle.get_result(polling_interval_sec=self._poll_seconds)

    def _drifting(self, stack: str) -> DriftScan:
        drifting = self._workers[stack].drifting
        if drifting is None:
            message = (
                f"Changes from outside of the stack {stack} are not looked for: `reconcile.drift_every` is not set."
            )
            raise LedgerUnavailable(message)
        return drifting

    async def _read_back(self, stack: str, mutation_id: str) -> dict[str, Any]:
        read_back = self._workers[stack].read_back
        if read_back is None:
            return {}

        async def look() -> dict[str, Json]:
            return (await read_back.look(mutation_id)).to_json()

        async def settle(verdict: dict[str, Json]) -> None:
            await read_back.settle(mutation_id, DoubtVerdict.from_json(verdict))

        verdict = await DBOS.run_step_async({"name": "look"}, look)
        await DBOS.run_step_async({"name": "settle"}, settle, verdict)
        return verdict

    async def _write_back(self, stack: str, mutation_id: str, corrects: int) -> dict[str, Any]:
        worker = self._workers[stack]

        async def prove() -> dict[str, Json]:
            applied = await self._applied(worker, mutation_id, corrects)
            async with worker.line.with_provider() as line:
                return (await line.prove(applied, worker.backlog)).to_json()

        async def publish(proposal: dict[str, Json]) -> dict[str, Json]:
            applied = await self._applied(worker, mutation_id, corrects)
            return (await worker.line.publish(applied, worker.backlog, Proposal.from_json(proposal))).to_json()

        async def record(written: dict[str, Json]) -> None:
            await worker.line.record_all(mutation_id, WrittenBack.from_json(written))

        proposal = await DBOS.run_step_async({"name": "prove"}, prove)
        body = await DBOS.run_step_async({"name": "publish"}, publish, proposal)
        await DBOS.run_step_async({"name": "record"}, record, body)
        return body

    async def _applied(self, worker: Worker, mutation_id: str, corrects: int) -> AppliedMutation:
        """The mutation. A process that resumes the work of a killed one reads it from the ledger first."""
        backlog = worker.backlog
        if mutation_id not in backlog.decided or (corrects and mutation_id not in backlog.left):
            await backlog.read(worker.line.queries)
        waits = mutation_id in backlog.decided
        if not waits or (corrects and (mutation_id not in backlog.left or backlog.left[mutation_id].seq != corrects)):
            message = f"The ledger has no applied mutation {mutation_id} that waits to be written back."
            raise LedgerUnavailable(message)
        return replace(backlog.decided[mutation_id], corrects=corrects)


@asynccontextmanager
async def durable(
    workers: Mapping[str, Worker],
    *,
    database: str,
    key: bytes,
    poll_seconds: float,
    receivers: Mapping[str, ReceiverWorker] | None = None,
) -> AsyncIterator[Runner]:
    """Run DBOS with its state in `database` (an SQLAlchemy URL), sealed with the key, for the duration of the block. DBOS makes no network calls
    here.
    """
    refuse_unsealed()
    config: DBOSConfig = {
        "name": "sentinel-reconciler",
        "system_database_url": database,
        "application_version": _VERSION,
        "executor_id": "reconciler",
        "enable_otlp": False,
        "serializer": SealedSerializer(key),
        "log_level": "ERROR",
        "notification_listener_polling_interval_sec": max(poll_seconds, 0.05),
    }
    loop = asyncio.get_running_loop()
    lifecycle = ThreadPoolExecutor(max_workers=1, thread_name_prefix="dbos-lifecycle")
    DBOS(config=config)
    try:
        runner = Runner(workers, poll_seconds=poll_seconds, receivers=receivers)
        await loop.run_in_executor(lifecycle, DBOS.launch)
        await runner.register()
        yield runner
    finally:
        await loop.run_in_executor(lifecycle, lambda: DBOS.destroy(destroy_registry=True))
        lifecycle.shutdown()
        # DBOS made its own thread pool the loop's default and closed it; closing the ledger still needs a default pool.
        loop.set_default_executor(ThreadPoolExecutor())


async def serve(
    workers: Mapping[str, Worker],
    *,
    database: str,
    key: bytes,
    poll_seconds: float,
    stop: asyncio.Event,
    elsewhere: ReadBack | None = None,
    receivers: Mapping[str, ReceiverWorker] | None = None,
) -> None:
    """Write back until `stop` is set, and tell the receivers. `elsewhere` settles the mutations in doubt that belong to no stack."""
    opened = durable(workers, database=database, key=key, poll_seconds=poll_seconds, receivers=receivers)
    async with opened as runner, asyncio.TaskGroup() as group:
        group.create_task(runner.notices.run(poll_seconds, stop))
        for worker in workers.values():
            worker.stop = stop
            for work, seconds in (
                (worker.run_once, poll_seconds),
                (worker.put_back, min(poll_seconds, _PUT_BACK_SECONDS)),
            ):
                group.create_task(_run(worker.line.stack, partial(work, runner), seconds, stop))
            if worker.pushing is not None:
                group.create_task(worker.pushing.run(poll_seconds, stop))
        if elsewhere is not None:
            group.create_task(_run("", partial(_settle_elsewhere, elsewhere), poll_seconds, stop))


async def _settle_elsewhere(elsewhere: ReadBack) -> None:
    """Settle what no worker does. Nothing is read for it, so it needs no workflow. Raises as `ReadBack`."""
    for doubt in await elsewhere.due():
        elsewhere.looked(doubt.mutation_id)
        await elsewhere.settle(doubt.mutation_id, await elsewhere.look(doubt.mutation_id))


async def _run(stack: str, work: Callable[[], Awaitable[object]], poll_seconds: float, stop: asyncio.Event) -> None:
    broken = Retry()
    while not stop.is_set():
        wait = poll_seconds
        try:
            await work()
            broken = Retry()
        except SentinelError as error:
            log.error("round_not_finished", stack=stack, error=str(error))  # noqa: TRY400  the sentence is complete without a traceback
        except Exception:
            # One stack's odd answer, or a full disk, must not end the work of the others.
            wait = max(poll_seconds, min(broken.failed(), _LONGEST_PAUSE))
            log.exception("round_broke", stack=stack, again_in_seconds=wait)
        try:
            await asyncio.wait_for(stop.wait(), wait)
        except TimeoutError:
            continue


def _queue(stack: str) -> str:
    return f"stack-{stack}"


def _put_back_queue(stack: str) -> str:
    return f"put-backs-{stack}"
