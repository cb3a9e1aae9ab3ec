"""The fail-closed matrix: ten faults at eight places between the gateway and what it depends on, and what must hold at each."""

import asyncio
import json
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import httpx

from gateway.app.running import running
from gateway.core import failpoints
from gateway.core.failpoints import Point
from gateway.core.model.caller import ActorKind
from gateway.core.ports import Key, RecordQuery
from gateway.core.records.record import Stage
from gateway.core.settings import Settings, StackSettings, UpstreamSettings
from gateway.core.settings.policy import PolicyEngineKind, PolicySettings
from gateway.core.times import SystemClock
from gateway.ledger.keyring import SqlKeyRing
from gateway.ledger.ledger import SqlLedger
from gateway.ledger.ledger_keys import master_key_of
from gateway.ledger.sealed_ledger import open_sealed_ledger
from gateway.policy.sources import shipped
from reconciler.errors import GitFailed
from reconciler.publish.branch import open_branch
from reconciler.publish.push import Remote
from tests.bench.stub import JSON
from tests.chaos.aws import LoggingAws, carried_out
from tests.chaos.faults.proxy import Fault, FaultProxy
from tests.chaos.stack import BRANCH, STACK, write_stack
from tests.kit.git import git
from tests.kit.opa import opa_server
from tests.kit.signed_requests import Signer
from tests.kit.stores import running_cluster
from tests.kit.up import free_port

PLACES: Final = (
    "AWS, from the AWS door",
    "AWS, from the API",
    "OPA, guardrails",
    "OPA, arbitration",
    "database, deciding",
    "database, settling",
    "git, push",
    "git, fetch",
)
_QUEUES: Final = 100
_PORTAL_STATUSES: Final = range(500, 600)
_OK, _CONFLICT = 200, 409
_REPLY_SECONDS: Final = 2.0
_AGAIN: Final = 600
"""How often it is looked whether something came to its end, at intervals of a tenth of a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What came of one fault at one place."""

    place: str
    fault: Fault
    seen: str
    """In a few words."""
    problems: tuple[str, ...] = ()
    """What must not be."""


@dataclass(kw_only=True)
class Bench:
    """One running gateway, with everything that it depends on behind proxies."""

    client: httpx.AsyncClient
    ledger: SqlLedger
    """Opened past the proxy."""
    key: Key
    aws: LoggingAws
    proxy: FaultProxy
    used: int = 0
    """Queues that were asked for. Each call has one of its own, because a claim in doubt stays."""
    found: list[str] = field(default_factory=list)

    async def ask(self, door: str) -> tuple[int, int]:
        """Change the next queue; the status of the answer, and the queue's number."""
        self.used += 1
        call = {
            "QueueUrl": f"https://sqs.us-east-1.amazonaws.com/123456789012/queue-{self.used}",
            "Attributes": {"VisibilityTimeout": str(self.used)},
        }
        if door == "aws":
            signer = Signer(url="http://localhost", key_id=self.key.id, secret=self.key.secret, service="sqs")
            headers = {
                "Content-Type": JSON,
                "X-Amz-Target": "AmazonSQS.SetQueueAttributes",
                "x-sentinel-intent": "availability",
                "x-sentinel-motivation": "routine",
            }
            wire = signer.signed(headers=headers, body=json.dumps(call).encode())
            answer = await self.client.post("/", headers=list(wire.headers), content=wire.body)
        else:
            answer = await self.client.post(
                "/v1/mutations",
                headers={"Authorization": f"Bearer {self.key.id}.{self.key.secret}"},
                json={
                    "service": "sqs",
                    "operation": "SetQueueAttributes",
                    "parameters": call,
                    "motive": {"intent": "availability", "motivation": "routine"},
                },
            )
        return answer.status_code, self.used

    def carried(self, queue: int) -> list[str]:
        """The mutations by which AWS changed the queue."""
        return [each.mutation for each in carried_out(self.aws.log) if each.value == queue]

    async def outcome(self, queue: int) -> str:
        """The last recorded outcome of the call about the queue; empty if nothing was decided, `open` if nothing was settled."""
        address = f"aws_sqs_queue.q{queue}"
        decided = await self.ledger.records(RecordQuery(stage=Stage.DECIDED, resource=address, verdict="allow"))
        if not decided:
            refused = await self.ledger.records(RecordQuery(stage=Stage.DECIDED, resource=address))
            return "denied" if refused else ""
        settled = await self.ledger.records(
            RecordQuery(stage=Stage.SETTLED, mutation_id=decided[0].mutation_id, limit=1)
        )
        return str(settled[0].body.members["outcome"]) if settled else "open"

    async def settled(self, queue: int, *, known: bool = False) -> str:
        """As `outcome`, once it is not open any more; with `known` once it is not in doubt either."""
        found = ""
        for _ in range(_AGAIN):
            found = await self.outcome(queue)
            if found != "open" and not (known and found == "in_doubt"):
                return found
            await asyncio.sleep(0.1)
        return found

    async def unlogged(self, queue: int) -> list[str]:
        """Sentences about what AWS carried out without a record, or more than once."""
        carried = self.carried(queue)
        records = await self.ledger.records(RecordQuery(stage=Stage.DECIDED, resource=f"aws_sqs_queue.q{queue}"))
        known = {each.mutation_id for each in records}
        return [f"{each} was carried out and not recorded before" for each in carried if each not in known]


