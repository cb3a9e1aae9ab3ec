"""Answers HCP Terraform's run task: takes the request, has the plan judged beside, and reports the result to its callback."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import structlog

from gateway.authn.caller import caller_of
from gateway.doors.api.plan_reader import read_apart
from gateway.doors.api.run_task_request import SIGNATURE, RunTaskRequest, read_request, verify_signature
from gateway.doors.api.run_task_result import failed_result, result_of
from gateway.doors.plan_report import plan_report
from gateway.errors import Malformed, NotAuthenticated, NotFound, Overloaded, SentinelError
from gateway.model.caller import Caller
from gateway.model.ids import digest_id
from gateway.model.inbound import Inbound
from gateway.plan_check import PlanCheck
from gateway.ports import Clock, KeyRing, LedgerQueries, RecordQuery
from gateway.settings_run_task import RunTaskSettings

log = structlog.get_logger()

MOST_AT_ONCE: Final = 8
"""Plans that are fetched and judged at the same time."""
_LAST_SECONDS: Final = 10.0
LARGEST_REQUEST: Final = 64 * 1024
"""Bytes of a request."""


class RunTaskHost(Protocol):
    """The API of HCP Terraform, as far as a run task needs it."""

    async def plan(self, url: str, token: str) -> bytes:
        """The plan in JSON. Raises a `SentinelError` if it cannot be had."""
        ...

    async def report(self, url: str, token: str, document: dict[str, Any]) -> None:
        """Send the result. Raises a `SentinelError` if it was not taken."""
        ...


@dataclass(slots=True, kw_only=True)
class HcpRunTask:
    """The run task of one gateway."""

    settings: RunTaskSettings
    host: RunTaskHost
    plans: PlanCheck
    keys: KeyRing
    queries: LedgerQueries
    clock: Clock
    stacks: Collection[str]
    """The names of the stacks."""
    _reading: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))
    _running: dict[str, "asyncio.Task[None]"] = field(default_factory=dict)

    async def take(self, inbound: Inbound) -> str:
        """Verify a request and begin its work, which goes on beside. What becomes of it, in one word.

        Raises `errors.NotFound` if there is no run task here, `errors.NotAuthenticated` before the body is parsed, `errors.Malformed`,
        `errors.NotAllowed`, `errors.Overloaded`, `errors.LedgerUnavailable`.
        """
        key = self.settings.hmac_key.get_secret_value()
        if not key:
            raise NotFound("This gateway has no run task: `run_task.hmac_key` is not set.")
        raw = await inbound.read_body()
        verify_signature(raw, inbound.header(SIGNATURE), key)
        request = read_request(raw, self.settings.hosts)
        if request.is_test:
            return "verified"
        check_id = digest_id("pln", "hcp", request.task_result_id)
        if check_id in self._running or await self.queries.records(RecordQuery(mutation_id=check_id, limit=1)):
            return "repeated"
        if len(self._running) >= MOST_AT_ONCE:
            raise Overloaded(f"{MOST_AT_ONCE} plans are being judged; HCP Terraform asks again.")
        self._running[check_id] = asyncio.ensure_future(self._judge(request, check_id))
        self._running[check_id].add_done_callback(lambda _: self._running.pop(check_id, None))
        return "taken"

    async def close(self) -> None:
        """Give the plans that were taken a little time, then let go of them: HCP Terraform takes silence for a failure."""
        if self._running:
            _, late = await asyncio.wait(self._running.values(), timeout=_LAST_SECONDS)
            for task in late:
                task.cancel()

    async def _judge(self, request: RunTaskRequest, check_id: str) -> None:
        """Judge one plan and report the result. Whatever goes wrong is a failed result: a run that must pass then stops."""
        try:
            document = await self._result(request, check_id)
        except SentinelError as error:
            document = failed_result(str(error))
        except Exception as error:  # noqa: BLE001  the traceback could show values of the plan
            log.error("run_task_broke", run=request.run_id, error=type(error).__name__)  # noqa: TRY400  as above
            document = failed_result("Sentinel had an internal error, so the plan was not judged; its log says more.")
        try:
            await self.host.report(request.task_result_callback_url, request.access_token, document)
        except SentinelError as error:
            log.error("run_task_not_reported", run=request.run_id, reason=str(error))  # noqa: TRY400  the message says enough

    async def _result(self, request: RunTaskRequest, check_id: str) -> dict[str, Any]:
        if not request.has_plan:
            raise Malformed(f"Sentinel judges plans: run it at post_plan or pre_apply, not at {request.stage}.")
        caller = await self._caller()
        async with self._reading:  # one at a time: a plan may be large
            plan = await read_apart(await self.host.plan(request.plan_json_api_url or "", request.access_token))
        origin = f"hcp {request.organization_name}/{request.workspace_name} {request.run_id}"
        verdict = await self.plans.check(caller, plan, stack=self._stack(request), origin=origin, check_id=check_id)
        return result_of(plan_report(verdict, sees_all=caller.sees_all))

    async def _caller(self) -> Caller:
        """The owner of the key that the runs apply with. Raises `errors.NotAuthenticated`."""
        key = await self.keys.find(self.settings.key_id)
        if key is None or key.ended(self.clock.now()):
            raise NotAuthenticated(
                "The key `run_task.key_id` does not exist or has ended, so plans are not judged as its actor's."
            )
        return caller_of(key)

    def _stack(self, request: RunTaskRequest) -> str:
        """The stack of the request's workspace; empty for the only one."""
        names = (f"{request.organization_name}/{request.workspace_name}", request.workspace_name)
        mapped = next((self.settings.stacks[name] for name in names if name in self.settings.stacks), "")
        return mapped or (request.workspace_name if request.workspace_name in self.stacks else "")
