"""The cost of writing one change back: `python -m tests.bench.reconcile [rounds]`, one JSON object per figure.

`name, value, unit, floor, ratio, n`. Real Terraform against a moto server in its own process, on the stack of
`tests/cases/reconcile/fleet`. `reconcile_own` is the whole minus the time in terraform's processes that plan;
`reconcile_whole` is held against one bare `terraform plan` of the same stack, alternating with it. `reconcile.no_plan` is one value without a
plan, the start of the provider included, by a user who ran it before; at most 1,000 ms. `reconcile.no_plan.command` is the same as a command,
with the start of Python. `reconcile.beside_traffic` is the
time from the record of a change to the record of its commit, by the service, while 50 writes a second of the data plane are recorded.
`reconcile.put_back.late.*` is how long after its end the gateway is asked to put a change back, while 200 write-backs are queued:
`python -m tests.bench.reconcile put-backs`. `reconcile.put_back.look.cpu` is the processor time of the look at live values before one.
Before all that come the figures of `tests.bench.rewrite`: the own work on 300 and 3,000 resources.
"""

import asyncio
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import boto3
import structlog

from gateway.core.model.mutation import Call, EffectAction, Mutation, PutBack
from gateway.core.model.time_box import TimeBox
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from gateway.core.times import SystemClock
from gateway.ledger.ledger import SqlLedger, open_ledger
from gateway.terraform.provider_mirror import terraform_environment
from reconciler.changes.backlog import Backlog
from reconciler.drift.put_backs.gateway_api import GatewayAnswer
from reconciler.drift.put_backs.put_back import PutBacks
from reconciler.line.loop import Line
from reconciler.model import Wanted
from reconciler.proof.proved_edit import DeclaredCache, ProofContext, prove_edits
from reconciler.terraform.cli import Terraform
from reconciler.terraform.plugin.warm import WarmProvider
from reconciler.workflows import Worker, serve
from reconciler.working_copy.run import WorkingCopyRun, reconcile_working_copy
from tests.bench import rewrite
from tests.bench.figure import show
from tests.kit.git import git
from tests.kit.mutations import record_mutation
from tests.kit.nouns import effect
from tests.kit.stores import KEYS
from tests.kit.up import free_port