# The rows -------------------------------------------------------------------------------------------------------------


async def aws_row(directory: Path, place: str, faults: Sequence[Fault]) -> AsyncIterator[Cell]:
    """Faults between the gateway and AWS."""
    door = "aws" if "AWS door" in place else "api"
    doubtful = {Fault.RESET, Fault.SWALLOW, Fault.FAKE_200, Fault.REDIRECT}
    with LoggingAws(directory / "aws.log") as aws, FaultProxy(("127.0.0.1", aws.port)) as proxy:
        async with _bench(directory, aws, proxy, upstream=proxy.port) as bench:
            for fault in faults:
                proxy.fault(fault)
                status, queue = await bench.ask(door)
                asked = proxy.asked
                strayed = proxy.strayed
                proxy.clear()
                outcome, carried = await bench.settled(queue), len(bench.carried(queue))
                match fault:
                    case Fault.REFUSE:
                        wanted = ("failed", 0, status)
                    case Fault.DUPLICATE:
                        wanted = ("applied", 2, _OK)
                    case _ if fault in doubtful:
                        wanted = ("in_doubt", 0, _CONFLICT)
                    case _:
                        wanted = ("in_doubt", 1, _CONFLICT)
                problems = await bench.unlogged(queue)
                if (outcome, carried, status) != wanted:
                    problems.append(
                        f"outcome, times carried out and status are {(outcome, carried, status)}, not {wanted}"
                    )
                if asked != (fault is not Fault.REFUSE):
                    problems.append(f"it was sent {asked} times")
                if strayed:
                    problems.append("the redirect was followed")
                yield Cell(
                    place=place,
                    fault=fault,
                    seen=f"{status}, {outcome}, {carried} carried out",
                    problems=tuple(problems),
                )


async def opa_row(directory: Path, place: str, faults: Sequence[Fault]) -> AsyncIterator[Cell]:
    """Faults between the gateway and its policy engine."""
    only = b"arbitration" if "arbitration" in place else b"guardrails"
    with opa_server(shipped()) as url, LoggingAws(directory / "aws.log") as aws:
        host, _, port = url.removeprefix("http://").partition(":")
        with FaultProxy((host, int(port))) as proxy:
            policy = PolicySettings(
                engine=PolicyEngineKind.OPA, opa_url=f"http://127.0.0.1:{proxy.port}", deadline_ms=5_000
            )
            async with _bench(directory, aws, proxy, upstream=aws.port, policy=policy) as bench:
                for fault in faults:
                    proxy.fault(fault, only=only)
                    status, queue = await bench.ask("api")
                    met = proxy.asked
                    proxy.clear()
                    outcome, carried = await bench.settled(queue), len(bench.carried(queue))
                    problems = await bench.unlogged(queue)
                    if fault is Fault.DUPLICATE:
                        if (outcome, carried) != ("applied", 1):
                            problems.append(f"a question asked twice made it {outcome}, carried out {carried} times")
                    elif carried or outcome not in ("denied", "") or status == _OK:
                        problems.append(f"it was {outcome}, carried out {carried} times and answered {status}")
                    if not met and fault is not Fault.REFUSE:
                        problems.append("the fault was not met")
                    problems += await _works_again(bench)
                    yield Cell(
                        place=place,
                        fault=fault,
                        seen=f"{status}, {outcome or 'nothing decided'}, {carried} carried out",
                        problems=tuple(problems),
                    )


