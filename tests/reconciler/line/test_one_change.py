"""Mutations of one session that are one change are written back in one commit, or not at all: real Terraform, and a simulated AWS."""

import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from gateway.core.model.mutation import Call, Effect, EffectAction
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from gateway.core.records.write_backs import ReconciledBody
from gateway.core.times import SystemClock
from gateway.ledger.ledger import SqlLedger
from reconciler.changes.backlog import Backlog
from reconciler.line.loop import Line
from reconciler.proof.proved_edit import DeclaredCache
from tests.kit import nouns
from tests.reconciler.conftest import Live, World

pytestmark = [pytest.mark.terraform, pytest.mark.allow_hosts(["127.0.0.1"])]

Apply = Callable[..., Awaitable[str]]
TOPIC = "arn:aws:sns:eu-west-1:123456789012:pager"
ALARM = "aws_cloudwatch_metric_alarm.depth"
VERSIONING = "aws_s3_bucket_versioning.reports"
CLOSED = dict.fromkeys(("BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets"), True)


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory, other_world: World) -> Live:
    """The stack after an alarm got a topic, and more periods than its rule allows, and a bucket was locked down."""
    live = other_world.emptied().applied("composite", tmp_path_factory)
    live.client("sns").create_topic(Name="pager")
    (alarm,) = live.client("cloudwatch").describe_alarms()["MetricAlarms"]
    kept = ("AlarmName", "Namespace", "MetricName", "Statistic", "ComparisonOperator", "Period", "Threshold")
    own = {name: alarm[name] for name in kept}
    live.client("cloudwatch").put_metric_alarm(**own, EvaluationPeriods=50, AlarmActions=[TOPIC])
    s3 = live.client("s3")
    s3.put_public_access_block(Bucket="reports-prod", PublicAccessBlockConfiguration=CLOSED)
    s3.put_bucket_versioning(Bucket="reports-prod", VersioningConfiguration={"Status": "Enabled"})
    top = live.path.parent.parent
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    add = ["add", "infra/composite/main.tf", "infra/composite/.terraform.lock.hcl"]
    for argv in (["init", "-q", "-b", "main"], add, [*identity, "commit", "-qm", "first"]):
        subprocess.run(["git", *argv], cwd=top, check=True, capture_output=True)
    return live


@pytest.fixture
def line(live: Live, ledger: SqlLedger, tmp_path: Path) -> Line:
    return Line(
        stack="shop", source=live.path, state=live.state, branch=f"sentinel/{tmp_path.name}",
        worktree=tmp_path / "worktree", terraform=live.terraform(), queries=ledger, commands=ledger,
        clock=SystemClock(), declared_cache=DeclaredCache(),
    )  # fmt: skip


def _call(service: str, operation: str, **parameters: Any) -> Call:
    return Call(service=service, operation=operation, region="eu-west-1", account="123456789012", parameters=parameters)


def _created(address: str, identity: dict[str, str], **values: Any) -> list[Effect]:
    members: Any = {"action": EffectAction.CREATE, "declared": False, "identity": identity}
    return [nouns.effect(address, name, value, **members) for name, value in {"*": None, **values}.items()]


async def _topic(carried_out: Apply) -> str:
    effects = _created(f"aws_sns_topic{{{TOPIC}}}", {"name": "pager"}, name="pager")
    return await carried_out(*effects, call=_call("sns", "CreateTopic", Name="pager"))


async def _alarm(carried_out: Apply) -> str:
    effects = [nouns.effect(ALARM, "alarm_actions", [TOPIC]), nouns.effect(ALARM, "evaluation_periods", 50)]
    return await carried_out(*effects, call=_call("cloudwatch", "PutMetricAlarm", AlarmName="depth"))


async def _records(ledger: SqlLedger) -> dict[str, list[ReconciledBody]]:
    found: dict[str, list[ReconciledBody]] = {}
    for record in await ledger.records(RecordQuery(stage=Stage.RECONCILED, newest_first=False)):
        assert isinstance(record.body, ReconciledBody)
        found.setdefault(record.mutation_id, []).append(record.body)
    return found