CASE = Path(__file__).parent.parent / "cases" / "reconcile" / "fleet"
GROUP = "aws_autoscaling_group.web"
_BEFORE = 400
"""Writes of the data plane before the service starts."""
_QUEUED = 200
"""Write-backs that wait while changes are put back."""
_TIMED = 20
"""Changes that are put back."""
_BACK = Call(service="autoscaling", operation="SetDesiredCapacity", parameters={"DesiredCapacity": 1})
_WRITES = 50
"""Writes of the data plane in a second while it runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedTerraform(Terraform):
    """Terraform that records how long its plans take."""

    spent: list[float] = field(default_factory=list)

    async def plan(self, root: Path, **options: Any) -> Path | None:
        """As always, timed."""
        began = time.perf_counter()
        try:
            return await Terraform.plan(self, root, **options)
        finally:
            self.spent.append(time.perf_counter() - began)


def main() -> None:
    """Measure and print."""
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    if sys.argv[1:2] == ["put-backs"]:
        with tempfile.TemporaryDirectory() as directory, _moto() as endpoint:
            asyncio.run(_late(Path(directory), endpoint))
        return
    rewrite.main()
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as directory, _moto() as endpoint:
        asyncio.run(_measure(Path(directory), endpoint, rounds))


async def _measure(directory: Path, endpoint: str, rounds: int) -> None:
    terraform, root = _apply(directory, endpoint)
    client: Any = boto3.client
    group = client("autoscaling", endpoint_url=endpoint, region_name="eu-west-1", **_KEYS)
    bare: list[float] = []
    whole: list[float] = []
    own: list[float] = []
    warm = WarmProvider(terraform.environment)
    used = replace(terraform, warm=warm)
    context = ProofContext(terraform=used, root=root, state=root / "terraform.tfstate")
    for value in range(3, 3 + rounds):
        group.set_desired_capacity(AutoScalingGroupName="web", DesiredCapacity=2)
        began = time.perf_counter()
        await Terraform.plan(terraform, root, state=context.state)
        bare.append(time.perf_counter() - began)
        group.set_desired_capacity(AutoScalingGroupName="web", DesiredCapacity=value)
        used.spent.clear()
        began = time.perf_counter()
        proved = await prove_edits(
            context, [Wanted(address=GROUP, attribute="desired_capacity", value=value)], explain=lambda _: ""
        )
        whole.append(time.perf_counter() - began)
        own.append(whole[-1] - sum(used.spent))
        if not proved.edited.edits or proved.left:
            sys.exit(f"It did not write the change back: {proved.left}")
    await warm.close()
    show("reconcile.own.p50", statistics.median(own) * 1000, "ms", n=rounds)
    show("reconcile.whole.p50", statistics.median(whole) * 1000, "ms", floor=statistics.median(bare) * 1000, n=rounds)
    show("reconcile.no_plan.p50", await _no_plan(directory, terraform, root, group, rounds), "ms", n=rounds)
    command = _no_plan_command(directory, terraform, root, group, rounds)
    show("reconcile.no_plan.command.p50", command, "ms", n=rounds)
    group.set_desired_capacity(AutoScalingGroupName="web", DesiredCapacity=2)
    seconds = await _beside_traffic(directory, terraform, root, group)
    show("reconcile.beside_traffic", seconds, "s", floor=statistics.median(bare), n=1)


async def _no_plan(directory: Path, terraform: Terraform, root: Path, group: Any, rounds: int) -> float:
    """The milliseconds of `sentinel reconcile --no-plan --only` for one value, by a user who ran it before."""
    environment = {**terraform.environment, "XDG_CACHE_HOME": str(directory / "cache")}
    run = WorkingCopyRun(path=root, state=root / "terraform.tfstate", only=[GROUP], planned=False)
    spent: list[float] = []
    for value in range(3, 4 + rounds):
        group.set_desired_capacity(AutoScalingGroupName="web", DesiredCapacity=value)
        began = time.perf_counter()
        report = await reconcile_working_copy(run, environment)
        spent.append(time.perf_counter() - began)
        if not report.edited.edits or report.left:
            sys.exit(f"It did not write the change: {report.left}")
    return statistics.median(spent[1:]) * 1000


def _no_plan_command(directory: Path, terraform: Terraform, root: Path, group: Any, rounds: int) -> float:
    """The milliseconds of the same as a command of its own."""
    environment = {**terraform.environment, "XDG_CACHE_HOME": str(directory / "cache")}
    argv = [sys.executable, "-m", "gateway", "reconcile", str(root), "--no-plan", "--only", GROUP]
    spent: list[float] = []
    for value in range(3, 4 + rounds):
        group.set_desired_capacity(AutoScalingGroupName="web", DesiredCapacity=value)
        began = time.perf_counter()
        done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=True)
        spent.append(time.perf_counter() - began)
        if f"desired = {value}" not in done.stdout:
            sys.exit(f"It did not write the change: {done.stdout}{done.stderr}")
    return statistics.median(spent[1:]) * 1000


async def _beside_traffic(directory: Path, terraform: Terraform, root: Path, group: Any) -> float:
    """The seconds until a change is committed that comes after 400 writes of the data plane and amid 50 more a second."""
    git(root, "init", "--quiet", "--initial-branch=main")
    git(root, "add", "*.tf", "*.tfvars", "modules")
    git(root, "commit", "--quiet", "-m", "first")
    stop = asyncio.Event()
    async with open_ledger(f"sqlite:///{directory / 'ledger.db'}", KEYS) as ledger:
        for _ in range(_BEFORE):
            await _put(ledger)
        line = _line(directory, terraform, root, ledger)
        worker = Worker(line=line, backlog=Backlog(stack="shop"))
        database = f"sqlite:///{directory / 'workflows.db'}"
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(
                serve({"shop": worker}, database=database, key=b"a key for figures", poll_seconds=0.5, stop=stop)
            )
            tasks.create_task(_traffic(ledger, stop))
            await asyncio.sleep(2)
            group.set_desired_capacity(AutoScalingGroupName="web", DesiredCapacity=6)
            began = time.perf_counter()
            change = await record_mutation(ledger, [(effect(GROUP, "desired_capacity", 6), 2)])
            query = RecordQuery(mutation_id=change.id, stage=Stage.RECONCILED)
            while not (found := await ledger.records(query)):  # noqa: ASYNC110  nothing signals a new record
                await asyncio.sleep(0.05)
            seconds = time.perf_counter() - began
            stop.set()
    if "commit" not in found[0].body.members:
        sys.exit(f"It did not write the change back: {found[0].body}")
    return seconds


@dataclass(slots=True, kw_only=True)
class _Gateway:
    """Puts every change back, and keeps how many seconds after its end it was asked to."""

    ledger: SqlLedger
    ends: dict[str, tuple[Mutation, datetime]] = field(default_factory=dict)
    late: list[float] = field(default_factory=list)

    async def put_back(self, mutation_id: str) -> GatewayAnswer:
        change, until = self.ends[mutation_id]
        now = datetime.now(UTC)
        self.late.append((now - until).total_seconds())
        bases = {(GROUP, "desired_capacity"): 1}
        await record_mutation(
            self.ledger,
            [(effect(GROUP, "desired_capacity", 1), None)],
            at=now,
            puts_back=PutBack(mutation_id=change.id, bases=bases),
            supersedes=await _open_claims(self.ledger),
        )
        return GatewayAnswer(status=200, code="", detail="")


async def _open_claims(ledger: SqlLedger) -> tuple[str, ...]:
    claims = await ledger.claims(address=GROUP, open_only=True)
    return tuple(claim.id for claim in claims if claim.attribute == "desired_capacity")


async def _late(directory: Path, endpoint: str) -> None:
    terraform, root = _apply(directory, endpoint)
    git(root, "init", "--quiet", "--initial-branch=main")
    git(root, "add", "*.tf", "*.tfvars", "modules")
    git(root, "commit", "--quiet", "-m", "first")
    late = sorted(await _put_backs(directory, terraform, root))
    show("reconcile.put_back.late.p50", statistics.median(late), "s", n=len(late))
    # Of n figures the largest is above the 100 × n / (n + 1) th percentile, which of 100 is the 99th.
    show("reconcile.put_back.late.max", late[-1], "s", n=len(late))


async def _put_backs(directory: Path, terraform: Terraform, root: Path) -> list[float]:
    """How many seconds late each of a few changes for a time is put back, one after the other, with write-backs queued."""
    stop = asyncio.Event()
    async with open_ledger(f"sqlite:///{directory / 'timed.db'}", KEYS) as ledger:
        for number in range(_QUEUED):
            await record_mutation(ledger, [(effect(GROUP, f"tags.k{number}", "v"), None)])
        gateway = _Gateway(ledger=ledger)
        line = _line(directory, replace(terraform, background=True), root, ledger)
        own = directory / "put_backs"
        beside = replace(line, worktree=own / "worktree", terraform=replace(terraform, workdir=own / "terraform"))
        putting_back = PutBacks(
            stack="shop", ledger=ledger, clock=line.clock, read_live=beside.read_live, gateway=gateway, patience=timedelta(hours=1)
        )  # fmt: skip
        worker = Worker(line=line, backlog=Backlog(stack="shop"), putting_back=putting_back)
        await beside.read_live([GROUP])  # it makes the worktree
        before = _processor_time()
        await beside.read_live([GROUP])
        show("reconcile.put_back.look.cpu", _processor_time() - before, "s", n=1)
        database = f"sqlite:///{directory / 'timed-workflows.db'}"
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(
                serve({"shop": worker}, database=database, key=b"a key for figures", poll_seconds=0.5, stop=stop)
            )
            for number in range(_TIMED):
                now = datetime.now(UTC)
                live = (await beside.read_live([GROUP])).objects[GROUP]
                until, capacity = now + timedelta(seconds=2), live["desired_capacity"]
                box = TimeBox(until=until, bases={(GROUP, "desired_capacity"): 1}, call=_BACK)
                change = await record_mutation(
                    ledger,
                    [(effect(GROUP, "desired_capacity", capacity), 1)],
                    at=now,
                    time_box=box,
                    supersedes=await _open_claims(ledger),
                )
                gateway.ends[change.id] = (change, until)
                while len(gateway.late) <= number:  # noqa: ASYNC110  nothing signals a put-back
                    await asyncio.sleep(0.05)
                print(f"put back {number + 1}: {gateway.late[-1]:.2f} s late", file=sys.stderr, flush=True)
            left = len(await ledger.records(RecordQuery(stage=Stage.RECONCILED)))
            stop.set()
    if left >= _QUEUED:
        sys.exit("No write-back was queued any more when the last change was put back.")
    return gateway.late


def _processor_time() -> float:
    """Seconds of processor time of this process and of those that it started and that have ended."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


