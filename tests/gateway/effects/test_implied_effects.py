"""What a call implies beside what it asks: capacity by another name, and attributes that change with another one."""

from collections.abc import Mapping
from typing import Any

import pytest

from gateway.core.model.json import Json
from gateway.core.model.mutation import Call, Effect
from gateway.effects.resolver import EffectResolver
from tests.gateway.effects.conftest import ACCOUNT, REGION, FakeInventory

ARN = "arn:aws:autoscaling:eu-west-1:123456789012:scalingPolicy:1:autoScalingGroupName/a:policyName/p"
STATE: Mapping[str, Mapping[str, Json]] = {
    "aws_autoscaling_group.a": {
        "name": "a",
        "min_size": 2,
        "max_size": 16,
        "desired_capacity": 8,
        "suspended_processes": ["AlarmNotification"],
        "launch_template": [{"id": "lt-1", "name": "t", "version": "$Latest"}],
    },
    "aws_autoscaling_policy.p": {"name": "p", "autoscaling_group_name": "a", "arn": ARN, "enabled": True},
    "aws_autoscaling_schedule.s": {"scheduled_action_name": "s", "autoscaling_group_name": "a", "desired_capacity": 1},
    "aws_cloudwatch_metric_alarm.m": {"alarm_name": "m", "alarm_actions": [ARN], "actions_enabled": True},
    "aws_cloudwatch_metric_alarm.off": {"alarm_name": "off", "alarm_actions": [ARN], "actions_enabled": False},
    "aws_launch_template.t": {"id": "lt-1", "name": "t", "instance_type": "m5.large"},
    "aws_dynamodb_table.d": {"name": "d", "billing_mode": "PROVISIONED", "read_capacity": 5, "write_capacity": 0},
    "aws_db_instance.b": {"identifier": "b", "storage_type": "io1", "iops": 3000, "storage_throughput": 0},
    "aws_ebs_volume.v": {"id": "vol-1", "type": "gp3", "iops": 4000, "throughput": 500},
    "aws_instance.i": {"id": "i-1"},
    "aws_kms_key.k": {"key_id": "k-1", "is_enabled": True},
    "aws_secretsmanager_secret.x": {"name": "x", "arn": "x-arn"},
    "aws_secretsmanager_secret_version.x": {"id": "x|1", "secret_id": "x-arn"},
}
GROUP = {"AutoScalingGroupName": "a"}
CAPACITY = ("aws_autoscaling_group.a", "desired_capacity")
MOVED = ("invoke", None)


@pytest.fixture(scope="module")
def resolver() -> EffectResolver:
    return EffectResolver(FakeInventory(STATE))


def _implied(resolver: EffectResolver, service: str, operation: str, parameters: Mapping[str, Any], **more: Any) -> Any:
    effects = _effects(resolver, service, operation, parameters, **more)
    assert effects, "not understood"
    return {(each.address, each.attribute): (str(each.action), each.value) for each in effects if each.implied}


def _effects(
    resolver: EffectResolver, service: str, operation: str, parameters: Mapping[str, Any], **more: Any
) -> tuple[Effect, ...]:
    call = Call(service=service, operation=operation, parameters=parameters, account=ACCOUNT, region=REGION)
    return resolver.effects(call, **more)


