"""A gateway or a reconciler in a process of its own (see `tests.kit.fork_server`) that kills itself with SIGKILL at one point."""

import asyncio
import json
import logging
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import structlog
import uvicorn

from gateway.app.running import running
from gateway.core.exception_text import lossy
from gateway.core.failpoints import Point, arm
from gateway.core.settings import ServerSettings, Settings, StackSettings, UpstreamSettings
from gateway.doors.timeouts import TimeoutProtocol
from gateway.ledger.ledger_keys import master_key_of, workflows_key
from gateway.ledger.sealed_ledger import open_sealed_ledger
from gateway.policy import embedded
from reconciler.app import workflows_database
from reconciler.changes.applied_mutation import AppliedMutation
from reconciler.changes.backlog import Backlog
from reconciler.drift.in_doubt.read_back import ReadBack
from reconciler.line.loop import Beside, Line
from reconciler.line.proposal import Proposal
from reconciler.proof.proved_edit import DeclaredCache
from reconciler.publish.git import TRAILER
from reconciler.publish.publisher import Publisher
from reconciler.publish.push import Remote
from reconciler.terraform.cli import Terraform
from reconciler.terraform.refresh import Refreshed
from reconciler.workflows import Worker, durable
from tests.bench.stub import JSON
from tests.chaos.aws import append, live
from tests.chaos.points import ALL, DOUBTFUL
from tests.chaos.stack import ADDRESS, ATTRIBUTE, BRANCH, LONGEST, STACK, with_value, write_stack
from tests.kit.forked import new_engine
from tests.kit.policy_code import compiled_once
from tests.kit.signed_requests import Signer

_POINTS: Final = {each.name: each for each in (*ALL, *DOUBTFUL)}
_ROUNDS: Final = 200
_UNAVAILABLE: Final = 503


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """What one process is to do. It arrives as JSON."""

    data: str
    ledger: str
    aws: int
    """The port of AWS."""
    log: str
    """The file that says what AWS carried out."""
    stack: str
    ahead: float
    """Seconds by which the clock is ahead."""
    key_id: str
    secret: str
    told: str
    """The file for what was seen."""
    trace: str = ""
    """The file to which the points are appended that were passed; empty: none."""
    process: int = 0
    """The number of the process, for the trace."""
    kill: str = ""
    """The name of the point to die at; empty: none."""
    full_at: str = ""
    """The point from which on the disk takes no more; empty: never. It takes again once the client has its answer."""
    room: int = 0
    """How many bytes it still takes in a file then, beyond what the largest file has."""
    jump_at: str = ""
    """The point at which somebody sets the clock."""
    jump: float = 0
    """By how many seconds."""
    settle: bool = False
    """Whether to settle what is in doubt, as the reconciler does."""
    queue: int = 0
    value: int = 0
    """What to ask for; 0: nothing."""
    door: str = "aws"
    idempotency_key: str = ""
    write_back: bool = False

    @property
    def settings(self) -> Settings:
        """Those of the gateway and the reconciler."""
        return Settings(
            data=Path(self.data),
            ledger=self.ledger,
            server=ServerSettings(lease_seconds=30),
            upstream=UpstreamSettings(simulated=f"http://127.0.0.1:{self.aws}"),
            stacks=(StackSettings(name=STACK, path=Path(self.stack)),),
        )


@dataclass(slots=True)
class Ahead:
    """A clock that is ahead of this machine's, or behind, and can be set."""

    seconds: float = 0.0

    def now(self) -> datetime:
        """The time."""
        return datetime.now(UTC) + timedelta(seconds=self.seconds)


async def warm() -> None:
    """Start and end a gateway that is asked once: what is compiled and read for that is in the memory that every run is forked from."""
    embedded.new_engine = new_engine
    embedded.compiled = compiled_once
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR),
        logger_factory=structlog.PrintLoggerFactory(lossy(sys.stderr)),
    )
    with tempfile.TemporaryDirectory() as directory:
        stack = write_stack(Path(directory) / "stack", Path(directory) / "remote.git", 1)
        spec = Spec(
            data=str(Path(directory) / "data"),
            ledger="",
            aws=1,
            log="",
            stack=str(stack),
            ahead=0,
            key_id=f"SNTL{'A' * 16}",
            secret="nobody's",
            told="",
            value=1,
        )
        for door in ("aws", "api"):
            async with open_gateway(spec.settings) as url:
                await _ask(replace(spec, door=door), url, Ahead())