async def database_row(directory: Path, place: str, faults: Sequence[Fault]) -> AsyncIterator[Cell]:
    """Faults between the gateway and PostgreSQL, from a point of the line on."""
    point = Point.DECIDED if "deciding" in place else Point.BODY_READ
    with running_cluster() as cluster, LoggingAws(directory / "aws.log") as aws:
        direct = cluster.new_ledger()
        name = direct.partition("@/")[2].partition("?")[0]
        with FaultProxy(cluster.directory / ".s.PGSQL.5432") as proxy:
            through = f"postgresql+psycopg://sentinel@127.0.0.1:{proxy.port}/{name}?sslmode=disable&gssencmode=disable"
            async with _bench(directory, aws, proxy, upstream=aws.port, ledger=through, direct=direct) as bench:
                for fault in faults:
                    status, queue = await _ask_with_fault_at(bench, point, fault)
                    proxy.clear()
                    outcome, carried = await bench.settled(queue, known=True), len(bench.carried(queue))
                    problems = await bench.unlogged(queue)
                    if carried > 1 or (carried == 1) != (outcome == "applied"):
                        problems.append(f"it was carried out {carried} times and is recorded as {outcome or 'nothing'}")
                    if point is Point.BODY_READ and carried != 1:
                        problems.append("it was to be sent before the fault")
                    if carried and status in _PORTAL_STATUSES:
                        problems.append(f"it was sent and answered {status}, which clients repeat")
                    if outcome == "open":
                        problems.append("nothing says what became of it")
                    problems += await _works_again(bench)
                    yield Cell(
                        place=place,
                        fault=fault,
                        seen=f"{status}, {outcome or 'nothing decided'}, {carried} carried out",
                        problems=tuple(problems),
                    )


async def _ask_with_fault_at(bench: Bench, point: Point, fault: Fault) -> tuple[int, int]:
    """Ask, with a fault from this point on; it ends when the answer is there, or after a while in which the gateway gives up."""

    def hit(reached: Point, *_: Any) -> None:
        if reached is point:
            failpoints.arm(None)
            bench.proxy.fault(fault)

    failpoints.arm(hit)
    try:
        return await bench.ask("api")
    finally:
        failpoints.arm(None)


async def _works_again(bench: Bench) -> list[str]:
    """Empty once a change passes, as it did before the fault."""
    status = 0
    for _ in range(_AGAIN):
        status, queue = await bench.ask("api")
        if status == _OK:
            return [] if len(bench.carried(queue)) == 1 else ["after the fault a change was not carried out once"]
        bench.used -= status == _CONFLICT
        await asyncio.sleep(0.1)
    return [f"after the fault a change is answered {status}"]


async def git_row(directory: Path, place: str, faults: Sequence[Fault]) -> AsyncIterator[Cell]:
    """Faults between the reconciler and the remote."""
    stack = write_stack(directory / "stack", directory / "remote.git", 1)
    with _git_daemon(directory) as port, FaultProxy(("127.0.0.1", port)) as proxy:
        git(stack, "remote", "set-url", "origin", f"git://127.0.0.1:{proxy.port}/remote.git")
        worktree = directory / "worktree"
        protected = "refs/remotes/origin/main"
        remote = Remote(name="origin", source=stack, worktree=worktree, branch=BRANCH, protected=protected)
        with patch("reconciler.publish.push._SECONDS", _REPLY_SECONDS):
            for number, fault in enumerate(faults):
                if "push" in place:
                    yield await _pushed(remote, proxy, fault, number)
                else:
                    yield await _fetched(remote, proxy, fault, directory, number)


