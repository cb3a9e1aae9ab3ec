"""Groups, and the ways to change their capacity."""

from collections.abc import Callable
from typing import Any

import pytest

from gateway.core.model.mutation import EffectAction

RESOURCES = {
    "aws_autoscaling_group.a": {
        "name": "a",
        "suspended_processes": ["Launch"],
        "tag": [{"key": "team", "value": "x", "propagate_at_launch": True}],
    },
    "aws_autoscaling_policy.p": {"name": "p", "autoscaling_group_name": "a"},
    "aws_autoscaling_policy.other": {"name": "p", "autoscaling_group_name": "b"},
}
POLICY = "arn:aws:autoscaling:eu-west-1:123456789012:scalingPolicy:1-2:autoScalingGroupName/a:policyName/p"


def test_the_size_of_a_group_by_update(effects_of: Callable[..., Any], values: Callable[..., Any]) -> None:
    effects = effects_of(
        "autoscaling",
        "UpdateAutoScalingGroup",
        {"AutoScalingGroupName": "a", "MinSize": 0, "DesiredCapacity": 9},
        RESOURCES,
    )
    assert values(effects) == {"min_size": 0, "desired_capacity": 9}


@pytest.mark.parametrize("operation", ["AttachInstances", "DetachInstances", "EnterStandby", "ExitStandby"])
def test_a_capacity_that_only_aws_knows_is_an_invoke_of_the_capacity(
    effects_of: Callable[..., Any], operation: str
) -> None:
    call = {"AutoScalingGroupName": "a", "InstanceIds": ["i-1"]}
    resources = {**RESOURCES, "aws_instance.i": {"id": "i-1"}}
    whole, capacity = effects_of("autoscaling", operation, call, resources)
    assert {whole.address, capacity.address} == {"aws_autoscaling_group.a"}
    assert {whole.action, capacity.action} == {EffectAction.INVOKE}
    assert (whole.attribute, whole.value) == ("*", {"InstanceIds": ["i-1"]})
    assert (capacity.attribute, capacity.value) == ("desired_capacity", None)


def test_no_instance_is_attached_that_nothing_declares(effects_of: Callable[..., Any]) -> None:
    call = {"AutoScalingGroupName": "a", "InstanceIds": ["i-1"]}
    assert effects_of("autoscaling", "AttachInstances", call, RESOURCES) == ()


def test_a_refresh_sets_its_desired_configuration(effects_of: Callable[..., Any]) -> None:
    group = {"AutoScalingGroupName": "a"}
    (plain,) = effects_of("autoscaling", "StartInstanceRefresh", group, RESOURCES)
    wanted = {"LaunchTemplate": {"LaunchTemplateName": "t", "Version": "7"}}
    effects = effects_of("autoscaling", "StartInstanceRefresh", {**group, "DesiredConfiguration": wanted}, RESOURCES)
    assert (plain.action, plain.attribute) == (EffectAction.INVOKE, "*")
    assert [(effect.attribute, effect.action, effect.value) for effect in effects] == [
        ("*", EffectAction.INVOKE, None),
        ("launch_template.name", EffectAction.SET, "t"),
        ("launch_template.version", EffectAction.SET, "7"),
    ]


@pytest.mark.parametrize("named", [{"AutoScalingGroupName": "a", "PolicyName": "p"}, {"PolicyName": POLICY}])
def test_executing_a_policy_also_affects_its_group(effects_of: Callable[..., Any], named: dict[str, str]) -> None:
    effects = effects_of("autoscaling", "ExecutePolicy", named, RESOURCES)
    assert [effect.address for effect in effects] == ["aws_autoscaling_policy.p", "aws_autoscaling_group.a"]


def test_a_policy_is_found_by_its_arn_alone(effects_of: Callable[..., Any]) -> None:
    (effect,) = effects_of("autoscaling", "DeletePolicy", {"PolicyName": POLICY}, RESOURCES)
    assert effect.address == "aws_autoscaling_policy.p"


def test_terminating_an_instance_of_an_unnamed_group_is_not_understood(effects_of: Callable[..., Any]) -> None:
    parameters = {"InstanceId": "i-1", "ShouldDecrementDesiredCapacity": True}
    assert effects_of("autoscaling", "TerminateInstanceInAutoScalingGroup", parameters, RESOURCES) == ()


