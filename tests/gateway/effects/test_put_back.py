"""The call that sets attributes back is found for every way in which AWS's operations change them, and does nothing else."""

from collections.abc import Mapping
from typing import Any

import pytest

from gateway.core.model.json import Json
from gateway.core.model.mutation import Call, EffectAction
from gateway.core.model.path import AttributePath, put_all
from gateway.effects import put_back
from gateway.effects.put_back import put_back_call
from gateway.effects.resolver import EffectResolver
from tests.gateway.effects.conftest import ACCOUNT, REGION, FakeInventory

QUEUE_URL = "https://sqs.eu-west-1.amazonaws.com/123456789012/q"
STATE: Mapping[str, Mapping[str, Json]] = {
    "aws_autoscaling_group.a": {
        "name": "a",
        "min_size": 2,
        "max_size": 16,
        "desired_capacity": 8,
        "suspended_processes": [],
        "target_group_arns": ["tg-1"],
        "vpc_zone_identifier": ["subnet-1", "subnet-2"],
    },
    "aws_sqs_queue.q": {
        "name": "q",
        "url": QUEUE_URL,
        "visibility_timeout_seconds": 30,
        "delay_seconds": 0,
        "tags": {"owner": "a"},
    },
    "aws_dynamodb_table.d": {"name": "d", "billing_mode": "PROVISIONED", "read_capacity": 5, "write_capacity": 5},
    "aws_lambda_function.f": {"function_name": "f", "timeout": 3, "memory_size": 128},
    "aws_kms_key.k": {"key_id": "k-1", "enable_key_rotation": False},
    "aws_ecs_service.s": {"name": "s", "cluster": "c", "desired_count": 2},
}
GROUP = {"AutoScalingGroupName": "a"}

