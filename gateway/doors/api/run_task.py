"""Answers HCP Terraform's run task: verifies the request, has the plan judged, and reports the result to its callback.

The process is this module: a plan on standard input, on standard output its changes, or why it is refused.

Source: https://developer.hashicorp.com/terraform/cloud-docs/api-docs/run-tasks/run-tasks-integration
"""

import asyncio
import hashlib
import hmac
import json
import os
import subprocess
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Protocol
from urllib.parse import urlsplit

import structlog
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gateway.core.errors import Malformed, NotAllowed, NotAuthenticated, NotFound, Overloaded, SentinelError
from gateway.core.http.strict_parsers import json_value
from gateway.core.model.caller import Caller
from gateway.core.model.ids import digest_id
from gateway.core.model.inbound import Inbound
from gateway.core.model.plan import Plan, change_to_json
from gateway.core.model.verdict import Verdict
from gateway.core.outbound.addresses import is_loopback
from gateway.core.ports import Clock, KeyRing, LedgerQueries, RecordQuery
from gateway.core.settings.run_task import RunTaskSettings
from gateway.doors.api.problems import validation_messages
from gateway.doors.api.request_bodies import PlanBody
from gateway.plans.check import PlanCheck
from gateway.plans.document import read_plan
from gateway.plans.report import plan_headline, plan_markdown, plan_report

SMALL: Final = 256 * 1024
"""Bytes of a plan that is read here, in a thread: it takes a few milliseconds."""
_SECONDS: Final = 120


async def read_apart(source: bytes) -> Plan:
    """The plan in `source`, without its secrets. Raises `errors.Malformed`."""
    return await asyncio.to_thread(read_plan if len(source) <= SMALL else _read_in_process, source)


def _read_in_process(source: bytes) -> Plan:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SENTINEL_")}
    command = [sys.executable, "-P", "-m", __name__]
    try:
        done = subprocess.run(command, input=source, capture_output=True, env=environment, timeout=_SECONDS, check=True)
        answer = json.loads(done.stdout)
    except (subprocess.SubprocessError, OSError, ValueError):
        raise Malformed(
            "The plan could not be read; nothing of it was checked. Check it with `sentinel plan-check`."
        ) from None
    if "refused" in answer:
        raise Malformed(answer["refused"], code=answer["code"])
    return PlanBody.model_validate(answer).plan()


def answer_of(source: bytes) -> dict[str, Any]:
    """The answer of the process: the plan, or the reason why it is refused."""
    try:
        plan = read_plan(source)
    except Malformed as refused:
        return {"refused": str(refused), "code": refused.code}
    return {"terraform_version": plan.terraform_version, "changes": [change_to_json(change) for change in plan.changes]}


if __name__ == "__main__":
    json.dump(answer_of(sys.stdin.buffer.read()), sys.stdout)


SIGNATURE: Final = "x-tfc-task-signature"
TEST_TOKEN: Final = "test-token"  # noqa: S105  what HCP Terraform sends when somebody sets the run task up
_STAGES: Final = ("post_plan", "pre_apply")
"""The stages before an apply that have a plan."""

Url = Annotated[str, Field(max_length=2048)]


