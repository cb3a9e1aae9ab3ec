"""`sentinel plan-check` against a running gateway: exit codes, formats, and no secret on the wire."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gateway.cli import client, plan_check, plan_session
from gateway.core.records.record import Stage
from tests.gateway.plans.test_document import document as plan_of
from tests.gateway.plans.test_document import entry
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
ASG = "aws_autoscaling_group.kafka_consumer"
GROUP = "kafka-consumer-processor-asg"
Run = Callable[..., Any]


@pytest.fixture
def plan(elsewhere: Path) -> Callable[..., str]:
    """Write a plan and return its name."""

    def write(*entries: dict[str, Any]) -> str:
        (elsewhere / "plan.json").write_bytes(plan_of(*entries))
        return "plan.json"

    return write


@pytest.fixture
def piped(gate: Gate, speak_as: Run, plan: Run) -> Run:
    """As `plan`, by a pipeline."""
    speak_as(gate, "pipeline")
    return plan


def capacity(wanted: int) -> dict[str, Any]:
    """A plan's change of the capacity."""
    return entry(ASG, ["update"], {"desired_capacity": 6, "max_size": 16}, {"desired_capacity": wanted, "max_size": 16})


def test_a_plan_that_would_undo_a_hotfix_exits_with_2_in_every_format(
    gate: Gate, speak_as: Run, sentinel: Run, plan: Run
) -> None:
    speak_as(gate, "pipeline")
    gate.client("autoscaling", "agent").set_desired_capacity(AutoScalingGroupName=GROUP, DesiredCapacity=6)
    try:
        name = plan(capacity(4))
        text = sentinel("plan-check", name)
        assert text.exit_code == plan_check.BROKEN, text.output
        assert "would not pass: 1 denial, 0 holds." in text.stdout
        assert "SEN-A001" in text.stdout
        assert "stays, the change is refused" in text.stdout
        reply = sentinel("plan-check", name, "--json")
        assert (reply.exit_code, json.loads(reply.stdout)["passes"]) == (2, False)
        sarif = sentinel("plan-check", name, "--format", "sarif", "--root", "infra/kafka")
        [result] = json.loads(sarif.stdout)["runs"][0]["results"]
        uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert (sarif.exit_code, result["ruleId"], uri) == (2, "SEN-A001", "infra/kafka/main.tf")
        markdown = sentinel("plan-check", name, "--format", "markdown")
        assert (markdown.exit_code, "| agent |" in markdown.stdout) == (2, True)
    finally:
        gate.release_all()


def test_an_objection_names_its_resource(sentinel: Run, piped: Run) -> None:
    text = sentinel("plan-check", piped(capacity(99)))
    assert text.exit_code == plan_check.BROKEN, text.output
    assert f"denied: {ASG}: desired_capacity = 99 is over max = 16" in " ".join(text.stdout.split())


def test_a_plan_that_passes_exits_with_0(gate: Gate, speak_as: Run, sentinel: Run, plan: Run) -> None:
    speak_as(gate, "pipeline")
    done = sentinel("plan-check", plan(capacity(5)), "--stack", "kafka")
    first, *more = done.stdout.splitlines()
    assert (done.exit_code, first) == (0, "The plan of stack kafka (1 resources) would pass."), done.output
    assert all("Estimated cost" in line for line in more)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["missing.json"], "missing.json cannot be read"),
        (["plan.json", "--stack", "other"], "There is no stack 'other'"),
        (["plan.json", "--intent", "cost"], "A motive needs both"),
    ],
)
def test_what_cannot_be_checked_exits_with_1(piped: Run, sentinel: Run, arguments: list[str], sentence: str) -> None:
    piped(capacity(5))
    done = sentinel("plan-check", *arguments)
    assert (done.exit_code, sentence in done.stderr) == (1, True), done.output


def test_no_secret_leaves_this_machine(
    gate: Gate, speak_as: Run, sentinel: Run, plan: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    speak_as(gate, "human")
    sent: list[Any] = []
    call = client.call_api

    async def spy(*arguments: Any, **named: Any) -> Any:
        sent.append(named["body"])
        return await call(*arguments, **named)

    monkeypatch.setattr(plan_session, "call_api", spy)
    marks = {"after_sensitive": {"identifier": True}, "after_unknown": {"instance_class": True}}
    change = entry("aws_db_instance.reports", ["update"], {}, {"password": "hunter2-plain", "identifier": "marked-as-secret"}, change=marks)  # fmt: skip
    done = sentinel("plan-check", plan(change), "--intent", "security", "--motivation", "routine", "--json")
    assert done.exit_code in (0, 2), done.output
    assert "hunter2" not in json.dumps(sent)
    assert "marked-as-secret" not in json.dumps(sent)
    assert sent[0]["changes"][0]["secrets"] == ["password", "identifier"]
    assert sent[0]["motive"]["intent"] == "security"


def test_a_session_is_opened_for_a_pipeline_that_runs_terraform_itself(
    gate: Gate, sentinel: Run, piped: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = piped(entry("aws_sqs_queue.fresh", ["create"], None, {"name": "fresh"}))
    done = sentinel("plan-check", name, "--open-session", "--for", "10m")
    assert done.exit_code == 0, done.output
    lines = dict(line.removeprefix("export ").split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    assert lines["AWS_ENDPOINT_URL"] == gate.url
    assert lines["SENTINEL_TOKEN"].startswith("SNTS")
    assert lines["SENTINEL_PLAN"].startswith("mut_")
    monkeypatch.setenv("SENTINEL_TOKEN", shlex.split(lines["SENTINEL_TOKEN"])[0])
    monkeypatch.setenv("SENTINEL_PLAN", lines["SENTINEL_PLAN"])
    assert sentinel("end-session", "--exit-code", "3").exit_code == 0
    [end] = gate.records(stage=Stage.PLAN_ENDED, mutation_id=lines["SENTINEL_PLAN"])
    assert end.body.members["exit_code"] == 3
    monkeypatch.delenv("SENTINEL_PLAN")
    assert "SENTINEL_PLAN" in sentinel("end-session").stderr


def test_a_held_plan_says_how_to_go_on(gate: Gate, sentinel: Run, piped: Run) -> None:
    name = piped(entry("aws_ecr_repository.old", ["delete"], {"name": "old"}, None))
    done = sentinel("plan-check", name, "--open-session")
    assert (done.exit_code, done.stdout) == (plan_check.BROKEN, "")
    assert "sentinel approve mut_" in " ".join(done.stderr.split())
    reply = json.loads(sentinel("plan-check", name, "--open-session", "--json").stdout)
    assert (reply["session"], reply["environment"], reply["mutation"][:4]) == (None, {}, "mut_")
