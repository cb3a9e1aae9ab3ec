"""Runs the line for every stack, durably: each mutation is one DBOS workflow, and each stack's workflows take turns."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import structlog
from dbos import DBOS, DBOSConfig, SetWorkflowID
from dbos import error as dbos_error

from gateway.errors import LedgerUnavailable, SentinelError
from reconciler.backlog import Backlog
from reconciler.drift.applied import AppliedMutation
from reconciler.errors import GitFailed
from reconciler.loop import Line

_VERSION = "sentinel-1"
"""DBOS goes on only with workflows of the same version: what the steps hand each other is plain JSON, so it stays until that changes."""
_LONGEST_WAIT = 600.0
_STALE_LOCK = 900.0

log = structlog.get_logger()


@dataclass(slots=True)
class _Tries:
    """How often a mutation was tried in vain, and when it may be tried again (monotonic seconds)."""

    count: int = 0
    again_at: float = 0.0

    def failed(self) -> float:
        """Note a failure; the seconds to wait."""
        self.count += 1
        wait = min(2.0**self.count, _LONGEST_WAIT)
        self.again_at = time.monotonic() + wait
        return wait


@dataclass(slots=True)
class Worker:
    """Looks after one stack."""

    line: Line
    book: Backlog
    tries: dict[str, _Tries] = field(default_factory=dict)
    seen_head: str = ""
    """The protected branch's commit when it was last looked through."""

    async def work_off(self, runner: "Runner") -> int:
        """Read the ledger and write back what is due, oldest first; how many were. One that fails never keeps the others back."""
        await self.book.read(self.line.archive)
        done = 0
        for applied in self.book.pending():
            tries = self.tries.setdefault(applied.id, _Tries())
            if tries.again_at > time.monotonic() or terraform_is_applying(self.line.state):
                continue
            if await self._one(runner, applied, tries):
                done += 1
        await self._take_merged()
        if done:
            await self.book.read(self.line.archive)
        return done

    async def _take_merged(self) -> None:
        """Look for merged mutations, only where the protected branch moved on."""
        if not self.book.committed:
            return
        try:
            head = await self.line.protected_head()
            if head != self.seen_head:
                await self.line.record_merges(self.book)
                self.seen_head = head
        except GitFailed as error:
            log.error("merges_not_seen", stack=self.line.stack, error=str(error))  # noqa: TRY400  the sentence says it all

    async def _one(self, runner: "Runner", applied: AppliedMutation, tries: _Tries) -> bool:
        began = time.monotonic()
        bound = log.bind(stack=self.line.stack, mutation=applied.id)
        try:
            body = await runner.run(self.line.stack, applied.id, attempt=tries.count)
        except (SentinelError, dbos_error.DBOSException, OSError, ValueError, KeyError, TypeError) as error:
            bound.error("not_written_back", error=str(error), again_in_seconds=tries.failed())
            return False
        self.tries.pop(applied.id, None)
        bound.info(
            "written_back",
            commit=body.get("commit", ""),
            left=len(body.get("left", [])),
            seconds=round(time.monotonic() - began, 2),
        )
        return True