class RunTaskRequest(BaseModel):
    """A request of HCP Terraform. Members that Sentinel does not use are ignored: newer versions add some."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    payload_version: int
    stage: Annotated[str, Field(max_length=64)]
    access_token: Annotated[str, Field(min_length=1, max_length=4096, repr=False)]
    task_result_id: Annotated[str, Field(max_length=128)] = ""
    task_result_callback_url: Url = ""
    plan_json_api_url: Url | None = None
    organization_name: Annotated[str, Field(max_length=256)] = ""
    workspace_name: Annotated[str, Field(max_length=256)] = ""
    run_id: Annotated[str, Field(max_length=128)] = ""

    @property
    def is_test(self) -> bool:
        """Whether somebody is only setting the run task up."""
        return self.access_token == TEST_TOKEN

    @property
    def has_plan(self) -> bool:
        """Whether its stage is one before an apply, with a plan."""
        return self.stage in _STAGES and bool(self.plan_json_api_url)


def verify_signature(raw: bytes, signature: str | None, key: str) -> None:
    """Raise `errors.NotAuthenticated` unless the signature is the HMAC-SHA512 of the body as it arrived."""
    wanted = hmac.new(key.encode(), raw, hashlib.sha512).hexdigest()
    if signature is None or not hmac.compare_digest(wanted.encode(), signature.strip().lower().encode()):
        raise NotAuthenticated(
            "The request of the run task is not signed with its HMAC key (X-Tfc-Task-Signature), so it was not read. "
            "Set the same key there and as `run_task.hmac_key`."
        )


def read_request(raw: bytes, hosts: Collection[str]) -> RunTaskRequest:
    """The request, which must be verified before. Raises `errors.Malformed`, and `errors.NotAllowed` for a URL of another host."""
    try:
        request = RunTaskRequest.model_validate(json_value(raw))
    except ValidationError as error:
        raise Malformed(f"The request of the run task cannot be read: {validation_messages(error.errors())}.") from None
    if request.payload_version != 1:
        raise Malformed(
            "The request of the run task has a payload_version that this Sentinel does not know; it knows 1."
        )
    if request.is_test:
        return request
    if not request.task_result_id or not request.task_result_callback_url:
        raise Malformed("The request of the run task has no task_result_id or no task_result_callback_url.")
    for url in (request.task_result_callback_url, request.plan_json_api_url or ""):
        if url:
            require_listed(url, hosts)
    return request


def require_listed(url: str, hosts: Collection[str]) -> None:
    """Raise `errors.NotAllowed` unless the URL leads to one of the hosts: over https, or over http on this machine."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port, parts = "", None, urlsplit("")
    name = host if port is None else f"{host}:{port}"
    secure = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host))
    odd = parts.username is not None or parts.password is not None or "\\" in url or not url.isprintable() or " " in url
    if name not in hosts or not secure or odd:
        raise NotAllowed(
            f"The run task names the host {name[:100]!r}, which is not among `run_task.hosts`, or no https URL. It was not asked."
        )


_MOST_OUTCOMES: Final = 50
_LONGEST: Final = 1000
_LABELS: Final = {Verdict.DENY.value: ("Denied", "error"), Verdict.HOLD.value: ("Held for a human", "warning")}


def failed_result(sentence: str) -> dict[str, Any]:
    """The result of a plan that could not be judged."""
    return _document("failed", sentence, [])


def result_of(report: Mapping[str, Any]) -> dict[str, Any]:
    """The result of a judged plan: passed or failed, with the whole report and one outcome for each objection."""
    objections = report["decision"]["findings"]
    outcomes = [_outcome(number, finding) for number, finding in enumerate(objections[:_MOST_OUTCOMES], start=1)]
    whole = {"outcome-id": report["plan"]["id"], "description": "The whole report", "body": plan_markdown(report)}
    return _document("passed" if report["passes"] else "failed", plan_headline(report), [_typed(whole), *outcomes])


def _outcome(number: int, finding: Mapping[str, Any]) -> dict[str, Any]:
    label, level = _LABELS[finding["verdict"]]
    return _typed(
        {
            "outcome-id": f"{finding['rule']}-{number}",
            "description": finding["reason"][:_LONGEST],
            "tags": {
                "Status": [{"label": label, "level": level}],
                "Resource": [{"label": finding["address"][:200] or "the whole plan", "level": "none"}],
            },
        }
    )


def _typed(attributes: dict[str, Any]) -> dict[str, Any]:
    return {"type": "task-result-outcomes", "attributes": attributes}


def _document(status: str, message: str, outcomes: list[dict[str, Any]]) -> dict[str, Any]:
    data: dict[str, Any] = {"type": "task-results", "attributes": {"status": status, "message": message[:_LONGEST]}}
    if outcomes:
        data["relationships"] = {"outcomes": {"data": outcomes}}
    return {"data": data}


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
        """Verify a request and start judging its plan in a task. Returns the state of the request, in one word.

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
        return key.caller

    def _stack(self, request: RunTaskRequest) -> str:
        """The stack of the request's workspace; empty for the only one."""
        names = (f"{request.organization_name}/{request.workspace_name}", request.workspace_name)
        mapped = next((self.settings.stacks[name] for name in names if name in self.settings.stacks), "")
        return mapped or (request.workspace_name if request.workspace_name in self.stacks else "")
