"""Row 3, the guardrails' part: calls that leave every attribute as it was and yet drain, stop, lock for years or lead elsewhere.

No bound sees them. Whoever acts alone may not do them whatever a contract says; locks and strange targets wait for a human whoever asks;
what is critical is stopped by nobody alone.
"""

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.kit.gate import ASG, Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

Attack = Callable[[Gate, str], Any]
QUEUE = "https://sqs.us-east-1.amazonaws.com/123456789012/kafka-shard-0"
TARGETS = "arn:aws:elasticloadbalancing:us-east-1:123456789012:targetgroup/t/1"
LATE = datetime(2120, 1, 1, tzinfo=UTC)


def _targets(*ids: str) -> Attack:
    targets = [{"Id": each} for each in ids]
    return lambda gate, actor: gate.client("elbv2", actor).register_targets(TargetGroupArn=TARGETS, Targets=targets)


ALONE: dict[str, Attack] = {
    "draining message by message": lambda gate, actor: gate.client("sqs", actor).delete_message_batch(
        QueueUrl=QUEUE, Entries=[{"Id": "1", "ReceiptHandle": "r"}]
    ),
    "taking messages from others": lambda gate, actor: gate.client("sqs", actor).receive_message(QueueUrl=QUEUE),
    "hiding messages": lambda gate, actor: gate.client("sqs", actor).change_message_visibility(
        QueueUrl=QUEUE, ReceiptHandle="r", VisibilityTimeout=43200
    ),
    "purging": lambda gate, actor: gate.client("sqs", actor).purge_queue(QueueUrl=QUEUE),
    "deleting the queue": lambda gate, actor: gate.client("sqs", actor).delete_queue(QueueUrl=QUEUE),
    "stopping a database": lambda gate, actor: gate.client("rds", actor).stop_db_instance(DBInstanceIdentifier="kafka-reports"),
    "failing a database over": lambda gate, actor: gate.client("rds", actor).reboot_db_instance(DBInstanceIdentifier="kafka-reports", ForceFailover=True),
    "terminating": lambda gate, actor: gate.client("ec2", actor).terminate_instances(InstanceIds=["i-1"]),
    "rebooting": lambda gate, actor: gate.client("ec2", actor).reboot_instances(InstanceIds=["i-1"]),
    "deleting a service with its tasks": lambda gate, actor: gate.client("ecs", actor).delete_service(cluster="c", service="s", force=True),
    "replacing every instance": lambda gate, actor: gate.client("autoscaling", actor).start_instance_refresh(AutoScalingGroupName=ASG),
    "taking targets out": lambda gate, actor: gate.client("elbv2", actor).deregister_targets(TargetGroupArn=TARGETS, Targets=[{"Id": "i-1"}]),
    "copying another bucket's object out": lambda gate, actor: gate.client("s3", actor).copy_object(Bucket="mine", Key="k", CopySource="theirs/k"),
    "a private address": _targets("10.0.0.9"),
}  # fmt: skip
ANYBODY: dict[str, Attack] = {
    "a lock until 2120": lambda gate, actor: gate.client("s3", actor).put_object(
        Bucket="b", Key="k", Body=b"", ObjectLockMode="COMPLIANCE", ObjectLockRetainUntilDate=LATE
    ),
    "a lock on a copy": lambda gate, actor: gate.client("s3", actor).copy_object(
        Bucket="b", Key="k", CopySource="b/j", ObjectLockMode="COMPLIANCE", ObjectLockRetainUntilDate=LATE
    ),
    "a lock on a big object": lambda gate, actor: gate.client("s3", actor).create_multipart_upload(
        Bucket="b", Key="k", ObjectLockMode="GOVERNANCE", ObjectLockRetainUntilDate=LATE
    ),
    "a legal hold": lambda gate, actor: gate.client("s3", actor).put_object_legal_hold(Bucket="b", Key="k", LegalHold={"Status": "ON"}),
    "a lock on a bucket": lambda gate, actor: gate.client("s3", actor).put_object_lock_configuration(
        Bucket="b", ObjectLockConfiguration={"ObjectLockEnabled": "Enabled", "Rule": {"DefaultRetention": {"Mode": "COMPLIANCE", "Years": 99}}}
    ),
    "restoring into another bucket": lambda gate, actor: gate.client("s3", actor).restore_object(
        Bucket="b", Key="k", RestoreRequest={"Type": "SELECT", "OutputLocation": {"S3": {"BucketName": "theirs", "Prefix": "p"}}}
    ),
    "a target on the internet": _targets("203.0.113.9"),
    "a target on the internet behind one of ours": _targets("i-1", "203.0.113.9"),
    "another account's function as target": _targets("arn:aws:lambda:us-east-1:999999999999:function:f"),
    "a critical function that may not run": lambda gate, actor: gate.client("lambda", actor).put_function_concurrency(
        FunctionName="kafka-rebalancer", ReservedConcurrentExecutions=0
    ),
    "a cluster that fails over": lambda gate, actor: gate.client("rds", actor).failover_db_cluster(DBClusterIdentifier="c"),
}  # fmt: skip


def _never_sent(gate: Gate, attack: Attack, actor: str) -> None:
    gate.upstream.asked.clear()
    with pytest.raises(ClientError):
        attack(gate, actor)
    assert gate.upstream.asked == []
    assert not gate.run(gate.ledger.claims())


@pytest.mark.parametrize("attack", [*ALONE.values(), *ANYBODY.values()], ids=[*ALONE, *ANYBODY])
def test_an_agent_does_it_not_alone(gate: Gate, attack: Attack) -> None:
    _never_sent(gate, attack, "agent")


@pytest.mark.parametrize("actor", ["human", "pipeline"])
@pytest.mark.parametrize("attack", ANYBODY.values(), ids=ANYBODY.keys())
def test_nobody_does_it_alone(gate: Gate, attack: Attack, actor: str) -> None:
    _never_sent(gate, attack, actor)


@pytest.mark.parametrize("name", ["purging", "stopping a database", "terminating"])
def test_a_human_may_do_it_to_what_is_not_critical(gate: Gate, name: str) -> None:
    gate.upstream.asked.clear()
    with suppress(ClientError):
        ALONE[name](gate, "human")
    assert len(gate.upstream.asked) == 1
    gate.release_all()
