"""A change of several parts is written whole or not at all: real Terraform, and a simulated AWS."""

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from reconciler.__main__ import app
from tests.reconciler.conftest import Live, World
from tests.reconciler.working_copy.trail import Trail


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory, other_world: World) -> Live:
    return other_world.emptied().applied("composite", tmp_path_factory)


@pytest.fixture(scope="module")
def trail(live: Live) -> Trail:
    """A topic for an alarm that also gets more periods than its rule allows, a rule that is narrowed, and a bucket that is locked down."""
    made = Trail(live)
    topic = made.do("sns", "CreateTopic", Name="pager")["TopicArn"]
    (alarm,) = live.client("cloudwatch").describe_alarms()["MetricAlarms"]
    kept = ("AlarmName", "Namespace", "MetricName", "Statistic", "ComparisonOperator", "Period", "Threshold")
    own = {name: alarm[name] for name in kept}
    made.do("cloudwatch", "PutMetricAlarm", **own, EvaluationPeriods=50, AlarmActions=[topic])
    (group,) = live.client("ec2").describe_security_groups(GroupNames=["web"])["SecurityGroups"]
    for operation, cidr in (("Revoke", "0.0.0.0/0"), ("Authorize", "10.0.0.0/8")):
        ports = {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "IpRanges": [{"CidrIp": cidr}]}
        made.do("ec2", f"{operation}SecurityGroupIngress", GroupId=group["GroupId"], IpPermissions=[ports])
    closed = dict.fromkeys(("BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets"), True)
    made.do("s3", "PutPublicAccessBlock", Bucket="reports-prod", PublicAccessBlockConfiguration=closed)
    enabled = {"Status": "Enabled"}
    made.do("s3", "PutBucketVersioning", Bucket="reports-prod", VersioningConfiguration=enabled)
    return made


@pytest.mark.terraform
@pytest.mark.allow_hosts(["127.0.0.1"])
def test_all_of_a_change_is_written_with_its_references_or_nothing_and_the_part_that_holds_alone_is_offered(
    live: Live, trail: Trail, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in live.environment.items():
        monkeypatch.setenv(name, value)
    copy, events = tmp_path / "copy", trail.write(tmp_path / "events.json")
    shutil.copytree(live.path, copy, symlinks=True)
    result = CliRunner().invoke(app, ["reconcile", str(copy), "--events", str(events), "--write", "--json"])
    output = json.loads(result.stdout)

    text = (copy / "main.tf").read_text()
    assert 'resource "aws_sns_topic" "pager" {\n  name = "pager"\n}' in text
    assert "alarm_actions       = [aws_sns_topic.pager.arn]" in text
    assert "to = aws_security_group_rule." in text
    assert '["10.0.0.0/8"]' in text
    assert "0.0.0.0/0" not in text
    left = {f"{entry['address'] or entry['type']}.{entry['attribute']}": entry for entry in output["left"]}
    assert set(left) == {
        "aws_cloudwatch_metric_alarm.depth.evaluation_periods",
        "aws_s3_bucket_versioning.reports.versioning_configuration.status",
        "aws_s3_bucket_public_access_block.*",
    }
    assert "public_access_block" not in text
    block = left["aws_s3_bucket_public_access_block.*"]
    assert "All of such a change is written, or nothing of it." in block["why"]
    assert '+resource "aws_s3_bucket_public_access_block" "reports" {' in block["diff"]
    assert (result.exit_code, output["clean"]) == (2, False)
