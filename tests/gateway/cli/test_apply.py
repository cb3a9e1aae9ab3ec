"""`sentinel apply` with real Terraform and the real provider, through a gateway in front of a simulated AWS."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.core.model.caller import ActorKind
from gateway.core.records.record import Stage
from gateway.core.settings import StackSettings
from gateway.effects import derived_rows
from gateway.terraform.provider_mirror import terraform_environment
from tests.kit.gate import Gate
from tests.kit.moto import MotoUpstream

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.slow, pytest.mark.terraform]
CODE = Path(__file__).parents[2] / "cases" / "plans" / "ordinary"
ROWS = CODE.parent / "rows"
Run = Callable[..., Any]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the code of an ordinary stack, initialised."""
    directory = tmp_path_factory.mktemp("ordinary") / "stack"
    shutil.copytree(CODE, directory)
    work = tmp_path_factory.mktemp("work")
    environment = terraform_environment(mirror=None, workdir=work, base=dict(os.environ))
    done = subprocess.run(
        ["terraform", "init", "-input=false", "-no-color"],
        cwd=directory,
        env=environment,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return directory


@pytest.fixture(scope="module", autouse=True)
def rows() -> Iterator[None]:
    """Few rows beside the hand-made ones, so that the test does not change when rows are derived anew."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(derived_rows, "DIRECTORY", ROWS)
        derived_rows._lines.cache_clear()
        yield
    derived_rows._lines.cache_clear()


@pytest.fixture(scope="module")
def moto(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Iterator[Gate]:
    """A gateway in front of the simulated AWS, with the stack."""
    stacks = (StackSettings(name="ordinary", path=root),)
    with Gate(directory=tmp_path_factory.mktemp("gate"), upstream=MotoUpstream(), more_stacks=stacks) as running:
        yield running


@pytest.fixture
def pipeline(moto: Gate, monkeypatch: pytest.MonkeyPatch, speak_as: Run, tmp_path: Path) -> None:
    """The environment of a pipeline."""
    for name, value in terraform_environment(mirror=None, workdir=tmp_path, base=dict(os.environ)).items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_CA_BUNDLE", raising=False)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    speak_as(moto, "pipeline")


@pytest.fixture
def apply(pipeline: None, root: Path, sentinel: Run) -> Run:
    """Run `sentinel apply` as the pipeline."""

    def run(*arguments: str) -> Any:
        return sentinel("apply", "--stack", "ordinary", "--chdir", str(root), *arguments)

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


def test_an_ordinary_stack_is_applied_and_destroyed_without_a_hold_of_a_call(
    moto: Gate, apply: Run, capfd: Any
) -> None:
    done = apply()
    said = capfd.readouterr()
    assert (done.exit_code, held(moto)) == (0, []), done.output + said.err[-6000:]
    # To destroy data needs a person, once for the whole plan.
    before = len(moto.records())
    done = apply("--", "-destroy")
    assert (done.exit_code, "SEN-D001" in done.output) == (2, True)
    approve(moto, done.output)
    done = apply("--", "-destroy")
    said = capfd.readouterr()
    calls = [each for each in held(moto) if not each.startswith("terraform:apply")]
    assert (done.exit_code, calls) == (0, []), done.output + said.err[-6000:]
    assert len(moto.records()) > before
    ends = [record.body.members for record in moto.records(stage=Stage.PLAN_ENDED)]
    assert [(each["end"], each["exit_code"], each["unused"]) for each in ends] == [("ended", 0, [])] * 2
    assert moto.run(moto.ledger.verify())