async def main(members: dict[str, Any]) -> None:
    """Start a gateway, settle, ask and write back, as far as the spec says; what was seen is written to its file."""
    spec = Spec(**members)
    seen: dict[str, Any] = {}
    clock = Ahead(spec.ahead)
    _arm(spec, clock)
    if spec.write_back:
        await _write_back(spec, clock)
    else:
        seen = await _carry_on(spec, clock)
    _tell(spec, seen)


async def _carry_on(spec: Spec, clock: Ahead) -> dict[str, Any]:
    """Start a gateway, settle what is in doubt, and ask; what was seen."""
    seen: dict[str, Any] = {}
    began = time.perf_counter()
    with patch("gateway.app.running.SystemClock", lambda: clock):
        async with open_gateway(spec.settings) as url:
            seen["ready"] = time.perf_counter() - began
            if spec.settle:
                await _settle(spec, clock)
            seen["recovered"] = time.perf_counter() - began
            if spec.value:
                seen["answer"] = await _ask(spec, url, clock)
            if spec.full_at:
                resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
                seen["again"] = await _ask_until_known(spec, url, clock)
    return seen


def _fill(data: Path, room: int) -> None:
    """From now on no file can be written beyond this size. Python ignores the signal that comes with it, so a write fails."""
    largest = max(each.stat().st_size for each in data.iterdir() if each.is_file()) if room else 0
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest + room, resource.RLIM_INFINITY))


async def _ask_until_known(spec: Spec, url: str, clock: Ahead) -> dict[str, Any]:
    """The answer to the repeat once the first attempt is not under way any more."""
    async with asyncio.timeout(300):
        while True:
            answer = await _ask(spec, url, clock)
            if answer["status"] != _UNAVAILABLE and b"ConcurrentRequest" not in answer["body"].encode():
                return answer
            await asyncio.sleep(0.1)


def _tell(spec: Spec, seen: dict[str, Any]) -> None:
    Path(spec.told).write_text(json.dumps(seen))