async def _traffic(ledger: SqlLedger, stop: asyncio.Event) -> None:
    while not stop.is_set():
        await asyncio.gather(_put(ledger), asyncio.sleep(1 / _WRITES))


async def _put(ledger: SqlLedger) -> None:
    put = effect("aws_dynamodb_table.orders", "*", None, action=EffectAction.INVOKE)
    await record_mutation(ledger, [(put, None)], call=Call(service="dynamodb", operation="PutItem"))


def _line(directory: Path, terraform: Terraform, root: Path, ledger: SqlLedger) -> Line:
    return Line(
        stack="shop",
        source=root,
        state=root / "terraform.tfstate",
        branch="sentinel/shop",
        worktree=directory / "worktree",
        terraform=terraform,
        queries=ledger,
        commands=ledger,
        clock=SystemClock(),
        declared_cache=DeclaredCache(),
    )


_KEYS = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}


def _apply(directory: Path, endpoint: str) -> tuple[TimedTerraform, Path]:
    root = directory / "fleet"
    shutil.copytree(CASE, root)
    base = dict(os.environ) | {name.upper(): value for name, value in _KEYS.items()}
    base |= {"AWS_REGION": "eu-west-1", "AWS_ENDPOINT_URL": endpoint}
    environment = terraform_environment(mirror=None, workdir=directory, base=base)
    for argv in (["init"], ["apply", "-auto-approve"], ["apply", "-refresh-only", "-auto-approve"]):
        subprocess.run(["terraform", *argv, "-no-color"], cwd=root, env=environment, check=True, capture_output=True)
    return TimedTerraform(environment=environment, workdir=directory / "work", shared_data=root / ".terraform"), root


@contextmanager
def _moto() -> Iterator[str]:
    port = free_port()
    argv = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            endpoint = f"http://127.0.0.1:{port}"
            _wait(f"{endpoint}/moto-api/data.json")
            yield endpoint
        finally:
            process.terminate()


def _wait(url: str) -> None:
    for _ in range(300):
        try:
            urllib.request.urlopen(url, timeout=1).close()  # noqa: S310  our own loopback server
        except OSError:
            time.sleep(0.1)
        else:
            return
    sys.exit("The simulated AWS did not start.")


if __name__ == "__main__":
    main()
