"""Broken contracts, code or policies prevent the start. If they break later, the last valid version stays in force and /readyz reports it."""

import asyncio
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from botocore.exceptions import ClientError

from gateway.app.running import running
from gateway.core.errors import CodeInvalid, PolicyInvalid, SentinelError
from gateway.core.settings import PolicySettings, Settings, StackSettings
from tests.kit.gate import ASG, STACK, Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    """A gateway for one test, which changes its contracts and code."""
    with Gate(directory=tmp_path) as running_gate:
        yield running_gate


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.1)


def _ready(gate: Gate) -> dict[str, object]:
    return dict(httpx.get(f"{gate.url}/readyz").json())


def _allows(gate: Gate, capacity: int) -> bool:
    body = {
        "service": "autoscaling",
        "operation": "SetDesiredCapacity",
        "parameters": {"AutoScalingGroupName": ASG, "DesiredCapacity": capacity},
        "motive": {"intent": "availability", "motivation": "incident", "evidence": ["A-1"]},
        "dry_run": True,
    }
    reply = httpx.post(f"{gate.url}/v1/mutations", json=body, headers=gate.bearer()).json()
    return bool(reply["decision"]["verdict"] == "allow")


def test_a_changed_contract_takes_effect_and_a_broken_one_does_not(gate: Gate) -> None:
    contract = gate.stack / "kafka.sentinel.hcl"
    good = contract.read_text()
    assert _allows(gate, 6)
    contract.write_text(good.replace("max      = self.max_size", "max      = 5"))
    _until(lambda: not _allows(gate, 6))
    contract.write_text(good.replace("max      = self.max_size", "maximum  = 5"))
    _until(lambda: _ready(gate)["status"] == "degraded")
    assert "kafka.sentinel.hcl:10" in str(_ready(gate)["problems"])
    assert not _allows(gate, 6)
    contract.write_text(good)
    _until(lambda: _ready(gate)["status"] == "ready")
    assert _allows(gate, 6)


@pytest.mark.parametrize(
    ("file", "text", "names"),
    [
        ("main.tf", 'resource "aws_sqs_queue" {', "main.tf:"),
        ("terraform.tfstate", '{"version": 4, "resources": [', "terraform.tfstate"),
        ("terraform.tfvars", "consumers = = 4", "terraform.tfvars:1"),
    ],
)
def test_broken_code_or_state_keeps_the_last_valid_version(gate: Gate, file: str, text: str, names: str) -> None:
    (gate.stack / file).write_text(text)
    _until(lambda: _ready(gate)["status"] == "degraded")
    assert names in str(_ready(gate)["problems"])
    client = gate.client("autoscaling")
    client.set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=6)
    with pytest.raises(ClientError, match="over max"):
        client.set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=20)


@pytest.mark.parametrize(
    ("file", "text", "names"),
    [
        (
            "kafka.sentinel.hcl",
            'contract "kafka" {\n  resource "aws_sqs_queue" "*" {\n    managed = true\n  }\n}\n',
            "kafka.sentinel.hcl:3",
        ),
        ("main.tf", "resource {", "main.tf:1"),
        ("terraform.tfstate", "{", "terraform.tfstate"),
    ],
)
async def test_broken_contracts_code_or_state_prevent_the_start(
    tmp_path: Path, file: str, text: str, names: str
) -> None:
    stack = tmp_path / "stack"
    await asyncio.to_thread(shutil.copytree, STACK, stack)
    (stack / file).write_text(text)
    settings = Settings(data=tmp_path / "data", stacks=(StackSettings(name="kafka", path=stack),))
    with pytest.raises(CodeInvalid, match=names):
        async with running(settings):
            pass


HEAD = "package sentinel.rules.mine\n\nimport rego.v1\n\nevaluated := true\n\n"


@pytest.mark.opa
@pytest.mark.parametrize(
    ("text", "names"),
    [
        (HEAD + "findings contains {", "mine.rego:7"),
        (HEAD + 'findings contains f if f := http.send({"url": input.stack, "method": "GET"}).body\n', "http.send"),
    ],
)
async def test_a_broken_policy_prevents_the_start(tmp_path: Path, text: str, names: str) -> None:
    policies = tmp_path / "policies"
    await asyncio.to_thread(shutil.copytree, Path(__file__).parents[3] / "policies", policies)
    (policies / "guardrails" / "mine.rego").write_text(text)
    settings = Settings(data=tmp_path / "data", policy=PolicySettings(path=policies, green_tests=False))
    with pytest.raises(PolicyInvalid, match=names):
        async with running(settings):
            pass


async def test_an_unusable_ledger_prevents_the_start(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, ledger=f"sqlite:///{tmp_path}")
    with pytest.raises(SentinelError, match="ledger"):
        async with running(settings):
            pass