class Runner:
    """The DBOS workflow and its three steps. One in a process, since DBOS is one in a process."""

    def __init__(self, workers: Mapping[str, Worker], *, poll_seconds: float) -> None:
        self._workers = workers
        self._poll_seconds = poll_seconds

        # DBOS marks the function it registers, which a bound method does not allow.
        async def write_back(stack: str, mutation_id: str) -> dict[str, Any]:
            return await self._write_back(stack, mutation_id)

        self._workflow = DBOS.workflow(name="write_back")(write_back)

    async def register(self) -> None:
        """Make the queues, one a stack, each with one workflow at a time."""
        for stack in self._workers:
            await DBOS.register_queue_async(
                _queue(stack),
                global_concurrency=1,
                polling_interval_sec=self._poll_seconds,
                on_conflict="always_update",
            )

    async def run(self, stack: str, mutation_id: str, *, attempt: int) -> dict[str, Any]:
        """Enqueue the workflow of a mutation and wait for it; one that ran or runs already is only waited for.

        Raises what the line raises.
        """
        with SetWorkflowID(f"{mutation_id}.{attempt}" if attempt else mutation_id):
            handle = await DBOS.enqueue_workflow_async(_queue(stack), self._workflow, stack, mutation_id)
        return await handle.get_result(polling_interval_sec=self._poll_seconds)

    async def _write_back(self, stack: str, mutation_id: str) -> dict[str, Any]:
        worker = self._workers[stack]

        async def prove() -> dict[str, Any]:
            return await worker.line.prove(await self._applied(worker, mutation_id), worker.book)

        async def publish(proved: dict[str, Any]) -> dict[str, Any]:
            return await worker.line.publish(await self._applied(worker, mutation_id), worker.book, proved)

        async def record(body: dict[str, Any]) -> None:
            await worker.line.record(await self._applied(worker, mutation_id), body)

        proved = await DBOS.run_step_async({"name": "prove"}, prove)
        body = await DBOS.run_step_async({"name": "publish"}, publish, proved)
        await DBOS.run_step_async({"name": "record"}, record, body)
        return body

    async def _applied(self, worker: Worker, mutation_id: str) -> AppliedMutation:
        """The mutation, read from the ledger where this process has not seen it yet (it goes on with an earlier one's work)."""
        if mutation_id not in worker.book.decided:
            await worker.book.read(worker.line.archive)
        if mutation_id not in worker.book.decided:
            message = f"The ledger knows no applied mutation {mutation_id} that waits to be written back."
            raise LedgerUnavailable(message)
        return worker.book.decided[mutation_id]


@asynccontextmanager
async def durable(workers: Mapping[str, Worker], *, database: str, poll_seconds: float) -> AsyncIterator[Runner]:
    """DBOS with its state in `database` (a SQLAlchemy URL), for as long as the block runs. It calls no network."""
    config: DBOSConfig = {
        "name": "sentinel-reconciler",
        "system_database_url": database,
        "application_version": _VERSION,
        "executor_id": "reconciler",
        "enable_otlp": False,
        "log_level": "ERROR",
        "notification_listener_polling_interval_sec": max(poll_seconds, 0.05),
    }
    loop = asyncio.get_running_loop()
    own = ThreadPoolExecutor(max_workers=1, thread_name_prefix="dbos-life")
    DBOS(config=config)
    try:
        runner = Runner(workers, poll_seconds=poll_seconds)
        await loop.run_in_executor(own, DBOS.launch)
        await runner.register()
        yield runner
    finally:
        await loop.run_in_executor(own, lambda: DBOS.destroy(destroy_registry=True))
        own.shutdown()
        # DBOS made its own pool this loop's default and has closed it; whoever still has to close something needs one.
        loop.set_default_executor(ThreadPoolExecutor())


async def serve(workers: Mapping[str, Worker], *, database: str, poll_seconds: float, stop: asyncio.Event) -> None:
    """Write back until `stop` is set."""
    async with durable(workers, database=database, poll_seconds=poll_seconds) as runner, asyncio.TaskGroup() as group:
        for worker in workers.values():
            group.create_task(_attend(worker, runner, poll_seconds, stop))


async def _attend(worker: Worker, runner: Runner, poll_seconds: float, stop: asyncio.Event) -> None:
    while not stop.is_set():
        try:
            await worker.work_off(runner)
        except LedgerUnavailable as error:
            log.error("ledger_unavailable", stack=worker.line.stack, error=str(error))  # noqa: TRY400  the sentence says it all
        try:
            await asyncio.wait_for(stop.wait(), poll_seconds)
        except TimeoutError:
            continue


def terraform_is_applying(state: Path | None) -> bool:
    """Whether a terraform holds the lock on the state file: then code, state and live are still moving.

    The local backend keeps its lock in `.NAME.lock.info` beside the state; one older than 15 minutes was left by a terraform that was killed.
    """
    if state is None:
        return False
    try:
        age = time.time() - (state.parent / f".{state.name}.lock.info").stat().st_mtime
    except OSError:
        return False
    return age < _STALE_LOCK


def _queue(stack: str) -> str:
    return f"stack-{stack}"
