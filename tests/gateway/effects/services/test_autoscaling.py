"""Groups, and the many ways to change their capacity."""

from collections.abc import Callable
from typing import Any

import pytest

from gateway.model.mutation import EffectAction

THINGS = {
    "aws_autoscaling_group.a": {
        "name": "a",
        "suspended_processes": ["Launch"],
        "tag": [{"key": "team", "value": "x", "propagate_at_launch": True}],
    },
    "aws_autoscaling_policy.p": {"name": "p", "autoscaling_group_name": "a"},
    "aws_autoscaling_policy.other": {"name": "p", "autoscaling_group_name": "b"},
}
POLICY = "arn:aws:autoscaling:eu-west-1:123456789012:scalingPolicy:1-2:autoScalingGroupName/a:policyName/p"


def test_the_size_of_a_group_by_update(ask: Callable[..., Any], values: Callable[..., Any]) -> None:
    effects = ask(
        "autoscaling",
        "UpdateAutoScalingGroup",
        {"AutoScalingGroupName": "a", "MinSize": 0, "DesiredCapacity": 9},
        THINGS,
    )
    assert values(effects) == {"min_size": 0, "desired_capacity": 9}


@pytest.mark.parametrize("operation", ["AttachInstances", "DetachInstances", "EnterStandby", "ExitStandby"])
def test_a_capacity_that_only_aws_knows_is_an_invoke_of_the_capacity(ask: Callable[..., Any], operation: str) -> None:
    (effect,) = ask("autoscaling", operation, {"AutoScalingGroupName": "a", "InstanceIds": ["i-1"]}, THINGS)
    assert (effect.address, effect.action) == ("aws_autoscaling_group.a", EffectAction.INVOKE)
    assert (effect.attribute, effect.value) == ("desired_capacity", None)


def test_a_refresh_brings_the_configuration_it_says(ask: Callable[..., Any]) -> None:
    group = {"AutoScalingGroupName": "a"}
    (plain,) = ask("autoscaling", "StartInstanceRefresh", group, THINGS)
    wanted = {"LaunchTemplate": {"LaunchTemplateName": "t", "Version": "7"}}
    effects = ask("autoscaling", "StartInstanceRefresh", {**group, "DesiredConfiguration": wanted}, THINGS)
    assert (plain.action, plain.attribute) == (EffectAction.INVOKE, "*")
    assert [(effect.attribute, effect.action, effect.value) for effect in effects] == [
        ("*", EffectAction.INVOKE, None),
        ("launch_template.name", EffectAction.SET, "t"),
        ("launch_template.version", EffectAction.SET, "7"),
    ]


@pytest.mark.parametrize("named", [{"AutoScalingGroupName": "a", "PolicyName": "p"}, {"PolicyName": POLICY}])
def test_executing_a_policy_concerns_its_group_too(ask: Callable[..., Any], named: dict[str, str]) -> None:
    effects = ask("autoscaling", "ExecutePolicy", named, THINGS)
    assert [effect.address for effect in effects] == ["aws_autoscaling_policy.p", "aws_autoscaling_group.a"]


def test_a_policy_is_found_by_its_arn_alone(ask: Callable[..., Any]) -> None:
    (effect,) = ask("autoscaling", "DeletePolicy", {"PolicyName": POLICY}, THINGS)
    assert effect.address == "aws_autoscaling_policy.p"


def test_terminating_an_instance_of_some_group_is_not_understood(ask: Callable[..., Any]) -> None:
    parameters = {"InstanceId": "i-1", "ShouldDecrementDesiredCapacity": True}
    assert ask("autoscaling", "TerminateInstanceInAutoScalingGroup", parameters, THINGS) == ()


def test_suspending_adds_resuming_takes_away_and_none_means_all(ask: Callable[..., Any]) -> None:
    group = {"AutoScalingGroupName": "a"}
    (more,) = ask("autoscaling", "SuspendProcesses", {**group, "ScalingProcesses": ["Terminate"]}, THINGS)
    (none,) = ask("autoscaling", "ResumeProcesses", group, THINGS)
    (every,) = ask("autoscaling", "SuspendProcesses", group, THINGS)
    assert more.value == ["Launch", "Terminate"]
    assert none.value == []
    assert {"Launch", "AlarmNotification", "ScheduledActions"} <= set(every.value)


def test_tags_of_a_group_are_blocks(ask: Callable[..., Any]) -> None:
    tag = {"ResourceId": "a", "ResourceType": "auto-scaling-group", "Key": "team", "Value": "y"}
    (changed,) = ask("autoscaling", "CreateOrUpdateTags", {"Tags": [tag]}, THINGS)
    (gone,) = ask("autoscaling", "DeleteTags", {"Tags": [tag]}, THINGS)
    assert changed.value == [{"key": "team", "value": "y", "propagate_at_launch": False}]
    assert gone.value == []


def test_the_minimum_of_a_warm_pool_is_not_the_groups(ask: Callable[..., Any], values: Callable[..., Any]) -> None:
    effects = ask("autoscaling", "PutWarmPool", {"AutoScalingGroupName": "a", "MinSize": 3}, THINGS)
    assert values(effects) == {"warm_pool.min_size": 3}


def test_a_group_by_arn_where_a_name_is_expected_is_not_understood(ask: Callable[..., Any]) -> None:
    arn = "arn:aws:autoscaling:eu-west-1:123456789012:autoScalingGroup:1:autoScalingGroupName/a"
    assert ask("autoscaling", "SetDesiredCapacity", {"AutoScalingGroupName": arn, "DesiredCapacity": 1}, THINGS) == ()
