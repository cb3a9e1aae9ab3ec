"""AWS's description in the provider's form; what leaves a doubt is left out."""

from typing import Any

import pytest

from gateway.context.live_calls import LIVE_CALLS
from gateway.context.live_shape import live_attributes


def of(kind: str, reply: dict[str, Any]) -> Any:
    return live_attributes(kind, LIVE_CALLS[kind], reply)


def test_an_auto_scaling_group() -> None:
    group = {
        "AutoScalingGroupName": "web",
        "MinSize": 2,
        "DesiredCapacity": 6,
        "NewInstancesProtectedFromScaleIn": False,
        "TargetGroupARNs": ["arn:a"],
        "LaunchTemplate": {"LaunchTemplateName": "lt", "Version": "$Latest"},
        "Instances": [{"InstanceId": "i-1"}],
        "CreatedTime": "2026-01-01",
    }
    found = of("aws_autoscaling_group", {"AutoScalingGroups": [group]})
    assert (found["desired_capacity"], found["min_size"], found["protect_from_scale_in"]) == (6, 2, False)
    assert (found["target_group_arns"], found["launch_template.version"]) == (["arn:a"], "$Latest")
    assert not any("instance_id" in name for name in found)


def test_texts_become_numbers_and_bools_as_the_schema_says() -> None:
    attributes = {"VisibilityTimeout": "30", "SqsManagedSseEnabled": "true", "QueueArn": "arn:q", "DelaySeconds": "1.5"}
    found = of("aws_sqs_queue", {"Attributes": attributes})
    assert (found["visibility_timeout_seconds"], found["sqs_managed_sse_enabled"], found["delay_seconds"]) == (30, True, 1.5)  # fmt: skip


def test_pairs_of_tags_become_a_map_and_others_are_left_out() -> None:
    described = {"GroupId": "sg-1", "GroupName": "g", "Tags": [{"Key": "owner", "Value": "me"}]}
    assert of("aws_security_group", {"SecurityGroups": [described]})["tags"] == {"owner": "me"}
    strange = {**described, "Tags": [{"Key": "owner", "Value": "me", "More": 1}]}
    assert "tags" not in of("aws_security_group", {"SecurityGroups": [strange]})


@pytest.mark.parametrize("groups", [[], [{"MinSize": 1}, {"MinSize": 2}], None, "text"])
def test_none_or_several_is_not_the_resource(groups: Any) -> None:
    assert of("aws_autoscaling_group", {"AutoScalingGroups": groups}) is None


@pytest.mark.parametrize("value", [None, "many", True, [1], {"a": 1}])
def test_a_value_of_another_form_is_left_out(value: Any) -> None:
    assert "min_size" not in of("aws_autoscaling_group", {"AutoScalingGroups": [{"MinSize": value, "MaxSize": 3}]})
