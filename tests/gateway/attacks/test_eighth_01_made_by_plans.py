"""A pipeline plans to create what exists already outside of the code, and its session uses that as its own without ever creating it.

A plan with a role of a harmless trust, which had the name of an administrator's role, was enough to hand out that role, and to let a service
assume it. What must hold: the name of what a plan creates is the plan's once AWS has created it for the session, and another's before.
"""

import json

import pytest

from tests.kit.applying import opened, planned, refused
from tests.kit.gate import Gate

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]

TRUST = json.dumps(
    {
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "ec2.amazonaws.com"}}],
    }
)
ROLE = planned("aws_iam_role.fresh", "create", values={"name": "admin", "assume_role_policy": TRUST})
PROFILE = planned("aws_iam_instance_profile.mine", "create", values={"name": "mine"}, unknown=["role"])
CREATES = {"RoleName": "admin", "AssumeRolePolicyDocument": TRUST}


def test_the_role_of_another_with_the_name_of_a_planned_one_is_handed_on_by_nobody(gate: Gate) -> None:
    gives = {"InstanceProfileName": "mine", "RoleName": "admin"}
    assert "SEN-I010" in refused(gate.client("iam", "pipeline").add_role_to_instance_profile, **gives)
    iam = opened(gate, ROLE, PROFILE).client("iam")
    iam.create_instance_profile(InstanceProfileName="mine")
    assert "SEN-I010" in refused(iam.add_role_to_instance_profile, **gives)
    gate.upstream.behaviour = "refuse"  # there is one of this name
    refused(iam.create_role, **CREATES)
    gate.upstream.behaviour = "ok"
    assert "SEN-I010" in refused(iam.add_role_to_instance_profile, **gives)
    iam.create_role(**CREATES)
    iam.add_role_to_instance_profile(**gives)
    assert list(gate.upstream.asked) == [
        "CreateInstanceProfile", "CreateRole", "CreateRole", "AddRoleToInstanceProfile",
    ]  # fmt: skip


def test_what_a_plan_creates_is_set_after_its_creation_only(gate: Gate) -> None:
    sets = {"RoleName": "admin", "PolicyDocument": TRUST}
    assert "SEN-I012" in refused(gate.client("iam", "pipeline").update_assume_role_policy, **sets)
    iam = opened(gate, ROLE).client("iam")
    said = refused(iam.update_assume_role_policy, **sets)
    assert "the plan creates aws_iam_role.fresh" in said
    assert list(gate.upstream.asked) == []
    iam.create_role(**CREATES)
    iam.update_assume_role_policy(**sets)
    assert list(gate.upstream.asked) == ["CreateRole", "UpdateAssumeRolePolicy"]
