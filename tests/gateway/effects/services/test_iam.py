"""Roles, users and policies."""

from collections.abc import Callable
from typing import Any

from gateway.core.model.mutation import EffectAction

RESOURCES = {
    "aws_iam_role.r": {"name": "r"},
    "aws_iam_role_policy_attachment.a": {"role": "r", "policy_arn": "arn:aws:iam::aws:policy/ReadOnlyAccess"},
    "aws_iam_policy.m": {"name": "m"},
}
M = "arn:aws:iam::123456789012:policy/team/m"


def test_a_new_attachment_is_a_new_resource(effects_of: Callable[..., Any]) -> None:
    admin = "arn:aws:iam::aws:policy/AdministratorAccess"
    effects = effects_of("iam", "AttachRolePolicy", {"RoleName": "r", "PolicyArn": admin}, RESOURCES)
    assert effects[0].action is EffectAction.CREATE
    assert not effects[0].declared


def test_an_attachment_is_identified_by_role_and_policy(effects_of: Callable[..., Any]) -> None:
    both = {"RoleName": "r", "PolicyArn": "arn:aws:iam::aws:policy/ReadOnlyAccess"}
    (effect,) = effects_of("iam", "DetachRolePolicy", both, RESOURCES)
    assert effect.address == "aws_iam_role_policy_attachment.a"


def test_only_a_default_version_changes_the_policy(effects_of: Callable[..., Any]) -> None:
    version = {"PolicyArn": M, "PolicyDocument": "{}"}
    (not_default,) = effects_of("iam", "CreatePolicyVersion", version, RESOURCES)
    (default,) = effects_of("iam", "CreatePolicyVersion", {**version, "SetAsDefault": True}, RESOURCES)
    assert (not_default.address, not_default.action) == ("aws_iam_policy.m", EffectAction.INVOKE)
    assert (default.attribute, default.value) == ("policy", "{}")


def test_an_aws_managed_policy_is_not_understood(effects_of: Callable[..., Any]) -> None:
    assert effects_of("iam", "DeletePolicy", {"PolicyArn": "arn:aws:iam::aws:policy/m"}, RESOURCES) == ()


def test_a_user_is_in_the_group_by_the_one_resource_that_says_so(effects_of: Callable[..., Any]) -> None:
    call = {"GroupName": "g", "UserName": "u"}
    members = {"aws_iam_group_membership.m": {"group": "g", "users": ["u", "v"]}}
    (effect,) = effects_of("iam", "RemoveUserFromGroup", call, members)
    assert (effect.address, effect.attribute, effect.value) == ("aws_iam_group_membership.m", "users", ["v"])
    assert effects_of("iam", "RemoveUserFromGroup", call, {"aws_iam_user.u": {"name": "u", "id": "u"}}) == ()
    both = {**members, "aws_iam_user_group_membership.u": {"user": "u", "groups": ["g"]}}
    assert effects_of("iam", "RemoveUserFromGroup", call, both) == ()
