"""A pipeline plans to "create" a setting, and its session gives that to a resource that the plan did not make: another's bucket loses its versions.

The same call alone was held. A plan named a new bucket that nobody created, or told no name at all, and passed. What must hold: a setting that a
plan creates is judged as the change of its owner that it is, unless the plan makes the owner and its session has done so.
"""

import json
from typing import Any

import pytest

from tests.kit.applying import ask, opened, planned, refused
from tests.kit.gate import Gate

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]

OFF = {"versioning_configuration.status": "Suspended"}
BUCKET = planned("aws_s3_bucket.own", "create", values={"bucket": "own"})
ASSUMED = json.dumps(
    {
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "ec2.amazonaws.com"}}],
    }
)
READS = "arn:aws:iam::aws:policy/ReadOnlyAccess"


def _versioning(bucket: str = "") -> dict[str, Any]:
    values = {**OFF, **({"bucket": bucket} if bucket else {})}
    return planned("aws_s3_bucket_versioning.it", "create", values=values, unknown=[] if bucket else ["bucket"])


def _suspends(bucket: str) -> dict[str, Any]:
    return {"Bucket": bucket, "VersioningConfiguration": {"Status": "Suspended"}}


def test_a_setting_of_a_stranger_is_judged_as_its_change(gate: Gate) -> None:
    assert "SEN-D002" in refused(gate.client("s3", "pipeline").put_bucket_versioning, **_suspends("stranger"))
    for change in (_versioning("stranger"), _versioning()):
        status, report = ask(gate, "pipeline", change)
        assert (status, report["session"]) == (200, None)
        assert [each["rule"] for each in report["decision"]["findings"] if each["verdict"] == "hold"] == ["SEN-D002"]


def test_the_owner_that_a_plan_makes_is_there_once_it_is_created(gate: Gate) -> None:
    s3 = opened(gate, _versioning("own"), BUCKET).client("s3")
    assert "names aws_s3_bucket.own, which the plan creates" in refused(s3.put_bucket_versioning, **_suspends("own"))
    gate.upstream.behaviour = "refuse"  # there is one of this name
    refused(s3.create_bucket, Bucket="own")
    gate.upstream.behaviour = "ok"
    refused(s3.put_bucket_versioning, **_suspends("own"))
    s3.create_bucket(Bucket="own")
    s3.put_bucket_versioning(**_suspends("own"))
    assert len(gate.upstream.asked) == 3


def test_an_owner_that_the_plan_does_not_tell_is_what_the_session_made(gate: Gate) -> None:
    s3 = opened(gate, _versioning(), BUCKET).client("s3")
    s3.create_bucket(Bucket="own")
    assert "SEN-D002" in refused(s3.put_bucket_versioning, **_suspends("stranger"))
    s3.put_bucket_versioning(**_suspends("own"))
    assert len(gate.upstream.asked) == 2


def test_the_role_of_a_planned_name_gets_no_policy_before_it_is_created(gate: Gate) -> None:
    role = planned("aws_iam_role.own", "create", values={"name": "admin", "assume_role_policy": ASSUMED})
    attached = planned("aws_iam_role_policy_attachment.it", "create", values={"role": "admin", "policy_arn": READS})
    iam = opened(gate, role, attached).client("iam")
    assert "names aws_iam_role.own" in refused(iam.attach_role_policy, RoleName="admin", PolicyArn=READS)
    iam.create_role(RoleName="admin", AssumeRolePolicyDocument=ASSUMED)
    iam.attach_role_policy(RoleName="admin", PolicyArn=READS)
    assert list(gate.upstream.asked) == ["CreateRole", "AttachRolePolicy"]


def test_what_is_called_alike_is_no_owner(gate: Gate) -> None:
    group = planned("aws_security_group.own", "create", values={"name": "app", "description": "x"})
    member = planned("aws_iam_role_policy_attachment.it", "create", values={"role": "app", "policy_arn": READS})
    opened(gate, group, member).client("iam").attach_role_policy(RoleName="app", PolicyArn=READS)
    assert list(gate.upstream.asked) == ["AttachRolePolicy"]
