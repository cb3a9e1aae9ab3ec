"""Any working copy is brought in line with what is live, on a real Terraform and a simulated AWS."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from reconciler.__main__ import app
from reconciler.model import Drift, Edited, Left, Wanted
from reconciler.terraform.cli import SavedPlan
from reconciler.terraform.plan import ResourceChange, TerraformPlan
from reconciler.working_copy import with_plan
from reconciler.working_copy.report import Report
from reconciler.working_copy.with_plan import finish, with_unaccounted, without_partial_resources


@pytest.fixture
def drifted(calm: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A working copy of the applied stack, with drift in every kind of place that a value can come from."""
    calm.client("autoscaling").update_auto_scaling_group(AutoScalingGroupName="web", DesiredCapacity=5, MaxSize=10)
    logs = calm.client("logs")
    for name, days in (("/shop/app", 90), ("/team/blue", 60), ("/pair/0", 7)):
        logs.put_retention_policy(logGroupName=name, retentionInDays=days)
    calm.client("iam").update_role(RoleName="worker-night", MaxSessionDuration=10800)
    calm.client("iam").update_role(RoleName="worker-day", MaxSessionDuration=14400)
    calm.alarm(250)
    for name, value in calm.environment.items():
        monkeypatch.setenv(name, value)
    shutil.copytree(calm.path, tmp_path / "copy", symlinks=True)
    return tmp_path / "copy"


def _run(*argv: str) -> tuple[int, dict[str, Any]]:
    result = CliRunner().invoke(app, ["reconcile", *argv, "--json"])
    return result.exit_code, json.loads(result.stdout)


@pytest.mark.terraform
@pytest.mark.allow_hosts(["127.0.0.1"])
def test_every_kind_of_place_is_edited(drifted: Path, calm: Any, tmp_path: Path) -> None:
    events = tmp_path / "events.json"
    event = {
        "eventSource": "logs.amazonaws.com",
        "eventName": "PutRetentionPolicy",
        "eventTime": "2026-11-20T10:00:00Z",
        "userIdentity": {"type": "IAMUser", "userName": "mallory"},
        "requestParameters": {"logGroupName": "/shop/app", "retentionInDays": 90},
    }
    events.write_text(json.dumps({"Records": [event, "nonsense"]}))
    before = (drifted / "main.tf").read_text()

    code, output = _run(str(drifted), "--write", "--events", str(events))

    assert (code, output["clean"]) == (2, False), "an event could not be read"
    values = {f"{entry['address']}.{entry['attribute']}": entry["live"] for entry in output["drift"]}
    assert values == {
        "aws_autoscaling_group.web.desired_capacity": 5,
        "aws_autoscaling_group.web.max_size": 10,
        "aws_cloudwatch_log_group.app.retention_in_days": 90,
        "aws_cloudwatch_log_group.pair[0].retention_in_days": 7,
        'aws_cloudwatch_log_group.team["blue"].retention_in_days': 60,
        "aws_cloudwatch_metric_alarm.errors.threshold": 250,
        "module.day.aws_iam_role.this.max_session_duration": 14400,
        "module.night.aws_iam_role.this.max_session_duration": 10800,
    }
    assert output["left"] == []
    assert {entry["origin"]["actor"] for entry in output["drift"] if entry["origin"]} == {"mallory"}
    assert len(output["bad_events"]) == 1
    assert (drifted / "terraform.tfvars").read_text() == (
        "desired = 5\n\nteams = {\n  red  = { days = 7 }\n  blue = { days = 60 }\n}\n"
    )
    assert (drifted / "variables.tf").read_text().count("default = 90") == 1
    changed = [
        (old, new)
        for old, new in zip(before.splitlines(), (drifted / "main.tf").read_text().splitlines(), strict=False)
        if old != new
    ]
    assert ("  threshold           = 100 # per minute", "  threshold           = 250 # per minute") in changed
    assert ("  retention_in_days = 14", "  retention_in_days = count.index == 0 ? 7 : 14") in changed

    code, output = _run(str(drifted))
    assert (code, output["clean"], output["drift"]) == (0, True, [])


@pytest.mark.long
@pytest.mark.terraform
@pytest.mark.allow_hosts(["127.0.0.1"])
def test_one_value_that_terraform_refuses_keeps_no_other_back(drifted: Path) -> None:
    main = drifted / "main.tf"
    rule = """
  lifecycle {
    precondition {
      condition     = var.retention < 60
      error_message = "Less than 60 days."
    }
  }
"""
    main.write_text(
        main.read_text().replace(
            "  retention_in_days = var.retention\n", f"  retention_in_days = var.retention\n{rule}"
        )
    )

    code, output = _run(str(drifted), "--write")

    assert code == 2
    (left,) = output["left"]
    assert (left["address"], left["attribute"]) == ("aws_cloudwatch_log_group.app", "retention_in_days")
    assert "Less than 60 days." in left["reason"]
    assert len(output["drift"]) == 7
    assert "desired = 5\n" in (drifted / "terraform.tfvars").read_text()
    assert "default = 30" in (drifted / "variables.tf").read_text()


