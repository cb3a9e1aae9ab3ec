"""Row 3, the parameters: an operation that is allowed by name does something else by a parameter that nobody looked at.

A parameter of an INVOKE or DELETE that is not accounted for makes the call not understood, so it is held for a human and never sent;
a pipeline, which may do most, is held as an agent is.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.kit.gate import ASG, Gate

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]

Attack = Callable[[Gate, str], Any]
TARGET_GROUP = "arn:aws:elasticloadbalancing:us-east-1:123456789012:targetgroup/t/1"
LATE = datetime(2120, 1, 1, tzinfo=UTC)
OBJECT = {"Bucket": "b", "Key": "k"}


def _s3(operation: str, **parameters: Any) -> Attack:
    return lambda gate, actor: getattr(gate.client("s3", actor), operation)(**OBJECT, **parameters)


def _targets(**target: Any) -> Attack:
    return lambda gate, actor: gate.client("elbv2", actor).register_targets(
        TargetGroupArn=TARGET_GROUP, Targets=[target]
    )


ATTACKS: dict[str, Attack] = {
    "a foreign address in a target group": _targets(Id="203.0.113.9"),
    "an instance that nothing declares": _targets(Id="i-0feedbeef"),
    "an address outside the VPC": _targets(Id="10.0.0.9", AvailabilityZone="all"),
    "a function of another account as a target": _targets(Id="arn:aws:lambda:us-east-1:999999999999:function:f"),
    "a machine of somebody's in the group": lambda gate, actor: gate.client("autoscaling", actor).attach_instances(
        AutoScalingGroupName=ASG, InstanceIds=["i-0feedbeef"]
    ),
    "an object restored into another bucket": _s3(
        "restore_object",
        RestoreRequest={"Type": "SELECT", "OutputLocation": {"S3": {"BucketName": "public", "Prefix": "x"}}},
    ),
    "a lock for a century": _s3("put_object", Body=b"", ObjectLockMode="COMPLIANCE", ObjectLockRetainUntilDate=LATE),
    "a legal hold": _s3("put_object", Body=b"", ObjectLockLegalHoldStatus="ON"),
    "an object for everybody": _s3("put_object", Body=b"", ACL="public-read"),
    "an object granted to a stranger": _s3("put_object", Body=b"", GrantRead="id=stranger"),
    "a customer's own key that locks the owner out": _s3(
        "put_object", Body=b"", SSECustomerAlgorithm="AES256", SSECustomerKey="k" * 32
    ),
    "another account's key": _s3(
        "put_object",
        Body=b"",
        ServerSideEncryption="aws:kms",
        SSEKMSKeyId="arn:aws:kms:us-east-1:999999999999:key/1",
    ),
    "a redirect": _s3("put_object", Body=b"", WebsiteRedirectLocation="https://evil.example"),
    "a copy out of a stranger's bucket": _s3("copy_object", CopySource="stranger/secret"),
    "a copy out of an access point": _s3(
        "copy_object", CopySource="arn:aws:s3:us-east-1:999999999999:accesspoint/p/object/secret"
    ),
    "a deletion past the lock": _s3("delete_object", VersionId="1", BypassGovernanceRetention=True),
    "a service deleted by force": lambda gate, actor: gate.client("ecs", actor).delete_service(
        cluster="c", service="s", force=True
    ),
    "a database without a last snapshot": lambda gate, actor: gate.client("rds", actor).delete_db_instance(
        DBInstanceIdentifier="kafka-reports", SkipFinalSnapshot=True, DeleteAutomatedBackups=True
    ),
    "a cluster without a last snapshot": lambda gate, actor: gate.client("rds", actor).delete_db_cluster(
        DBClusterIdentifier="c", SkipFinalSnapshot=True
    ),
    "a secret deleted for good": lambda gate, actor: gate.client("secretsmanager", actor).delete_secret(
        SecretId="s", ForceDeleteWithoutRecovery=True
    ),
    "a volume torn off": lambda gate, actor: gate.client("ec2", actor).detach_volume(VolumeId="vol-1", Force=True),
    "a message to a telephone": lambda gate, actor: gate.client("sns", actor).publish(
        TopicArn="arn:aws:sns:us-east-1:123456789012:t", PhoneNumber="+15550100", Message="x"
    ),
    "a message to another target": lambda gate, actor: gate.client("sns", actor).publish(
        TopicArn="arn:aws:sns:us-east-1:123456789012:t",
        TargetArn="arn:aws:sns:us-east-1:999999999999:t",
        Message="x",
    ),
    "a version published to every edge": lambda gate, actor: gate.client("lambda", actor).publish_version(
        FunctionName="kafka-rebalancer", PublishTo="LATEST_PUBLISHED"
    ),
    "two qualifiers": lambda gate, actor: gate.client("lambda", actor).invoke(
        FunctionName="kafka-rebalancer:1", Qualifier="2"
    ),
}  # fmt: skip


@pytest.mark.parametrize("actor", ["agent", "pipeline"])
@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS.keys())
def test_what_nobody_accounts_for_is_held(gate: Gate, attack: Attack, actor: str) -> None:
    with pytest.raises(ClientError):
        attack(gate, actor)
    assert gate.upstream.asked == []
    assert not gate.run(gate.ledger.claims())
    effects = gate.records()[-1].body.members["effects"]
    assert effects == [], "the call was understood"
