"""Every call is a plain read of AWS, names attributes that exist, and asks by what the state records."""

from typing import Any

import pytest

from gateway.aws.models import call_classes
from gateway.context.live_calls import LIVE_CALLS, _schemas, live_attributes
from gateway.core.model.mutation import CallClass
from gateway.core.service_models import ServiceModels

TYPES = sorted(LIVE_CALLS)


@pytest.mark.parametrize("kind", TYPES)
def test_it_is_a_read_that_returns_no_secret(kind: str) -> None:
    call = LIVE_CALLS[kind]
    assert call_classes.shipped().of(call.service, call.operation) is CallClass.READ


@pytest.mark.parametrize("kind", TYPES)
def test_the_names_are_those_of_aws_and_of_the_provider(kind: str) -> None:
    call, schema = LIVE_CALLS[kind], _schemas()[kind]
    operation = ServiceModels().operation(call.service, call.operation)
    members = operation.input_shape.members
    given = {name.removesuffix("[]") for name in call.parameters} | set(call.constants)
    assert given <= set(members)
    assert all(members[name.removesuffix("[]")].type_name == "list" for name in call.parameters if name.endswith("[]"))
    assert {attribute for attribute in call.names.values() if attribute} <= set(schema.kinds)
    shape = operation.output_shape
    for step in call.found:
        shape = shape.member if step == "*" else shape.members[step] if shape.type_name == "structure" else shape
    if shape.type_name == "structure":
        assert {name.partition(".")[0] for name in call.names} <= set(shape.members)


def test_what_the_state_does_not_identify_cannot_be_asked_for() -> None:
    call = LIVE_CALLS["aws_ecs_service"]
    assert call.request({"cluster": "c"}) is None
    assert call.request({"cluster": "c", "name": ""}) is None
    assert call.request({"cluster": "c", "name": "s"}) == {"cluster": "c", "services": ["s"]}


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