def _arm(spec: Spec, clock: Ahead) -> None:
    wanted, passed = _POINTS.get(spec.kill), set[Point]()

    def hit(point: Point, *there: Any) -> None:
        if spec.trace:
            append(Path(spec.trace), {"process": spec.process, "event": point.name})
        if point.name == spec.full_at and point not in passed:
            _fill(Path(spec.data), spec.room)
        if point.name == spec.jump_at and point not in passed:
            clock.seconds += spec.jump
        if wanted is not None and point is wanted.point and (wanted.after is None or wanted.after in passed):
            if point in (Point.HALF_SENT, Point.HALF_ANSWERED):
                transport, content = there
                os.write(transport.get_extra_info("socket").fileno(), content[: len(content) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        passed.add(point)

    arm(hit)


@asynccontextmanager
async def open_gateway(settings: Settings) -> AsyncIterator[str]:
    """A gateway that listens on a port of its own; its URL."""
    async with running(settings) as app:
        config = uvicorn.Config(
            app, port=0, http=TimeoutProtocol, log_level="error", proxy_headers=False, lifespan="off"
        )
        config.load()
        server = uvicorn.Server(config)
        listening = config.bind_socket()
        listening.listen()
        serving = asyncio.ensure_future(server.serve(sockets=[listening]))
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        await serving


async def _ask(spec: Spec, url: str, clock: Ahead) -> dict[str, Any]:
    """Ask for the change at the door; status, code and whether it was answered from the ledger."""
    request = _signed(spec, url, clock) if spec.door == "aws" else _proposed(spec, url)
    reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
    writer.write(request)
    answer = await reader.read()
    writer.close()
    head, _, body = answer.partition(b"\r\n\r\n")
    return {
        "status": int(head.split(None, 2)[1]),
        "replayed": b"idempotent-replayed" in head.lower(),
        "body": body.decode(),
    }


def _call(spec: Spec) -> dict[str, Any]:
    return {
        "QueueUrl": f"https://sqs.us-east-1.amazonaws.com/123456789012/queue-{spec.queue}",
        "Attributes": {"VisibilityTimeout": str(spec.value)},
    }


def _signed(spec: Spec, url: str, clock: Ahead) -> bytes:
    signer = Signer(url=url, key_id=spec.key_id, secret=spec.secret, service="sqs")
    headers = {
        "Content-Type": JSON,
        "X-Amz-Target": "AmazonSQS.SetQueueAttributes",
        "amz-sdk-invocation-id": spec.idempotency_key,
        "x-sentinel-intent": "availability",
        "x-sentinel-motivation": "routine",
    }
    return signer.signed(headers=headers, body=json.dumps(_call(spec)).encode(), at=clock.now()).raw


def _proposed(spec: Spec, url: str) -> bytes:
    body = json.dumps(
        {
            "service": "sqs",
            "operation": "SetQueueAttributes",
            "parameters": _call(spec),
            "motive": {"intent": "availability", "motivation": "routine"},
        }
    ).encode()
    head = (
        f"POST /v1/mutations HTTP/1.1\r\nHost: {url.removeprefix('http://')}\r\nConnection: close\r\n"
        f"Authorization: Bearer {spec.key_id}.{spec.secret}\r\nIdempotency-Key: {spec.idempotency_key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def _settle(spec: Spec, clock: Ahead) -> None:
    """Settle what is in doubt by what is live, as the reconciler does."""

    async def read_live(targets: list[str]) -> Refreshed:
        values = live(Path(spec.log))
        objects = {
            target: {ATTRIBUTE: values.get(f"queue-{target.removeprefix(ADDRESS)}", LONGEST)} for target in targets
        }
        return Refreshed(read=frozenset(targets), objects=objects)

    async with open_sealed_ledger(spec.settings) as ledger:
        read_back = ReadBack(
            ledger=ledger,
            queries=ledger,
            clock=clock,
            concerns=lambda _: True,
            read_live=read_live,
            first_look=timedelta(0),
            settle_after=timedelta(minutes=16),
        )
        for doubt in await read_back.due():
            await read_back.settle(doubt.mutation_id, await read_back.look(doubt.mutation_id))


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainLine(Line):
    """The line whose edit needs no plan: the value stands in the file as a number. Branch, commit, record and push are the real ones."""

    async def prove(self, applied: AppliedMutation, backlog: Backlog, beside: Beside | None = None) -> Proposal:
        """The edit of one number."""
        branch = await self._branch(backlog)
        if commit := await branch.find(applied.id):
            return Proposal(commit=commit)
        (effect,) = applied.effects
        content = with_value((branch.root / "main.tf").read_bytes(), effect.address, effect.value)
        return Proposal(
            base=await branch.head(),
            files={Path("main.tf"): content},
            message=f"{effect.address}\n\n{TRAILER}: {applied.id}\n",
        )


async def _write_back(spec: Spec, clock: Ahead) -> None:
    """Write everything back and push it, as the reconciler does."""
    settings, stack = spec.settings, Path(spec.stack)
    worktree = settings.data / "worktree"
    async with open_sealed_ledger(settings) as ledger:
        line = PlainLine(
            stack=STACK,
            source=stack,
            state=None,
            branch=BRANCH,
            worktree=worktree,
            terraform=Terraform(environment={}, workdir=stack, executable="no-terraform-here"),
            queries=ledger,
            commands=ledger,
            clock=clock,
            declared_cache=DeclaredCache(),
            refresh_state=False,
        )
        backlog = Backlog(stack=STACK)
        remote = Remote(name="origin", source=stack, worktree=worktree, branch=BRANCH)
        worker = Worker(line=line, backlog=backlog, pushing=Publisher(stack=STACK, remote=remote, backlog=backlog))
        key = workflows_key(master_key_of(settings))
        database = workflows_database(settings)
        async with durable({STACK: worker}, database=database, key=key, poll_seconds=0.05) as runner:
            for _ in range(_ROUNDS):
                await worker.run_once(runner)
                if not list(backlog.pending()) and worker.pushing is not None and await worker.pushing.push_once():
                    return
                await asyncio.sleep(0.05)
        raise AssertionError("the reconciler did not come to an end")