def _git(line: Line, *argv: str) -> str:
    return subprocess.run(["git", *argv], cwd=line.source, capture_output=True, text=True, check=True).stdout


async def test_a_new_resource_and_what_refers_to_it_are_one_commit_and_each_mutation_has_its_record(
    line: Line, ledger: SqlLedger, carried_out: Apply
) -> None:
    topic, alarm = await _topic(carried_out), await _alarm(carried_out)
    backlog = Backlog(stack="shop")
    await backlog.read(ledger)
    body = await line.reconcile(backlog.decided[topic], backlog)

    assert body.left == ()
    assert '+resource "aws_sns_topic" "pager" {' in str(body.diff)
    assert "alarm_actions       = [aws_sns_topic.pager.arn]" in str(body.diff)
    records = await _records(ledger)
    assert {each: [one.commit for one in bodies] for each, bodies in records.items()} == {
        topic: [body.commit],
        alarm: [body.commit],
    }
    assert {each.address for each in body.edits} == {"aws_sns_topic.pager"}
    (second,) = records[alarm]
    assert {(each.address, each.attribute) for each in second.edits} == {(ALARM, "alarm_actions")}
    assert [each.attribute for each in second.left] == ["evaluation_periods"]
    assert "At most 10 periods." in second.left[0].reason
    message = _git(line, "log", "-1", "--format=%B", line.branch)
    assert f"Sentinel-Mutation: {topic}\nSentinel-Mutation: {alarm}\n" in message
    assert "And:  cloudwatch:PutMetricAlarm" in message
    await backlog.read(ledger)
    assert backlog.pending() == ()


@pytest.mark.long
async def test_what_was_left_alone_is_written_with_what_names_it_later_and_its_record_is_corrected(
    line: Line, ledger: SqlLedger, carried_out: Apply
) -> None:
    topic, backlog = await _topic(carried_out), Backlog(stack="shop")
    await backlog.read(ledger)
    assert "belongs to no resource" in (await line.reconcile(backlog.decided[topic], backlog)).left[0].reason
    alarm = await _alarm(carried_out)
    await backlog.read(ledger)
    body = await line.reconcile(backlog.decided[alarm], backlog)
    first, corrected = (await _records(ledger))[topic]
    assert (first.commit, corrected.commit, corrected.left) == ("", body.commit, ())
    assert "aws_sns_topic.pager.arn" in str(body.diff)
    number = corrected.corrects
    assert f"Sentinel-Corrects: {topic}@{number}\n" in _git(line, "log", "-1", "--format=%B", line.branch)


async def test_if_a_part_cannot_be_written_nothing_is_and_what_holds_alone_is_offered(
    line: Line, ledger: SqlLedger, carried_out: Apply
) -> None:
    values = {"block_public_acls": True, "block_public_policy": True, "ignore_public_acls": True, "restrict_public_buckets": True}  # fmt: skip
    block = await carried_out(
        *_created("aws_s3_bucket_public_access_block{reports-prod}", {"bucket": "reports-prod"}, **values),
        call=_call("s3", "PutPublicAccessBlock", Bucket="reports-prod", PublicAccessBlockConfiguration=CLOSED),
    )
    versioning = await carried_out(
        nouns.effect(VERSIONING, "versioning_configuration.status", "Enabled"),
        call=_call("s3", "PutBucketVersioning", Bucket="reports-prod"),
    )
    backlog = Backlog(stack="shop")
    await backlog.read(ledger)
    body = await line.reconcile(backlog.decided[block], backlog)
    assert body.commit == ""
    assert _git(line, "rev-parse", line.branch) == _git(line, "rev-parse", "main")
    (left,) = body.left
    assert f"It is one change with {VERSIONING}.versioning_configuration.status, which is left." in left.reason
    assert '+resource "aws_s3_bucket_public_access_block" "reports" {' in left.diff
    (other,) = (await _records(ledger))[versioning]
    assert (other.commit, [each.address for each in other.left]) == ("", [VERSIONING])
    assert body.tried
    assert other.tried
