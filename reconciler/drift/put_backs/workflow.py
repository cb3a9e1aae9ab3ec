"""The durable workflow of a put-back: look, record what is left as it is, have the gateway put back the rest."""

from collections.abc import Callable, Mapping
from typing import Any

from dbos import DBOS, SetWorkflowID
from dbos import error as dbos_error

from gateway.core.errors import LedgerUnavailable
from gateway.core.model.ids import new_id
from gateway.core.model.json import Json
from reconciler.drift.put_backs.put_back import PutBacks
from reconciler.errors import PutBackInterrupted


class PutBackWorkflow:
    """Registers the workflow. Make only one per process, before DBOS is launched.

    A killed process goes on with the step that it was at. None of them does harm a second time: the ledger lets a change be put back once.
    """

    def __init__(self, stacks: Mapping[str, PutBacks], *, queue: Callable[[str], str], poll_seconds: float) -> None:
        """`queue` names the queue of a stack."""
        self._stacks = stacks
        self._queue = queue
        self._poll_seconds = poll_seconds

        # DBOS marks the function it registers, which a bound method does not allow.
        async def put_back(stack: str, mutation_id: str) -> dict[str, Any]:
            return await self._put_back(stack, mutation_id)

        self._workflow = DBOS.workflow(name="put_back")(put_back)

    async def run(self, stack: str, mutation_id: str) -> dict[str, Any]:
        """Put a change back; what the gateway said, or nothing if it was not asked.

        Raises what `PutBacks` raises, and `errors.PutBackInterrupted` if the workflow ended otherwise.
        """
        with SetWorkflowID(new_id("back")):
            handle = await DBOS.enqueue_workflow_async(self._queue(stack), self._workflow, stack, mutation_id)
        try:
            return await handle.get_result(polling_interval_sec=self._poll_seconds)
        except dbos_error.DBOSException as error:
            raise PutBackInterrupted(f"The put-back of {mutation_id} was interrupted: {error}") from error

    async def _put_back(self, stack: str, mutation_id: str) -> dict[str, Any]:
        putting_back = self._stacks.get(stack)
        if putting_back is None:
            raise LedgerUnavailable(f"This reconciler does not know the stack {stack}, so it puts nothing of it back.")

        async def look() -> dict[str, Any]:
            return dict(await putting_back.look(mutation_id))

        async def leave(left: list[dict[str, Any]]) -> None:
            await putting_back.leave(mutation_id, left)

        async def send() -> dict[str, Json]:
            return await putting_back.send(mutation_id)

        seen = await DBOS.run_step_async({"name": "look"}, look)
        if seen["left"]:
            await DBOS.run_step_async({"name": "leave"}, leave, seen["left"])
        return await DBOS.run_step_async({"name": "send"}, send) if seen["send"] else {}