@pytest.fixture
def outside(calm: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, Path]]:
    """A working copy with an output that follows what drifted, a log group that was created outside, and the events of both."""
    calm.client("logs").put_retention_policy(logGroupName="/shop/app", retentionInDays=90)
    calm.client("logs").create_log_group(logGroupName="/team/green")
    calm.client("logs").put_retention_policy(logGroupName="/team/green", retentionInDays=60)
    for name, value in calm.environment.items():
        monkeypatch.setenv(name, value)
    copy = tmp_path / "copy"
    shutil.copytree(calm.path, copy, symlinks=True)
    (copy / "outputs.tf").write_text('output "days" {\n  value = aws_cloudwatch_log_group.app.retention_in_days\n}\n')
    events = tmp_path / "events.json"
    created = {
        "eventSource": "logs.amazonaws.com",
        "eventName": "CreateLogGroup",
        "eventTime": "2026-11-20T10:00:00Z",
        "userIdentity": {"type": "IAMUser", "userName": "ada"},
        "requestParameters": {"logGroupName": "/team/green"},
    }
    events.write_text(json.dumps({"Records": [created]}))
    yield copy, events
    calm.client("logs").delete_log_group(logGroupName="/team/green")


def _exit_code(calm: Any, copy: Path) -> int:
    """What a user's own `terraform plan` says."""
    argv = ["terraform", "plan", "-detailed-exitcode", "-lock=false"]
    return subprocess.run(argv, cwd=copy, env=calm.environment, capture_output=True, check=False).returncode


@pytest.mark.long
@pytest.mark.terraform
@pytest.mark.allow_hosts(["127.0.0.1"])
def test_after_a_write_back_the_plan_exits_with_0_outputs_and_imports_included(outside: Any, calm: Any) -> None:
    copy, events = outside

    code, output = _run(str(copy), "--write", "--events", str(events), "--adopt", "all")

    assert (code, output["clean"], output["pending"]) == (0, True, "")
    assert "green = { days = 60 }" in (copy / "terraform.tfvars").read_text()
    state = json.loads((copy / "terraform.tfstate").read_text())
    assert state["outputs"]["days"]["value"] == 90
    assert _exit_code(calm, copy) == 0


@pytest.mark.long
@pytest.mark.terraform
@pytest.mark.allow_hosts(["127.0.0.1"])
def test_a_state_that_is_left_alone_is_said_to_be_old(outside: Any, calm: Any) -> None:
    copy, _ = outside
    before = (copy / "terraform.tfstate").read_bytes()

    code, output = _run(str(copy), "--write", "--no-refresh-state")

    assert (code, output["clean"], output["left"]) == (2, False, [])
    assert "the outputs days follow what is live" in output["pending"]
    assert (copy / "terraform.tfstate").read_bytes() == before
    assert _exit_code(calm, copy) == 2


@pytest.mark.terraform
def test_an_error_of_terraform_is_reported_and_exits_with_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "main.tf").write_text('resource "x" {\n')
    code, output = _run(str(tmp_path))
    assert code == 1
    assert output["code"] == "terraform_failed"


def test_without_terraform_it_says_so(tmp_path: Path) -> None:
    code, output = _run(str(tmp_path), "--terraform", "no-terraform-here")
    assert code == 1
    assert output["code"] == "terraform_missing"


def test_a_new_resource_is_written_whole_or_not_at_all() -> None:
    new, value, other = (
        Drift(wanted=Wanted(address=address, attribute=attribute, value=given), before=None)
        for address, attribute, given in (("a_b.new", "*", {}), ("a_b.new", "size", 1), ("a_b.c", "size", 2))
    )
    short = Left(wanted=Wanted(address="a_b.new", attribute="secret", value=None), reason="It is a secret.")
    assert without_partial_resources([new, value, other], []) == ([new, value, other], [])
    drifts, left = without_partial_resources([new, value, other], [short])
    assert drifts == [other]
    assert [entry.wanted.attribute for entry in left] == ["secret", "*"]
    assert "It is a secret." in left[1].reason


def _shown(*changes: ResourceChange, **more: Any) -> TerraformPlan:
    empty: dict[str, Any] = {"drift": (), "configured": {}, "outputs": (), "objects": {}}
    return TerraformPlan(changes=changes, **(empty | more))


def test_every_change_that_the_plan_shows_is_written_or_left() -> None:
    size, name = (ResourceChange(address="a_b.c", attribute=each, live=1, other=2) for each in ("size.x", "name"))
    report = Report(left=(Left(wanted=Wanted(address="a_b.c", attribute="size", value=1), reason="No."),))
    named = with_unaccounted(report, _shown(size, name))
    assert [each.wanted.attribute for each in named.left] == ["size", "name"]
    assert "A plan of the code would change it" in named.left[1].reason
    assert not with_unaccounted(Report(), _shown(name)).clean
    whole = Report(left=(Left(wanted=Wanted(address="a_b.c", attribute="*", value=None), reason="No."),))
    assert with_unaccounted(whole, _shown(size, name)) is not None
    assert len(with_unaccounted(whole, _shown(size, name)).left) == 1
    edited = Report(edited=Edited(files={Path("main.tf"): b""}))
    assert with_unaccounted(edited, _shown(size)) is edited, "its proofs say that nothing else is shown"
    assert with_unaccounted(Report(), None).clean


@pytest.mark.parametrize("written", [False, True])
async def test_a_plan_that_exits_with_2_and_shows_nothing_known_is_not_clean(tmp_path: Path, *, written: bool) -> None:
    saved = SavedPlan(file=tmp_path / "plan", changes=True)
    report = with_plan._with_plan(Report(), saved, _shown())
    assert not report.clean
    assert "shows nothing that Sentinel can read" in report.pending
    assert not (await finish(tmp_path, report, written=written, refreshed=True)).clean
    known = with_plan._with_plan(Report(), saved, _shown(outputs=("url",)))
    assert "the outputs url follow what is live" in known.pending
    assert with_plan._with_plan(Report(), SavedPlan(file=tmp_path / "plan", changes=False), None).clean
