"""What events say was created is written with its import, recognised, or named with who made it: real Terraform, and a simulated AWS."""

import asyncio
import json
import shutil
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from gateway.core.model.export_format import ExportFormatName
from gateway.core.model.mutation import Call
from gateway.exports.one_file import export_once
from reconciler.__main__ import app
from tests.kit.exports import opened
from tests.kit.stores import KEYS
from tests.reconciler.conftest import Live, World
from tests.reconciler.working_copy.trail import Trail

_READS = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}
_POLICY = json.dumps({"Version": "2012-10-17", "Statement": [_READS]})


@pytest.fixture(scope="module")
def orders(tmp_path_factory: pytest.TempPathFactory, other_world: World) -> Live:
    return other_world.emptied().applied("adoption", tmp_path_factory)


def _of_state(live: Live, address: str, name: str) -> str:
    kind, _, label = address.partition(".")
    resources = json.loads(live.state.read_text())["resources"]
    found = next(each for each in resources if (each["type"], each["name"]) == (kind, label))
    return str(found["instances"][0]["attributes"][name])


@pytest.fixture(scope="module")
def trail(orders: Live) -> Trail:
    """The five measured creations, and others that belong to the stack in some form, or do not."""
    made = Trail(orders)
    vpc, app_group = _of_state(orders, "aws_vpc.main", "id"), _of_state(orders, "aws_security_group.app", "id")
    inline, topic = (
        _of_state(orders, "aws_security_group.inline", "id"),
        _of_state(orders, "aws_sns_topic.events", "arn"),
    )
    queue = "arn:aws:sqs:eu-west-1:123456789012:somebodys"
    orders.client("sqs").create_queue(QueueName="somebodys")

    where = {"LocationConstraint": "eu-west-1"}
    made.do("s3", "CreateBucket", Bucket="somebodys-data", CreateBucketConfiguration=where)
    made.do("sns", "Subscribe", TopicArn=topic, Protocol="sqs", Endpoint=queue, ReturnSubscriptionArn=True)
    made.do(
        "autoscaling",
        "PutScheduledUpdateGroupAction",
        AutoScalingGroupName="orders-web",
        ScheduledActionName="night",
        Recurrence="0 20 * * *",
        MinSize=0,
        MaxSize=1,
        DesiredCapacity=0,
    )
    made.do("ssm", "PutParameter", Name="/somebody/level", Type="String", Value="debug")
    made.do("ec2", "CreateSecurityGroup", GroupName="somebodys", Description="by hand", VpcId=vpc)

    for group, port in ((app_group, 8443), (inline, 8080)):
        ports = {"IpProtocol": "tcp", "FromPort": port, "ToPort": port, "IpRanges": [{"CidrIp": "10.1.0.0/16"}]}
        made.do("ec2", "AuthorizeSecurityGroupIngress", GroupId=group, IpPermissions=[ports])
    made.do("events", "PutTargets", Rule="orders-nightly", Targets=[{"Id": "queue", "Arn": queue}])
    made.do("iam", "PutRolePolicy", RoleName="order-worker", PolicyName="read", PolicyDocument=_POLICY)
    made.do(
        "s3",
        "PutBucketCors",
        Bucket="order-archive",
        CORSConfiguration={"CORSRules": [{"AllowedMethods": ["GET"], "AllowedOrigins": ["*"]}]},
    )
    gone = made.do("kms", "CreateKey", Description="for an hour")["KeyMetadata"]["KeyId"]
    made.do("kms", "ScheduleKeyDeletion", KeyId=gone)
    made.tell("newservice", "CreateThing", {"thingName": "odd"})
    made.tell("sqs", "CreateQueue", {"queueName": "theirs"}, recipientAccountId="999999999999")
    made.tell("sqs", "CreateQueue", {"queueName": "denied"}, errorCode="AccessDenied")
    made.tell("logs", "PutRetentionPolicy", {"logGroupName": "/orders/app", "retentionInDays": 7})
    return made


def _run(
    live: Live, copy: Path, trail: Path, monkeypatch: pytest.MonkeyPatch, *argv: str
) -> tuple[int, dict[str, Any]]:
    for name, value in live.environment.items():
        monkeypatch.setenv(name, value)
    shutil.copytree(live.path, copy, symlinks=True)
    result = CliRunner().invoke(app, ["reconcile", str(copy), "--events", str(trail), *argv, "--json"])
    assert result.stdout, result.exception
    return result.exit_code, json.loads(result.stdout)


