"""Services, clusters and task definitions."""

from collections.abc import Callable
from typing import Any

CLUSTER = "arn:aws:ecs:eu-west-1:123456789012:cluster/c"
RESOURCES = {
    "aws_ecs_service.s": {"name": "s", "cluster": CLUSTER},
    "aws_ecs_service.other": {"name": "s", "cluster": "default"},
}


def test_a_service_is_known_by_cluster_and_name_or_arn(effects_of: Callable[..., Any]) -> None:
    arn = "arn:aws:ecs:eu-west-1:123456789012:service/c/s"
    for named in ({"cluster": "c", "service": "s"}, {"cluster": CLUSTER, "service": arn}):
        (effect,) = effects_of("ecs", "UpdateService", {**named, "desiredCount": 3}, RESOURCES)
        assert (effect.address, effect.attribute, effect.value) == ("aws_ecs_service.s", "desired_count", 3)
    (other,) = effects_of("ecs", "UpdateService", {"service": "s", "desiredCount": 3}, RESOURCES)
    assert other.address == "aws_ecs_service.other"


def test_container_definitions_are_json_text(effects_of: Callable[..., Any]) -> None:
    definition = {"family": "t", "containerDefinitions": [{"name": "a", "image": "x"}]}
    (effect,) = effects_of("ecs", "RegisterTaskDefinition", definition, {"aws_ecs_task_definition.t": {"family": "t"}})
    assert effect.value == '[{"image":"x","name":"a"}]'


def test_tags_of_tasks_are_not_understood(effects_of: Callable[..., Any]) -> None:
    task = "arn:aws:ecs:eu-west-1:123456789012:task/c/1"
    assert (
        effects_of("ecs", "TagResource", {"resourceArn": task, "tags": [{"key": "a", "value": "b"}]}, RESOURCES) == ()
    )
