"""Stacks in JSON syntax, alone and beside HCL, are brought in line with what is live: real Terraform, simulated AWS."""

import difflib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from reconciler.__main__ import app
from tests.bench.drift.terraform import Tool

STACK = Path(__file__).parents[2] / "cases" / "reconcile" / "json"
DIFF = """\
-    "retention": {"type": "number", "default": 30},
+    "retention": {"type": "number", "default": 90},
-        "blue": {"days": 14}
+        "blue": {"days": 60}
-    "tags": {"team": "json", "cost": "${upper(\\"c\\")}-1"}
+    "tags": {"team": "json", "cost": "${upper(\\"c\\")}-1", "owner": "ops"}
-      "gone": {
-        "name": "/json/gone"
-      },
-        "threshold": 100
+        "threshold": 250
-          "status": "Enabled"
+          "status": "Suspended"
-      "hours": 1
+      "hours": 2
"""
HCL = 'variable "retention" {\n  type    = number\n  default = 30\n}\n'
EVENT = {
    "eventSource": "logs.amazonaws.com",
    "eventName": "CreateLogGroup",
    "eventTime": "2026-11-20T10:00:00Z",
    "userIdentity": {"type": "IAMUser", "userName": "mallory"},
    "requestParameters": {"logGroupName": "/json/app-new"},
}


def _drift(live: Any, groups: str) -> None:
    logs = live.client("logs")
    logs.put_retention_policy(logGroupName=f"{groups}/app", retentionInDays=90)
    logs.put_retention_policy(logGroupName=f"{groups}/team/blue", retentionInDays=60)
    logs.tag_log_group(logGroupName=f"{groups}/app", tags={"owner": "ops"})
    logs.delete_log_group(logGroupName=f"{groups}/gone")
    logs.create_log_group(logGroupName=f"{groups}/app-new")
    live.client("cloudwatch").put_metric_alarm(
        AlarmName="json-errors",
        Namespace="Shop",
        MetricName="Errors",
        Statistic="Sum",
        ComparisonOperator="GreaterThanThreshold",
        Period=60,
        EvaluationPeriods=2,
        Threshold=250,
    )
    live.client("s3").put_bucket_versioning(Bucket="json-bucket", VersioningConfiguration={"Status": "Suspended"})
    live.client("iam").update_role(RoleName="json-worker", MaxSessionDuration=7200)


def _clear(live: Any, groups: str) -> None:
    """Remove what the stack made, so that another one can make it."""
    logs = live.client("logs")
    for group in logs.describe_log_groups(logGroupNamePrefix=groups)["logGroups"]:
        logs.delete_log_group(logGroupName=group["logGroupName"])
    live.client("cloudwatch").delete_alarms(AlarmNames=["json-errors"])
    live.client("s3").delete_bucket(Bucket="json-bucket")
    live.client("iam").delete_role(RoleName="json-worker")


def _changed(before: str, after: str) -> list[str]:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


def _apply(tool: Tool, root: Path) -> None:
    tool.must(root, "init", "-no-color")
    tool.must(root, "apply", "-auto-approve", "-no-color")
    tool.must(root, "apply", "-refresh-only", "-auto-approve", "-no-color")


@pytest.mark.terraform
@pytest.mark.allow_hosts(["127.0.0.1"])
@pytest.mark.long
@pytest.mark.parametrize("mixed", [False, True])
def test_after_a_write_back_the_plan_exits_with_0(tool: Tool, fleet: Any, tmp_path: Path, mixed: bool) -> None:
    root = tmp_path / "stack"
    shutil.copytree(STACK, root)
    main = root / "main.tf.json"
    groups = "/mixed" if mixed else "/json"
    main.write_text(main.read_text().replace("/json/", f"{groups}/"))
    if mixed:
        main.write_text(main.read_text().replace('    "retention": {"type": "number", "default": 30},\n', ""))
        (root / "variables.tf").write_text(HCL)
    before = main.read_text()
    events = tmp_path / "events.json"
    events.write_text(json.dumps({"Records": [EVENT]}).replace("/json/", f"{groups}/"))
    try:
        _apply(tool, root)
        _drift(fleet, groups)
        result = CliRunner().invoke(
            app, ["reconcile", str(root), "--write", "--adopt", "all", "--events", str(events), "--json"]
        )
        output = json.loads(result.stdout.splitlines()[-1])
        assert (result.exit_code, output["left"]) == (0, [])
        planned = tool.plan(root)
    finally:
        _clear(fleet, groups)
    assert planned.clean, planned.text
    changed = _changed(before, main.read_text())
    expected = [
        line.replace("/json/", f"{groups}/") for line in DIFF.splitlines() if not mixed or '"retention"' not in line
    ]
    assert [line for line in expected if line not in changed] == []
    more = "\n".join(line for line in changed if line not in expected)
    assert f'"{groups}/app-new"' in more
    assert '"to": "aws_cloudwatch_log_group.' in more
    assert not any(line.startswith("-") for line in more.splitlines() if line.strip("-},] "))
    if mixed:
        assert (root / "variables.tf").read_text() == HCL.replace("30", "90")
    assert (root / "modules/role/main.tf.json").read_bytes() == (STACK / "modules/role/main.tf.json").read_bytes()
