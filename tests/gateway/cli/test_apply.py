"""`sentinel apply` with real Terraform and the real provider, through a gateway in front of a simulated AWS."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.cli.apply import with_patience
from gateway.core.model.caller import ActorKind
from gateway.core.records.record import Stage
from gateway.core.settings import StackSettings
from gateway.terraform.provider_mirror import terraform_environment
from tests.kit.gate import Gate
from tests.kit.moto import MotoUpstream

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.slow, pytest.mark.terraform]
PLANS = Path(__file__).parents[2] / "cases" / "plans"
Run = Callable[..., Any]


def initialised(tmp_path_factory: pytest.TempPathFactory, code: Path, config: Path) -> Path:
    """A directory with the code, initialised; `config` is `slim_terraform`."""
    directory = tmp_path_factory.mktemp(code.name) / "stack"
    shutil.copytree(code, directory)
    work = tmp_path_factory.mktemp("work")
    base = {**os.environ, "TF_CLI_CONFIG_FILE": str(config)}
    environment = terraform_environment(mirror=None, workdir=work, base=base)
    done = subprocess.run(
        ["terraform", "init", "-input=false", "-no-color"],
        cwd=directory,
        env=environment,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return directory


@pytest.fixture(scope="module")
def roots(tmp_path_factory: pytest.TempPathFactory, slim_terraform: Path) -> Mapping[str, Path]:
    """The stacks by name."""
    codes = (PLANS / "ordinary", PLANS / "small", PLANS / "unknown")
    return {code.name: initialised(tmp_path_factory, code, slim_terraform) for code in codes}


@pytest.fixture(scope="module")
def moto(tmp_path_factory: pytest.TempPathFactory, roots: Mapping[str, Path]) -> Iterator[Gate]:
    """A gateway in front of the simulated AWS, with the stacks."""
    stacks = tuple(StackSettings(name=name, path=path) for name, path in roots.items())
    with Gate(directory=tmp_path_factory.mktemp("gate"), upstream=MotoUpstream(), more_stacks=stacks) as running:
        yield running


@pytest.fixture
def pipeline(moto: Gate, monkeypatch: pytest.MonkeyPatch, speak_as: Run, tmp_path: Path, slim_terraform: Path) -> None:
    """The environment of a pipeline."""
    base = {**os.environ, "TF_CLI_CONFIG_FILE": str(slim_terraform)}
    for name, value in terraform_environment(mirror=None, workdir=tmp_path, base=base).items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_CA_BUNDLE", raising=False)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    speak_as(moto, "pipeline")


@pytest.fixture
def planned(moto: Gate, pipeline: None, roots: Mapping[str, Path], tmp_path: Path) -> Run:
    """Have Terraform plan a stack with these options; the saved plan, with its JSON beside it."""

    def run(stack: str, *options: str) -> Path:
        key = moto.keys["pipeline"]
        aws = {"AWS_ENDPOINT_URL": moto.url, "AWS_ACCESS_KEY_ID": key.id, "AWS_SECRET_ACCESS_KEY": key.secret}
        plan = tmp_path / "plan.bin"
        for arguments in (["plan", "-input=false", f"-out={plan}", *options], ["show", "-json", str(plan)]):
            command = ["terraform", *arguments]
            done = subprocess.run(
                command, cwd=roots[stack], env={**os.environ, **aws}, capture_output=True, check=False
            )
            assert done.returncode == 0, done.stderr.decode()
        plan.with_suffix(".json").write_bytes(done.stdout)
        return plan

    return run


@pytest.fixture
def checked(sentinel: Run) -> Run:
    """Run `sentinel plan-check` on a saved plan."""

    def run(stack: str, plan: Path) -> Any:
        return sentinel("plan-check", str(plan.with_suffix(".json")), "--stack", stack)

    return run


@pytest.fixture
def apply(moto: Gate, roots: Mapping[str, Path], checked: Run, sentinel: Run) -> Run:
    """Run `sentinel apply` as the pipeline, on the saved plan unless it is to plan by itself. Whatever it is about, `plan-check` says the same before."""

    def run(stack: str, plan: Path, *options: str, saved: bool = True) -> Any:
        said = checked(stack, plan)
        since = moto.records()[-1].seq if moto.records() else 0
        arguments = [*([str(plan)] if saved else []), *(("--", *options) if options else ())]
        done = sentinel("apply", "--stack", stack, "--chdir", str(roots[stack]), *arguments)
        # What AWS itself refuses, no plan can tell.
        stopped = done.exit_code == 2 or bool(held(moto, since))
        assert (said.exit_code == 2) == stopped, f"{said.output}\n{done.output}\n{held(moto, since)}"
        return done

    return run


def held(gate: Gate, since: int = 0) -> list[str]:
    """The operations that were held or denied, each with the reason."""
    found = []
    for record in gate.records(stage=Stage.DECIDED, after_seq=since):
        body: Any = record.body
        if body.decision.verdict != "allow":
            reasons = "; ".join(each.reason for each in body.decision.objections)
            found.append(f"{body.call.name}: {reasons} {json.dumps(dict(body.call.parameters))[:300]}")
    return found


def approve(gate: Gate, said: str) -> None:
    """Approve the plan that is held: to destroy data needs two people."""
    [plan] = set(re.findall(r"sentinel approve (mut_\w+)", said))
    for person in ("human", gate.issue("another", kind=ActorKind.HUMAN, roles=("approver",))):
        headers = gate.bearer(person)
        reply = httpx.post(f"{gate.url}/v1/mutations/{plan}/approve", headers=headers, json={}, timeout=300)
        assert reply.status_code == 200, reply.text


@pytest.mark.parametrize("destroyed", [False, pytest.param(True, marks=pytest.mark.long)])
def test_an_ordinary_stack_is_applied_and_destroyed_without_a_hold_of_a_call(
    moto: Gate, planned: Run, apply: Run, capfd: Any, *, destroyed: bool
) -> None:
    done = apply("ordinary", planned("ordinary"))
    said = capfd.readouterr()
    assert (done.exit_code, held(moto)) == (0, []), done.output + said.err[-6000:]
    if not destroyed:
        [end] = ends(moto)
        assert (end["end"], end["exit_code"], end["unused"]) == ("ended", 0, [])
        return
    # To destroy data needs a person, once for the whole plan.
    before = len(moto.records())
    destroy = planned("ordinary", "-destroy")
    done = apply("ordinary", destroy)
    assert (done.exit_code, "SEN-D001" in done.output) == (2, True)
    approve(moto, done.output)
    # What was approved is what the plan does, not its file: the same is planned again.
    done = apply("ordinary", destroy, "-destroy", saved=False)
    said = capfd.readouterr()
    calls = [each for each in held(moto) if not each.startswith("terraform:apply")]
    assert (done.exit_code, calls) == (0, []), done.output + said.err[-6000:]
    assert len(moto.records()) > before
    assert [(each["end"], each["exit_code"], each["unused"]) for each in ends(moto)] == [("ended", 0, [])] * 2
    assert moto.run(moto.ledger.verify())


@pytest.mark.parametrize("own", ["-lock=false", "--lock=false", "-lock-timeout=1s"])
def test_terraform_waits_for_the_lock_of_the_state_unless_told_otherwise(own: str) -> None:
    """The reconciler takes it for a moment after each merge."""
    assert with_patience(("-no-color",)) == ("-no-color", "-lock-timeout=5m")
    assert with_patience((own,)) == (own,)


@pytest.mark.long
def test_a_resource_whose_calls_nobody_understands_is_named_before_the_apply(
    moto: Gate, planned: Run, apply: Run, checked: Run, capfd: Any
) -> None:
    plan = planned("unknown")
    said = checked("unknown", plan)
    assert (said.exit_code, "would not pass" in said.output) == (2, True), said.output
    assert "Nobody understands the calls that change aws_cognito_risk_configuration.main" in said.output
    since = moto.records()[-1].seq

    done = apply("unknown", plan)
    printed = capfd.readouterr()

    assert done.exit_code != 0, printed.err
    assert [each.partition(":")[0] for each in held(moto, since)] == ["cognito-idp"]
    assert "SetRiskConfiguration" in held(moto, since)[0]


def ends(gate: Gate) -> list[Any]:
    """What the records of ended sessions say, oldest first."""
    return [record.body.members for record in gate.records(stage=Stage.PLAN_ENDED)]


def resources(root: Path) -> list[str]:
    """The resources in a state."""
    done = subprocess.run(["terraform", "state", "list"], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.fixture
def passes(moto: Gate, planned: Run, apply: Run, capfd: Any) -> Run:
    """Apply the small stack with these options of Terraform's; it succeeds, and no call is held."""
    since = moto.records()[-1].seq if moto.records() else 0

    def run(*options: str) -> None:
        done = apply("small", planned("small", *options), *options, saved=False)
        said = capfd.readouterr()
        assert (done.exit_code, held(moto, since)) == (0, []), done.output + said.err[-4000:]

    return run