CASES: dict[str, tuple[str, str, Mapping[str, Any], str, Mapping[str, Any]]] = {
    "one number": (
        "autoscaling", "SetDesiredCapacity", {**GROUP, "DesiredCapacity": 12},
        "SetDesiredCapacity", {**GROUP, "DesiredCapacity": 8},
    ),
    "several numbers": (
        "autoscaling", "UpdateAutoScalingGroup", {**GROUP, "MinSize": 4, "MaxSize": 20, "DesiredCapacity": 18},
        "UpdateAutoScalingGroup", {**GROUP, "MinSize": 2, "MaxSize": 16, "DesiredCapacity": 8},
    ),
    "what is implied": (
        "autoscaling", "UpdateAutoScalingGroup", {**GROUP, "MaxSize": 6},
        "UpdateAutoScalingGroup", {**GROUP, "MaxSize": 16, "DesiredCapacity": 8},
    ),
    "a list written as one text": (
        "autoscaling", "UpdateAutoScalingGroup", {**GROUP, "VPCZoneIdentifier": "subnet-3"},
        "UpdateAutoScalingGroup", {**GROUP, "VPCZoneIdentifier": "subnet-1,subnet-2"},
    ),
    "suspended processes": (
        "autoscaling", "SuspendProcesses", {**GROUP, "ScalingProcesses": ["Launch"]},
        "ResumeProcesses", {**GROUP, "ScalingProcesses": ["Launch"]},
    ),
    "an item added to a list": (
        "autoscaling", "AttachLoadBalancerTargetGroups", {**GROUP, "TargetGroupARNs": ["tg-2"]},
        "DetachLoadBalancerTargetGroups", {**GROUP, "TargetGroupARNs": ["tg-2"]},
    ),
    "a number as text in a map": (
        "sqs", "SetQueueAttributes", {"QueueUrl": QUEUE_URL, "Attributes": {"VisibilityTimeout": "90", "DelaySeconds": "5"}},
        "SetQueueAttributes", {"QueueUrl": QUEUE_URL, "Attributes": {"VisibilityTimeout": "30", "DelaySeconds": "0"}},
    ),
    "a changed tag": (
        "sqs", "TagQueue", {"QueueUrl": QUEUE_URL, "Tags": {"owner": "b"}},
        "TagQueue", {"QueueUrl": QUEUE_URL, "Tags": {"owner": "a"}},
    ),
    "a new tag": (
        "sqs", "TagQueue", {"QueueUrl": QUEUE_URL, "Tags": {"why": "load"}},
        "UntagQueue", {"QueueUrl": QUEUE_URL, "TagKeys": ["why"]},
    ),
    "numbers in a structure": (
        "dynamodb", "UpdateTable", {"TableName": "d", "ProvisionedThroughput": {"ReadCapacityUnits": 50, "WriteCapacityUnits": 5}},
        "UpdateTable", {"TableName": "d", "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}},
    ),
    "a function": (
        "lambda", "UpdateFunctionConfiguration", {"FunctionName": "f", "Timeout": 30, "MemorySize": 512},
        "UpdateFunctionConfiguration", {"FunctionName": "f", "Timeout": 3, "MemorySize": 128},
    ),
    "a switch": (
        "kms", "EnableKeyRotation", {"KeyId": "k-1"}, "DisableKeyRotation", {"KeyId": "k-1"},
    ),
    "a count of tasks": (
        "ecs", "UpdateService", {"cluster": "c", "service": "s", "desiredCount": 5},
        "UpdateService", {"cluster": "c", "service": "s", "desiredCount": 2},
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def resolver() -> EffectResolver:
    return EffectResolver(FakeInventory(STATE))


def _call(service: str, operation: str, parameters: Mapping[str, Any]) -> Call:
    return Call(service=service, operation=operation, parameters=parameters, account=ACCOUNT, region=REGION)


def _changed(resolver: EffectResolver, call: Call) -> tuple[dict[tuple[str, str], Json], dict[str, Mapping[str, Json]]]:
    """What the call changes with the values before, and the resources after it."""
    effects = resolver.effects(call)
    assert effects, "not understood"
    before = {
        (each.address, each.attribute): AttributePath(each.attribute).value_at(STATE[each.address]) for each in effects
    }
    after: dict[str, Mapping[str, Json]] = {}
    for each in effects:
        after[each.address] = put_all(after.get(each.address, STATE[each.address]), [(each.attribute, each.value)])
    changed = {
        key: value
        for each, (key, value) in zip(effects, before.items(), strict=True)
        if each.value != value and each.action is EffectAction.SET
    }
    return changed, after


@pytest.mark.parametrize("case", CASES)
def test_a_change_is_set_back(resolver: EffectResolver, case: str) -> None:
    service, operation, parameters, opposite, expected = CASES[case]
    call = _call(service, operation, parameters)
    wanted, after = _changed(resolver, call)
    found = put_back_call(resolver, call, wanted, after)
    assert found is not None
    assert (found.operation, found.parameters) == (opposite, expected)


def test_only_a_part_is_set_back(resolver: EffectResolver) -> None:
    call = _call("autoscaling", "UpdateAutoScalingGroup", {**GROUP, "MinSize": 4, "MaxSize": 20})
    wanted, after = _changed(resolver, call)
    taken = frozenset({("aws_autoscaling_group.a", "min_size")})
    kept = {key: value for key, value in wanted.items() if key not in taken}
    found = put_back_call(resolver, call, kept, after, taken)
    assert found is not None
    assert found.parameters == {**GROUP, "MaxSize": 16}


def test_a_call_that_sets_back_is_found_from_one_that_sets_back_more(resolver: EffectResolver) -> None:
    call = _call("autoscaling", "UpdateAutoScalingGroup", {**GROUP, "MinSize": 4, "MaxSize": 20})
    wanted, after = _changed(resolver, call)
    whole = put_back_call(resolver, call, wanted, after)
    assert whole is not None
    taken = frozenset({("aws_autoscaling_group.a", "min_size")})
    part = put_back_call(resolver, whole, {("aws_autoscaling_group.a", "max_size"): 16}, after, taken)
    assert part is not None
    assert part.parameters == {**GROUP, "MaxSize": 16}


def test_what_needs_two_calls_is_not_found(resolver: EffectResolver) -> None:
    call = _call("sqs", "TagQueue", {"QueueUrl": QUEUE_URL, "Tags": {"owner": "b", "why": "load"}})
    wanted, after = _changed(resolver, call)
    assert put_back_call(resolver, call, wanted, after) is None


def test_a_value_that_no_parameter_gives_is_not_found(resolver: EffectResolver) -> None:
    call = _call("autoscaling", "SetDesiredCapacity", {**GROUP, "DesiredCapacity": 12})
    _, after = _changed(resolver, call)
    assert put_back_call(resolver, call, {("aws_autoscaling_group.a", "health_check_type"): None}, after) is None


def test_the_search_ends(resolver: EffectResolver, monkeypatch: pytest.MonkeyPatch) -> None:
    work = []
    real = EffectResolver.effects

    def counted(self: EffectResolver, *args: Any, **more: Any) -> Any:
        found = real(self, *args, **more)
        work.append(1 + len(found))
        return found

    monkeypatch.setattr(EffectResolver, "effects", counted)
    tags = {f"tag{index}": "new" for index in range(put_back.MOST_ATTRIBUTES)}
    call = _call("sqs", "TagQueue", {"QueueUrl": QUEUE_URL, "Tags": tags})
    wanted: dict[tuple[str, str], Json] = {("aws_sqs_queue.q", f"tags.no-{key}"): "old" for key in tags}
    assert put_back_call(resolver, call, wanted, dict(STATE)) is None
    assert sum(work) <= 2 * put_back.MOST_WORK


def test_a_large_call_is_tried_only_a_few_times(resolver: EffectResolver, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []
    real = EffectResolver.effects

    def counted(self: EffectResolver, call: Call, *args: Any, **more: Any) -> Any:
        tried.append(len(str(call.parameters)))
        return real(self, call, *args, **more)

    monkeypatch.setattr(EffectResolver, "effects", counted)
    tags = {f"tag{index}": "x" * 20_000 for index in range(put_back.MOST_ATTRIBUTES)}
    call = _call("sqs", "TagQueue", {"QueueUrl": QUEUE_URL, "Tags": tags})
    wanted: dict[tuple[str, str], Json] = {("aws_sqs_queue.q", f"tags.{key}"): key for key in tags}
    assert put_back_call(resolver, call, wanted, dict(STATE)) is None
    assert sum(tried) <= 1_024 * put_back.MOST_WORK


def test_more_attributes_than_one_call_sets_back_are_not_searched_for(resolver: EffectResolver) -> None:
    tags = {f"tag{index}": "new" for index in range(put_back.MOST_ATTRIBUTES + 1)}
    call = _call("sqs", "TagQueue", {"QueueUrl": QUEUE_URL, "Tags": tags})
    wanted: dict[tuple[str, str], Json] = {("aws_sqs_queue.q", f"tags.{key}"): None for key in tags}
    assert put_back_call(resolver, call, wanted, dict(STATE)) is None
