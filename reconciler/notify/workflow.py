"""The durable workflow of a batch of notices: send, record. A process that is killed between the two records what was answered, and sends nothing again."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import structlog
from dbos import DBOS, SetWorkflowID, WorkflowHandleAsync
from dbos import error as dbos_error

from gateway.core.errors import LedgerUnavailable
from gateway.core.model.ids import new_id
from gateway.core.model.json import Json
from reconciler.errors import NoticeInterrupted
from reconciler.notify.delivery import ReceiverWorker

log = structlog.get_logger()

_NAME = "notify"
_UNFINISHED = ["PENDING", "ENQUEUED"]
_LAST_SECONDS = 5.0


class NoticeWorkflow:
    """Registers the workflow. Make only one per process, before DBOS is launched."""

    def __init__(self, receivers: Mapping[str, ReceiverWorker], *, poll_seconds: float) -> None:
        self._receivers = receivers
        self._poll_seconds = poll_seconds

        # DBOS marks the function it registers, which a bound method does not allow.
        async def notify(name: str, outbox: dict[str, Any], keys: list[Any]) -> int:
            return await self._deliver(name, outbox, keys)

        self._workflow = DBOS.workflow(name=_NAME)(notify)

    async def deliver(self, name: str, outbox: Mapping[str, Json], keys: Sequence[tuple[int, int]]) -> int:
        """Send these notices and record what came of it. Raises `errors.LedgerUnavailable`, `errors.NoticeInterrupted`."""
        with SetWorkflowID(new_id(_NAME)):
            handle: WorkflowHandleAsync[int] = await DBOS.start_workflow_async(
                self._workflow, name, dict(outbox), [list(key) for key in keys]
            )
        try:
            sent = await handle.get_result(polling_interval_sec=self._poll_seconds)
            # The ledger has what came of it. Nothing else would ever end what DBOS keeps of a batch.
            await DBOS.delete_workflow_async(handle.workflow_id)
        except dbos_error.DBOSException as error:
            raise NoticeInterrupted(f"Notices to {name} were interrupted; they are sent again.") from error
        return sent

    async def run(self, poll_seconds: float, stop: asyncio.Event) -> None:
        """Deliver to every receiver until `stop` is set; one that fails does not hold up the others."""
        await self._finish_earlier()
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(each.run(self, poll_seconds, stop)) for each in self._receivers.values()]
            await stop.wait()
            if tasks:
                _, late = await asyncio.wait(tasks, timeout=_LAST_SECONDS)
                for task in late:
                    task.cancel()  # DBOS goes on with the batch at the next start

    async def _finish_earlier(self) -> None:
        """Wait for the batches that a killed process left: DBOS goes on with them by itself, and what they record counts."""
        if not self._receivers:
            return
        version = DBOS.application_version  # DBOS does not go on with what another version left
        try:
            left = await DBOS.list_workflows_async(name=_NAME, status=_UNFINISHED, app_version=version)
        except dbos_error.DBOSException as error:
            log.warning("notices_sent_again", error=type(error).__name__)
            return
        for each in left:
            handle: WorkflowHandleAsync[int] = await DBOS.retrieve_workflow_async(each.workflow_id)
            try:
                await handle.get_result(polling_interval_sec=self._poll_seconds)
            except Exception as error:  # noqa: BLE001  whatever it raised, its notices are still open in the ledger
                log.warning("notices_sent_again", error=type(error).__name__)

    async def _deliver(self, name: str, outbox: dict[str, Any], keys: list[Any]) -> int:
        receiver = self._receivers.get(name)
        if receiver is None:
            raise LedgerUnavailable(f"There is no receiver {name} in the settings any more, so nothing is sent to it.")

        async def send() -> list[dict[str, Json]]:
            return await receiver.send([(seq, asked) for seq, asked in keys])

        async def record(attempted: list[dict[str, Any]]) -> None:
            await receiver.record(outbox, attempted)

        attempted = await DBOS.run_step_async({"name": "send"}, send)
        await DBOS.run_step_async({"name": "record"}, record, attempted)
        return len(attempted)