@pytest.mark.long
def test_an_apply_that_failed_is_done_by_the_next_one(
    moto: Gate, planned: Run, apply: Run, passes: Run, roots: Mapping[str, Path]
) -> None:
    first = len(ends(moto))
    passes("-target=aws_sns_topic.alerts")
    assert resources(roots["small"]) == ["aws_sns_topic.alerts"]
    # Somebody else has made the repository: the apply fails, and the next one does the rest.
    upstream: Any = moto.upstream
    ecr = upstream.client("ecr")
    ecr.create_repository(repositoryName="small/app")
    assert apply("small", planned("small"), "-parallelism=1").exit_code == 1
    failed = ends(moto)[-1]
    assert (failed["exit_code"], failed["unused"], failed["calls"]["failed"]) == (
        1,
        ["small:aws_ecr_repository.app"],
        1,
    )
    ecr.delete_repository(repositoryName="small/app")
    passes()
    assert len(ends(moto)) == first + 3


@pytest.mark.long
def test_a_stack_lives_by_its_plans(moto: Gate, passes: Run) -> None:
    upstream: Any = moto.upstream
    first = len(ends(moto))
    passes()
    passes("-var=delay=9")
    passes("-var=delay=9", "-var=name=other")
    topics = [each["TopicArn"].rpartition(":")[2] for each in upstream.client("sns").list_topics()["Topics"]]
    assert [name for name in topics if name.startswith("small-")] == ["small-other"]
    passes("-refresh-only", "-var=delay=9", "-var=name=other")
    assert (ends(moto)[-1]["calls"], ends(moto)[-1]["unused"]) == ({}, [])
    assert len(ends(moto)) == first + 4
    assert moto.run(moto.ledger.verify())