@pytest.mark.parametrize(
    ("operation", "parameters", "implied"),
    [
        ("UpdateAutoScalingGroup", {**GROUP, "MaxSize": 5}, {CAPACITY: ("set", 5)}),
        ("UpdateAutoScalingGroup", {**GROUP, "MinSize": 10}, {CAPACITY: ("set", 10)}),
        ("UpdateAutoScalingGroup", {**GROUP, "MinSize": 9, "MaxSize": 12}, {CAPACITY: ("set", 9)}),
        ("UpdateAutoScalingGroup", {**GROUP, "MinSize": 1, "MaxSize": 8}, {}),
        ("UpdateAutoScalingGroup", {**GROUP, "MaxSize": 5, "DesiredCapacity": 5}, {}),
        ("UpdateAutoScalingGroup", {"AutoScalingGroupName": "stranger", "MaxSize": 5},
         {("aws_autoscaling_group{name=stranger}", "desired_capacity"): MOVED}),
        ("SuspendProcesses", {**GROUP, "ScalingProcesses": ["Launch"]}, {CAPACITY: MOVED}),
        ("SuspendProcesses", {**GROUP, "ScalingProcesses": ["ReplaceUnhealthy"]}, {CAPACITY: MOVED}),
        ("SuspendProcesses", GROUP, {CAPACITY: MOVED}),
        ("SuspendProcesses", {**GROUP, "ScalingProcesses": ["AZRebalance"]}, {}),
        ("ResumeProcesses", {**GROUP, "ScalingProcesses": ["AlarmNotification"]}, {CAPACITY: MOVED}),
        ("ResumeProcesses", {**GROUP, "ScalingProcesses": ["Launch"]}, {}),
        ("PutScheduledUpdateGroupAction", {**GROUP, "ScheduledActionName": "n", "DesiredCapacity": 1}, {CAPACITY: ("set", 1)}),
        ("PutScheduledUpdateGroupAction", {**GROUP, "ScheduledActionName": "n", "MaxSize": 3},
         {CAPACITY: ("set", 3), ("aws_autoscaling_group.a", "max_size"): ("set", 3)}),
        # Moving the time of an action that is there already is asking for what it does.
        ("PutScheduledUpdateGroupAction", {**GROUP, "ScheduledActionName": "s", "Recurrence": "0 1 * * *"}, {CAPACITY: ("set", 1)}),
        ("PutScheduledUpdateGroupAction", {**GROUP, "ScheduledActionName": "n", "DesiredCapacity": -1}, {}),
        ("DeleteScheduledAction", {**GROUP, "ScheduledActionName": "s"}, {}),
        ("PutScalingPolicy", {**GROUP, "PolicyName": "new", "PolicyType": "TargetTrackingScaling"}, {CAPACITY: MOVED}),
        ("PutScalingPolicy", {**GROUP, "PolicyName": "p", "ScalingAdjustment": -8}, {CAPACITY: MOVED}),
        ("PutScalingPolicy", {**GROUP, "PolicyName": "p", "Enabled": False}, {}),
        ("DeletePolicy", {**GROUP, "PolicyName": "p"}, {}),
    ],
)  # fmt: skip
def test_capacity_has_other_names(
    resolver: EffectResolver, operation: str, parameters: dict[str, Any], implied: dict[Any, Any]
) -> None:
    assert _implied(resolver, "autoscaling", operation, parameters) == implied


def _alarm(name: str, **more: Any) -> dict[str, Any]:
    return {"AlarmName": name, "ComparisonOperator": "LessThanThreshold", "EvaluationPeriods": 1, **more}


@pytest.mark.parametrize(
    ("operation", "parameters", "moves"),
    [
        ("SetAlarmState", {"AlarmName": "m", "StateValue": "ALARM", "StateReason": "x"}, True),
        ("SetAlarmState", {"AlarmName": "off", "StateValue": "ALARM", "StateReason": "x"}, False),
        ("EnableAlarmActions", {"AlarmNames": ["off"]}, True),
        ("DisableAlarmActions", {"AlarmNames": ["m"]}, False),
        ("PutMetricAlarm", _alarm("new", AlarmActions=[ARN]), True),
        ("PutMetricAlarm", _alarm("m", AlarmActions=[ARN], Threshold=5), False),
        ("PutMetricAlarm", _alarm("m", AlarmActions=[ARN], OKActions=[ARN]), True),
        ("PutMetricAlarm", _alarm("new", AlarmActions=["arn:aws:sns:eu-west-1:123456789012:t"]), False),
        ("DeleteAlarms", {"AlarmNames": ["m"]}, False),
    ],
)
def test_an_alarm_that_fires_a_policy_moves_the_capacity(
    resolver: EffectResolver, operation: str, parameters: dict[str, Any], moves: bool
) -> None:
    assert _implied(resolver, "cloudwatch", operation, parameters) == ({CAPACITY: MOVED} if moves else {})