@pytest.mark.terraform
@pytest.mark.slow
@pytest.mark.allow_hosts(["127.0.0.1"])
def test_what_belongs_to_the_stack_is_written_and_the_rest_is_named_with_who_made_it(
    orders: Live, trail: Trail, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, output = _run(orders, tmp_path / "copy", trail.write(tmp_path / "events.json"), monkeypatch)

    assert (code, output["clean"]) == (2, False)
    left = {entry["event"]: entry for entry in output["left"]}
    assert {event: (entry["type"], entry["identity"]) for event, entry in left.items()} == {
        "s3:CreateBucket": ("aws_s3_bucket", "somebodys-data"),
        "ssm:PutParameter": ("aws_ssm_parameter", "/somebody/level"),
        "newservice:CreateThing": ("", "odd"),
    }
    assert {entry["by"] for entry in output["left"]} == {"arn:aws:iam::123456789012:user/ada"}
    assert "belongs to no resource of the stack" in left["s3:CreateBucket"]["why"]
    assert "No table knows" in left["newservice:CreateThing"]["why"]
    assert output["noted"] == [
        "1 × events of the account 999999999999, which is not the stack's.",
        "1 × logs:PutRetentionPolicy of what is declared: a plan shows what it changed.",
    ]
    assert {entry["address"] for entry in output["drift"]} == {
        "aws_autoscaling_schedule.night",
        "aws_cloudwatch_event_target.queue",
        "aws_iam_role_policy.read",
        "aws_s3_bucket_cors_configuration.archive",
        "aws_security_group.inline",
        "aws_security_group.somebodys",
        "aws_security_group_rule.app_8443",
        "aws_sns_topic_subscription.events",
    }


@pytest.mark.long
@pytest.mark.terraform
@pytest.mark.slow
@pytest.mark.allow_hosts(["127.0.0.1"])
def test_all_that_can_be_imported_is_written_if_that_is_wished(
    orders: Live, trail: Trail, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = Trail(orders, [each for each in trail.records if each["eventSource"] != "newservice.amazonaws.com"])
    copy = tmp_path / "copy"

    code, output = _run(orders, copy, known.write(tmp_path / "events.json"), monkeypatch, "--adopt", "all", "--write")

    assert (code, output["left"], output["pending"]) == (0, [], "")
    written = (copy / "main.tf").read_text()
    assert 'resource "aws_s3_bucket" "' in written
    assert 'resource "aws_ssm_parameter" "' in written
    assert "aws_vpc_security_group_ingress_rule" not in written
    argv = ["terraform", "plan", "-detailed-exitcode", "-lock=false", "-no-color"]
    planned = subprocess.run(argv, cwd=copy, env=orders.environment, capture_output=True, text=True, check=False)
    assert planned.returncode == 0, planned.stdout


@pytest.mark.long
@pytest.mark.terraform
@pytest.mark.slow
@pytest.mark.allow_hosts(["127.0.0.1"])
async def test_what_the_ledger_says_was_created_is_accounted_for_as_what_a_trail_says(
    orders: Live,
    carried_out: Callable[..., Awaitable[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The export of the ledger is given to `--events`: one creation belongs to the stack, one to nobody, one is not understood by anybody."""
    filtered = {"logGroupName": "/orders/app", "filterName": "late", "filterPattern": "LATE", "metricTransformations": [{"metricName": "Late", "metricNamespace": "Orders", "metricValue": "1", "unit": "None"}]}  # fmt: skip
    orders.client("logs").put_metric_filter(**filtered)
    topic = orders.client("sns").create_topic(Name="through-the-gate")["TopicArn"]
    where: dict[str, Any] = {"region": "eu-west-1", "account": "123456789012"}
    for service, operation, asked, made in (
        ("logs", "PutMetricFilter", filtered, ""),
        ("sns", "CreateTopic", {"Name": "through-the-gate"}, topic),
        ("newservice", "CreateThing", {"ThingName": "odd"}, ""),
    ):
        await carried_out(call=Call(service=service, operation=operation, parameters=asked, **where), made=made)
    events = tmp_path / "ledger.json"
    with events.open("wb") as file:
        store = opened(tmp_path / "ledger.db")
        assert export_once(store, KEYS.chain, ExportFormatName.CLOUDTRAIL, file) == 3
        store.close()
    try:
        code, output = await asyncio.to_thread(_run, orders, tmp_path / "copy", events, monkeypatch)
    finally:
        orders.client("sns").delete_topic(TopicArn=topic)
        orders.client("logs").delete_metric_filter(logGroupName="/orders/app", filterName="late")
    assert code == 2
    assert {(each["event"], each["type"], each["identity"], each["by"]) for each in output["left"]} == {
        ("sns:CreateTopic", "aws_sns_topic", topic, "agent-builder"),
        ("newservice:CreateThing", "", "odd", "agent-builder"),
    }
    assert all(each["why"] for each in output["left"])
    assert "aws_cloudwatch_log_metric_filter.late" in {each["address"] for each in output["drift"]}
    assert "through-the-gate" not in output["diff"]
