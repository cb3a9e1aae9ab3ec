"""The workflows and the hooks to copy (`deploy/policies`): their own commands are run, against a gateway that has decided."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from gateway.__main__ import app
from gateway.policy.opa_command import find_opa
from gateway.policy.sources import shipped
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
FILES = Path(__file__).resolve().parents[3] / "deploy" / "policies"
WORKFLOW: Any = yaml.safe_load((FILES / ".github" / "workflows" / "policy-replay.yml").read_text())
HOOKS: Any = yaml.safe_load((FILES / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
JOB = WORKFLOW["jobs"]["replay"]
STEPS: dict[str, Any] = {each["name"]: each for each in JOB["steps"] if "run" in each}
OF_CONTRACTS: Any = yaml.safe_load((FILES / ".github" / "workflows" / "contract-replay.yml").read_text())
CONTRACT_JOB = OF_CONTRACTS["jobs"]["replay"]
CONTRACT_STEPS: dict[str, Any] = {each["name"]: each for each in CONTRACT_JOB["steps"] if "run" in each}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with edited policies, and a `gh` that keeps what it is told."""
    shutil.copytree(shipped(), tmp_path / "policies")
    file = tmp_path / "policies" / "data" / "disruption.json"
    data = json.loads(file.read_text())
    data["disruption"]["disrupting"]["autoscaling:SetDesiredCapacity"] = "starts and stops what runs"
    file.write_text(json.dumps(data))
    (tmp_path / "gh").write_text('#!/bin/sh\nprintf "%s " "$@" > told\n')
    (tmp_path / "gh").chmod(0o755)
    return tmp_path


def run(command: str, checkout: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a step as a runner does."""
    tool = find_opa()
    assert tool is not None
    path = os.pathsep.join((str(checkout), str(Path(sys.executable).parent), str(tool.parent), os.environ["PATH"]))
    return subprocess.run(
        ["bash", "-e", "-c", command],
        cwd=checkout,
        env={"PATH": path, "HOME": str(checkout), **JOB["env"], **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.opa
def test_the_workflow_replays_comments_and_marks_lines(gate: Gate, checkout: Path) -> None:
    gate.client("autoscaling").set_desired_capacity(
        AutoScalingGroupName="kafka-consumer-processor-asg", DesiredCapacity=6
    )
    key = gate.keys["pipeline"]
    identity = {"SENTINEL_URL": gate.url, "SENTINEL_TOKEN": f"{key.id}.{key.secret}"}
    done = run(STEPS["Replay"]["run"], checkout, **identity)
    assert done.returncode == 0, done.stderr
    assert "allowed → held" in (checkout / "replay.markdown").read_text()
    result, *_ = json.loads((checkout / "replay.sarif").read_text())["runs"][0]["results"]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "policies/guardrails/disruption.rego"
    assert run(STEPS["Comment"]["run"], checkout, PULL_REQUEST="7").returncode == 0
    assert (
        (checkout / "told")
        .read_text()
        .startswith("pr comment 7 --edit-last --create-if-none --body-file replay.markdown")
    )
    assert run(STEPS["Replay"]["run"], checkout, **identity | {"SENTINEL_TOKEN": "SNTLX.x"}).returncode == 1


@pytest.mark.long
def test_the_workflow_of_contracts_checks_replays_and_comments(gate: Gate, checkout: Path) -> None:
    gate.client("autoscaling").set_desired_capacity(
        AutoScalingGroupName="kafka-consumer-processor-asg", DesiredCapacity=6
    )
    contract = Path(shutil.copytree(gate.stack, checkout / "infra" / "kafka")) / "kafka.sentinel.hcl"
    contract.write_text(contract.read_text().replace("max_step = 4", "max_step = 1"))
    key = gate.keys["pipeline"]
    environment = {
        **CONTRACT_JOB["env"],
        "STACK": "kafka",
        "STACK_PATH": "infra/kafka",
        "SENTINEL_URL": gate.url,
        "SENTINEL_TOKEN": f"{key.id}.{key.secret}",
    }
    for name in ("Check", "Replay"):
        done = run(CONTRACT_STEPS[name]["run"], checkout, **environment)
        assert done.returncode == 0, done.stdout + done.stderr
    assert "allowed → denied" in (checkout / "replay.markdown").read_text()
    [result] = json.loads((checkout / "replay.sarif").read_text())["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("infra/kafka/kafka.sentinel.hcl", 11)
    assert run(CONTRACT_STEPS["Comment"]["run"], checkout, PULL_REQUEST="7").returncode == 0
    contract.write_text("contract {")
    for name in ("Check", "Replay"):
        assert run(CONTRACT_STEPS[name]["run"], checkout, **environment).returncode == 1


@pytest.mark.long
@pytest.mark.opa
def test_lint_passes_what_is_right_and_stops_what_is_not(checkout: Path) -> None:
    hooks = {each["id"]: each["entry"] for each in HOOKS}
    for command in (STEPS["Lint"]["run"], hooks["sentinel-policy-lint"], hooks["sentinel-policy-fmt"]):
        done = run(command, checkout)
        assert done.returncode == 0, done.stdout + done.stderr
    file = checkout / "policies" / "guardrails" / "motive.rego"
    file.write_text(file.read_text().replace("input.motive", "input.motif"))
    done = run(STEPS["Lint"]["run"], checkout)
    assert (done.returncode, "motive.rego:" in done.stdout) == (1, True)


def test_only_commands_and_options_that_there_are_are_named() -> None:
    every: Any = get_command(app)
    steps = (*STEPS.values(), *CONTRACT_STEPS.values())
    entries = [each["entry"] for each in HOOKS] + [each["run"] for each in steps]
    for topic, count in (("policy", len(HOOKS) + 3), ("contract", 2)):
        group = every.get_command(None, topic)
        lines = [line for entry in entries for line in entry.splitlines() if f"sentinel {topic}" in line]
        assert len(lines) == count
        for line in lines:
            words = shlex.split(line.partition(f"sentinel {topic} ")[2].partition(">")[0])
            known = {name for option in group.get_command(None, words[0]).params for name in option.opts}
            assert {each for each in words if each.startswith("--")} <= known


def test_the_comment_is_for_branches_of_the_repository_alone() -> None:
    for workflow, job, steps in ((WORKFLOW, JOB, STEPS), (OF_CONTRACTS, CONTRACT_JOB, CONTRACT_STEPS)):
        assert job["if"] == "github.event.pull_request.head.repo.full_name == github.repository"
        assert workflow["permissions"] == {"contents": "read", "pull-requests": "write", "security-events": "write"}
        assert not any("${{" in each["run"] for each in steps.values())  # no text of a pull request reaches a shell