@pytest.mark.parametrize(
    ("service", "operation", "parameters", "implied"),
    [
        ("dynamodb", "UpdateTable", {"TableName": "d", "BillingMode": "PAY_PER_REQUEST"}, {("aws_dynamodb_table.d", "read_capacity"): ("set", 0)}),
        ("dynamodb", "UpdateTable", {"TableName": "d", "BillingMode": "PROVISIONED"}, {}),
        ("rds", "ModifyDBInstance", {"DBInstanceIdentifier": "b", "StorageType": "gp2"}, {("aws_db_instance.b", "iops"): MOVED}),
        ("rds", "ModifyDBInstance", {"DBInstanceIdentifier": "b", "StorageType": "io2", "Iops": 4000}, {}),
        ("rds", "StopDBInstance", {"DBInstanceIdentifier": "b"},
         {("aws_db_instance.b", "instance_class"): MOVED, ("aws_db_instance.b", "multi_az"): MOVED}),
        ("ec2", "ModifyVolume", {"VolumeId": "vol-1", "VolumeType": "gp2"},
         {("aws_ebs_volume.v", "iops"): MOVED, ("aws_ebs_volume.v", "throughput"): MOVED}),
        ("ec2", "ModifyVolume", {"VolumeId": "vol-1", "Size": 5}, {}),
        ("ec2", "StopInstances", {"InstanceIds": ["i-1"]}, {("aws_instance.i", "instance_type"): MOVED}),
        ("ec2", "StartInstances", {"InstanceIds": ["i-1"]}, {}),
        ("ec2", "CreateLaunchTemplateVersion", {"LaunchTemplateId": "lt-1", "LaunchTemplateData": {"InstanceType": "t3.nano"}},
         {("aws_autoscaling_group.a", "launch_template"): MOVED}),
        ("ec2", "ModifyLaunchTemplate", {"LaunchTemplateId": "lt-1", "DefaultVersion": "3"}, {}),
        ("kms", "CancelKeyDeletion", {"KeyId": "k-1"}, {("aws_kms_key.k", "is_enabled"): ("set", False)}),
        ("secretsmanager", "RotateSecret", {"SecretId": "x"}, {("aws_secretsmanager_secret_version.x", "secret_string"): MOVED}),
        ("secretsmanager", "RotateSecret", {"SecretId": "x", "RotateImmediately": False}, {}),
    ],
)  # fmt: skip
def test_other_attributes_change_with_the_one_that_is_set(
    resolver: EffectResolver, service: str, operation: str, parameters: dict[str, Any], implied: dict[Any, Any]
) -> None:
    assert _implied(resolver, service, operation, parameters) == implied


def test_a_claimed_capacity_counts_also_before_the_state_has_it(resolver: EffectResolver) -> None:
    """Another actor's call may be under way: the state says 8, the claim 12."""
    asked = {**GROUP, "MaxSize": 10}
    assert _implied(resolver, "autoscaling", "UpdateAutoScalingGroup", asked) == {}
    claimed = {CAPACITY: (12,)}
    assert _implied(resolver, "autoscaling", "UpdateAutoScalingGroup", asked, claimed=claimed) == {
        CAPACITY: ("set", 10)
    }


def test_two_values_are_none(resolver: EffectResolver) -> None:
    claimed = {CAPACITY: (1,)}
    asked = {**GROUP, "MinSize": 3, "MaxSize": 5}
    assert _implied(resolver, "autoscaling", "UpdateAutoScalingGroup", asked, claimed=claimed) == {CAPACITY: MOVED}


def test_what_is_asked_comes_first_and_is_never_implied(resolver: EffectResolver) -> None:
    effects = _effects(resolver, "autoscaling", "UpdateAutoScalingGroup", {**GROUP, "MaxSize": 5})
    assert [(each.attribute, each.implied) for each in effects] == [("max_size", False), ("desired_capacity", True)]