def test_suspending_adds_resuming_removes_and_none_means_all(effects_of: Callable[..., Any]) -> None:
    group = {"AutoScalingGroupName": "a"}
    more, _ = effects_of("autoscaling", "SuspendProcesses", {**group, "ScalingProcesses": ["Terminate"]}, RESOURCES)
    none, *_ = effects_of("autoscaling", "ResumeProcesses", group, RESOURCES)
    every, _ = effects_of("autoscaling", "SuspendProcesses", group, RESOURCES)
    assert more.value == ["Launch", "Terminate"]
    assert none.value == []
    assert {"Launch", "AlarmNotification", "ScheduledActions"} <= set(every.value)


def test_tags_of_a_group_are_blocks(effects_of: Callable[..., Any]) -> None:
    tag = {"ResourceId": "a", "ResourceType": "auto-scaling-group", "Key": "team", "Value": "y"}
    (changed,) = effects_of("autoscaling", "CreateOrUpdateTags", {"Tags": [tag]}, RESOURCES)
    (deleted,) = effects_of("autoscaling", "DeleteTags", {"Tags": [tag]}, RESOURCES)
    assert changed.value == [{"key": "team", "value": "y", "propagate_at_launch": False}]
    assert deleted.value == []


def test_the_minimum_of_a_warm_pool_is_not_the_groups(
    effects_of: Callable[..., Any], values: Callable[..., Any]
) -> None:
    effects = effects_of("autoscaling", "PutWarmPool", {"AutoScalingGroupName": "a", "MinSize": 3}, RESOURCES)
    assert values(effects) == {"warm_pool.min_size": 3}


def test_a_group_is_found_by_the_arn_that_the_state_records(effects_of: Callable[..., Any]) -> None:
    arn = "arn:aws:autoscaling:eu-west-1:123456789012:autoScalingGroup:1:autoScalingGroupName/a"
    recorded = {"aws_autoscaling_group.a": {"name": "a", "desired_capacity": 4, "arn": arn}}
    (effect,) = effects_of(
        "autoscaling", "SetDesiredCapacity", {"AutoScalingGroupName": arn, "DesiredCapacity": 1}, recorded
    )
    assert (effect.address, effect.identity) == ("aws_autoscaling_group.a", {"name": "a"})


def test_a_group_by_arn_where_a_name_is_expected_is_not_understood(effects_of: Callable[..., Any]) -> None:
    arn = "arn:aws:autoscaling:eu-west-1:123456789012:autoScalingGroup:1:autoScalingGroupName/a"
    assert (
        effects_of("autoscaling", "SetDesiredCapacity", {"AutoScalingGroupName": arn, "DesiredCapacity": 1}, RESOURCES)
        == ()
    )


def test_an_attachment_and_a_tag_that_are_resources_of_their_own(effects_of: Callable[..., Any]) -> None:
    declared = {
        "aws_autoscaling_group.a": {"name": "a", "target_group_arns": ["arn:one"], "tag": []},
        "aws_autoscaling_attachment.x": {"autoscaling_group_name": "a", "lb_target_group_arn": "arn:two"},
        "aws_autoscaling_group_tag.t": {"autoscaling_group_name": "a", "tag": [{"key": "k", "value": "v"}]},
    }
    arns = {"AutoScalingGroupName": "a", "TargetGroupARNs": ["arn:one", "arn:two"]}
    own, group = effects_of("autoscaling", "DetachLoadBalancerTargetGroups", arns, declared)
    assert (own.address, own.attribute, own.action.value) == ("aws_autoscaling_attachment.x", "*", "delete")
    assert (group.address, group.attribute, group.value) == ("aws_autoscaling_group.a", "target_group_arns", [])
    tag = {
        "ResourceId": "a",
        "ResourceType": "auto-scaling-group",
        "Key": "k",
        "Value": "w",
        "PropagateAtLaunch": False,
    }
    (tagged,) = effects_of("autoscaling", "CreateOrUpdateTags", {"Tags": [tag]}, declared)
    assert (tagged.address, tagged.attribute) == ("aws_autoscaling_group_tag.t", "tag")
    assert tagged.value == [{"key": "k", "propagate_at_launch": False, "value": "w"}]
    (gone,) = effects_of("autoscaling", "DeleteTags", {"Tags": [tag]}, declared)
    assert (gone.address, gone.action.value) == ("aws_autoscaling_group_tag.t", "delete")
