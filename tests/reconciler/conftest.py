"""Fixtures of the reconciler's tests: git repositories, a simulated AWS in its own process, a stack that is applied once."""

import importlib
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from gateway.core.model.caller import ActorKind
from gateway.core.model.facts import Facts
from gateway.core.model.json import Json
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.model.mutation import Call, Effect, EffectAction
from gateway.core.model.outcome import Applied, Reply
from gateway.core.model.path import WHOLE
from gateway.terraform.provider_mirror import terraform_environment
from reconciler.terraform.cli import Terraform
from tests.bench.drift.terraform import Tool, warm_provider
from tests.kit import nouns
from tests.kit.slim_provider import slim
from tests.kit.up import free_port

if TYPE_CHECKING:
    from gateway.ledger.ledger import SqlLedger

CASES = Path(__file__).parent.parent / "cases" / "reconcile"
_CREDENTIALS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "eu-west-1"}


def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Import the ledger before processes are forked, but only for tests that use it: that takes longer than most files of tests of the reconciler."""
    if any("ledger" in getattr(item, "fixturenames", ()) for item in items):
        importlib.import_module("tests.kit.stores")


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """A stack that was applied to a simulated AWS."""

    path: Path
    endpoint: str
    environment: dict[str, str]
    workdir: Path

    @property
    def state(self) -> Path:
        return self.path / "terraform.tfstate"

    def terraform(self, **changes: Any) -> Terraform:
        given: dict[str, Any] = {
            "environment": self.environment,
            "workdir": self.workdir,
            "shared_data": self.path / ".terraform",
        }
        return Terraform(**(given | changes))

    def client(self, service: str) -> Any:
        import boto3  # noqa: PLC0415  only stacks that are applied need it

        make: Any = boto3.client
        return make(
            service,
            endpoint_url=self.endpoint,
            region_name="eu-west-1",
            aws_access_key_id="test",
            aws_secret_access_key="test",
        )

    def alarm(self, threshold: int) -> None:
        """Set the alarm's threshold; PutMetricAlarm wants the whole alarm."""
        self.client("cloudwatch").put_metric_alarm(
            AlarmName="errors",
            Namespace="Shop",
            MetricName="Errors",
            Statistic="Sum",
            ComparisonOperator="GreaterThanThreshold",
            Period=60,
            EvaluationPeriods=2,
            Threshold=threshold,
        )

    def run(self, *argv: str) -> None:
        done = subprocess.run(
            ["terraform", *argv], cwd=self.path, env=self.environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


@contextmanager
def _simulated_aws() -> Iterator[str]:
    """A moto server in a process of its own, on loopback, and its endpoint."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    endpoint = f"http://127.0.0.1:{port}"
    try:
        _wait(endpoint)
        yield endpoint
    finally:
        process.terminate()
        process.wait(300)


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A simulated AWS, and a provider that keeps running for it: to start the two takes longer than to apply a stack."""

    endpoint: str
    environment: dict[str, str]
    running: dict[str, str]
    """The variable that names the provider."""

    def applied(self, name: str, tmp_path_factory: pytest.TempPathFactory) -> Live:
        """A stack of the cases, applied."""
        path = tmp_path_factory.mktemp("repo") / "infra" / name
        shutil.copytree(CASES / name, path)
        workdir = tmp_path_factory.mktemp("work")
        environment = dict(self.environment)
        live = Live(path=path, endpoint=self.endpoint, environment=environment, workdir=workdir)
        live.run("init", "-no-color")  # installs a provider, for plans that have their own
        environment.update(self.running)
        live.run("apply", "-auto-approve", "-no-color")
        live.run("apply", "-refresh-only", "-auto-approve", "-no-color")
        return live

    def emptied(self) -> "World":
        """The same without any resource."""
        httpx.post(f"{self.endpoint}/moto-api/reset", timeout=300).raise_for_status()
        return self


@contextmanager
def _world(workdir: Path, config: Path) -> Iterator[World]:
    """`config` is `slim_terraform`."""
    base = {each: os.environ[each] for each in ("PATH", "HOME", "GOGC") if each in os.environ}
    with _simulated_aws() as endpoint:
        base |= {**_CREDENTIALS, "AWS_ENDPOINT_URL": endpoint, "TF_CLI_CONFIG_FILE": str(config)}
        environment = terraform_environment(mirror=None, workdir=workdir, base=base)
        with warm_provider(environment, workdir) as attached, slim(attached) as known:
            yield World(endpoint=endpoint, environment=environment, running=dict(known))


@pytest.fixture(scope="session")
def other_world(tmp_path_factory: pytest.TempPathFactory, slim_terraform: Path) -> Iterator[World]:
    """For stacks of one file of tests each, one after another; each empties it first (`emptied`)."""
    with _world(tmp_path_factory.mktemp("world"), slim_terraform) as world:
        yield world


@pytest.fixture(scope="session")
def fleet(tmp_path_factory: pytest.TempPathFactory, slim_terraform: Path) -> Iterator[Live]:
    """The stack `fleet`, applied; a test that changes it uses `calm`, which resets the live values.

    One provider serves the plans of all tests: with one of its own, a plan costs twice as much. What Sentinel itself passes on to
    terraform never names a running provider, so plans of its commands have their own.
    """
    with _world(tmp_path_factory.mktemp("world"), slim_terraform) as world:
        yield world.applied("fleet", tmp_path_factory)


@pytest.fixture
def tool(fleet: Live, monkeypatch: pytest.MonkeyPatch) -> Tool:
    """Terraform for stacks of a test's own beside `fleet`, with its provider and environment, which commands of the test have too."""
    for name, value in fleet.environment.items():
        monkeypatch.setenv(name, value)
    return Tool(environment=fleet.environment)


@pytest.fixture
def calm(fleet: Live) -> Live:
    """The applied stack with live as the code declares it."""
    fleet.client("autoscaling").update_auto_scaling_group(AutoScalingGroupName="web", DesiredCapacity=2, MaxSize=8)
    logs = fleet.client("logs")
    for name, days in (("/shop/app", 30), ("/team/red", 7), ("/team/blue", 14), ("/pair/0", 14), ("/pair/1", 14)):
        logs.put_retention_policy(logGroupName=name, retentionInDays=days)
    fleet.client("iam").update_role(RoleName="worker-night", MaxSessionDuration=3600)
    fleet.client("iam").update_role(RoleName="worker-day", MaxSessionDuration=7200)
    fleet.alarm(100)
    return fleet


@pytest.fixture
def git() -> Callable[..., str]:
    """Run git in a directory, as a user would."""

    def run(directory: Path, *argv: str) -> str:
        identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "init.defaultBranch=main"]
        done = subprocess.run(["git", *identity, *argv], cwd=directory, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def repository(tmp_path: Path, git: Callable[..., str]) -> Path:
    """A repository whose stack is the directory `infra/shop`; returns that directory."""
    stack = tmp_path / "repository" / "infra" / "shop"
    stack.mkdir(parents=True)
    (stack / "main.tf").write_text("locals {\n  a = 1\n}\n")
    top = tmp_path / "repository"
    git(top, "init", "--quiet")
    git(top, "add", ".")
    git(top, "commit", "--quiet", "-m", "first")
    return stack


@pytest.fixture
async def ledger(tmp_path: Path) -> "AsyncIterator[SqlLedger]":
    """A ledger on SQLite."""
    from gateway.ledger.ledger import SqlLedger  # noqa: PLC0415  it was imported where the tests were collected
    from tests.kit.stores import KEYS  # noqa: PLC0415

    opened = await SqlLedger.open(f"sqlite:///{tmp_path / 'ledger.db'}", KEYS)
    yield opened
    await opened.close()


Apply = Callable[..., Awaitable[str]]


@pytest.fixture
def applied(ledger: "SqlLedger") -> Apply:
    """Records a mutation that sets attributes and that AWS carried out; returns its id."""

    async def apply(
        *values: tuple[str, str, Json, Json], kind: ActorKind = ActorKind.AGENT, settle: bool = True, **changes: Any
    ) -> str:
        """`values` are (address, attribute, before, after); `changes` replace members of the motive."""
        effects = tuple(nouns.effect(address, attribute, after) for address, attribute, _, after in values)
        given: dict[str, Any] = {"intent": Intent.AVAILABILITY, "motivation": Motivation.INCIDENT, "text": "lag grows"}
        mutation = nouns.mutation(
            *effects,
            call=Call(service="autoscaling", operation="SetDesiredCapacity"),
            caller=nouns.caller("agent-scaler", kind),
            motive=Motive(**given | changes),
        )
        await ledger.record_decision(
            mutation, _facts(effects, [before for _, _, before, _ in values]), nouns.decision()
        )
        if settle:
            reply = Reply(status=200, headers=(), body=b"")
            await ledger.record_outcome(mutation, Applied(reply=reply, request_id="r1"), datetime.now(UTC))
        return mutation.id

    return apply


@pytest.fixture
def created(ledger: "SqlLedger") -> Apply:
    """Records a mutation that created a resource, and that AWS carried out; returns its id."""

    async def create(resource_type: str, identity: dict[str, str], *, call: Call, **attributes: Json) -> str:
        def effect(attribute: str, value: Json) -> Effect:
            return nouns.effect(
                f"{resource_type}{{new}}",
                attribute,
                value,
                action=EffectAction.CREATE,
                identity=identity,
                declared=False,
            )

        effects = (effect(WHOLE, None), *(effect(name, value) for name, value in {**identity, **attributes}.items()))
        mutation = nouns.mutation(
            *effects,
            caller=nouns.caller("agent-builder"),
            call=call,
            motive=Motive(intent=Intent.AVAILABILITY, motivation=Motivation.LAUNCH, text="a new job"),
        )
        await ledger.record_decision(mutation, _facts(effects, [None for _ in effects]), nouns.decision())
        reply = Reply(status=200, headers=(), body=b"")
        await ledger.record_outcome(mutation, Applied(reply=reply, request_id="r1"), datetime.now(UTC))
        return mutation.id

    return create


@pytest.fixture
def carried_out(ledger: "SqlLedger") -> Apply:
    """Records a call with these effects that AWS carried out; `made` is the id that AWS chose. Returns the mutation's id."""

    async def carry_out(*effects: Effect, call: Call, made: str = "") -> str:
        mutation = nouns.mutation(
            *effects,
            caller=nouns.caller("agent-builder"),
            call=call,
            motive=Motive(intent=Intent.AVAILABILITY, motivation=Motivation.INCIDENT, text="it is broken"),
        )
        await ledger.record_decision(mutation, _facts(effects, [None for _ in effects]), nouns.decision())
        reply = Reply(status=200, headers=(), body=b"")
        await ledger.record_outcome(mutation, Applied(reply=reply, request_id="r1", made=made), datetime.now(UTC))
        return mutation.id

    return carry_out


def _facts(effects: Sequence[Effect], before: Sequence[Json]) -> Facts:
    subjects = tuple(nouns.subject(effect, value, value) for effect, value in zip(effects, before, strict=True))
    return nouns.facts(*subjects, now=datetime.now(UTC))


def _wait(endpoint: str) -> None:
    until = time.monotonic() + 300
    while True:
        try:
            with urllib.request.urlopen(f"{endpoint}/moto-api/data.json", timeout=300):  # noqa: S310  our own loopback server
                return
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)