async def _pushed(remote: Remote, proxy: FaultProxy, fault: Fault, number: int) -> Cell:
    branch = await open_branch(source=remote.source, worktree=remote.worktree, name=BRANCH, protected=remote.protected)
    commit = await branch.commit({Path("main.tf"): f"# {number}\n".encode()}, f"change {number}\n")
    proxy.fault(fault)
    said = await _said(remote.push())
    proxy.clear()
    problems = [] if git(remote.source, "rev-parse", f"refs/heads/{BRANCH}") == commit else ["our branch was moved"]
    if remains := await _said(remote.push()):
        problems.append(f"after the fault it is not pushed: {remains}")
    there = git(remote.source.parent / "remote.git", "rev-parse", f"refs/heads/{BRANCH}")
    if there != commit:
        problems.append("the remote's branch is not ours")
    seen = "failed and kept, then pushed" if said else "pushed"
    return Cell(place="git, push", fault=fault, seen=seen, problems=tuple(problems))


async def _fetched(remote: Remote, proxy: FaultProxy, fault: Fault, directory: Path, number: int) -> Cell:
    other = directory / f"clone-{number}"
    git(directory, "clone", "--quiet", str(directory / "remote.git"), str(other))
    git(other, "commit", "--quiet", "--allow-empty", "-m", f"next {number}")
    git(other, "push", "--quiet", "origin", "main")
    wanted, before = git(other, "rev-parse", "HEAD"), git(remote.source, "rev-parse", remote.protected)
    proxy.fault(fault)
    said = await _said(remote.fetch_protected())
    proxy.clear()
    now = git(remote.source, "rev-parse", remote.protected)
    problems = [] if now in (before, wanted) else ["the protected branch is at a commit that nobody made"]
    if said and now != before:
        problems.append("it failed, and the protected branch was moved")
    if not said and now != wanted:
        problems.append("it succeeded, and the protected branch is old")
    if remains := await _said(remote.fetch_protected()):
        problems.append(f"after the fault it is not fetched: {remains}")
    if git(remote.source, "rev-parse", remote.protected) != wanted:
        problems.append("after the fault the protected branch is old")
    seen = "failed and kept, then fetched" if said else "fetched"
    return Cell(place="git, fetch", fault=fault, seen=seen, problems=tuple(problems))


async def _said(work: Any) -> str:
    """What git said against it; empty if it worked."""
    try:
        await work
    except GitFailed as error:
        return str(error)
    return ""


@contextmanager
def _git_daemon(directory: Path) -> Iterator[int]:
    """The port of a server of the repositories in a directory."""
    port = free_port()
    command = ["git", "daemon", f"--port={port}", "--listen=127.0.0.1", "--reuseaddr", "--export-all"]
    options = ["--enable=receive-pack", f"--base-path={directory}", str(directory)]
    with subprocess.Popen([*command, *options], stderr=subprocess.DEVNULL, start_new_session=True) as server:
        try:
            while True:
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
            yield port
        finally:
            server.terminate()


@asynccontextmanager
async def _bench(
    directory: Path,
    aws: LoggingAws,
    proxy: FaultProxy,
    *,
    upstream: int,
    ledger: str = "",
    direct: str = "",
    **more: Any,
) -> AsyncIterator[Bench]:
    """A gateway whose AWS is at the port `upstream`; `direct` is the URL of its ledger past the proxy."""
    stack = write_stack(directory / "stack", directory / "remote.git", _QUEUES + 1)
    settings = Settings(
        data=directory / "data",
        ledger=ledger,
        upstream=UpstreamSettings(simulated=f"http://127.0.0.1:{upstream}", reply_seconds=_REPLY_SECONDS),
        stacks=(StackSettings(name=STACK, path=stack),),
        **more,
    )
    async with AsyncExitStack() as open_parts:
        app = await open_parts.enter_async_context(running(settings))
        beside = settings.model_copy(update={"ledger": direct or ledger})
        own = await open_parts.enter_async_context(open_sealed_ledger(beside))
        ring = SqlKeyRing(own, master=master_key_of(settings), clock=SystemClock())
        key = await ring.issue(actor="human", kind=ActorKind.HUMAN, lasts=timedelta(days=1))
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        client = await open_parts.enter_async_context(
            httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=300)
        )
        yield Bench(client=client, ledger=own, key=key, aws=aws, proxy=proxy)


_ROWS: Final = {"AWS": aws_row, "OPA": opa_row, "database": database_row, "git": git_row}


async def play(directory: Path, place: str, faults: Sequence[Fault] = tuple(Fault)) -> AsyncIterator[Cell]:
    """One row of the matrix, in an empty directory."""
    async for cell in _ROWS[place.partition(",")[0]](directory, place, faults):
        yield replace(cell, place=place)
