"""The operations of EventBridge on rules and their targets. The calls of the targets are unpacked in `gateway.effects.proxies.schedules`."""

from collections.abc import Iterator, Mapping

from gateway.core.model.mutation import Effect
from gateway.effects.call_context import CallContext, Target
from gateway.effects.interpreter import attributes
from gateway.effects.naming import plain
from gateway.effects.operation import CREATE, DELETE, SET, Operation
from gateway.effects.tags import set_tags
from gateway.effects.values import NotUnderstood

_RULE, _TARGET = "aws_cloudwatch_event_rule", "aws_cloudwatch_event_target"
_DEFAULT = "default"
_BY_NAME = {"Name": plain("name"), "EventBusName": plain("event_bus_name")}
_OF_TARGET = Operation(
    resource_type=_TARGET,
    attributes={
        "Arn": "arn",
        "BatchParameters": "batch_target",
        "EcsParameters": "ecs_target",
        "HttpParameters": "http_target",
        "InputTransformer.InputPathsMap": "input_transformer.input_paths",
        "KinesisParameters": "kinesis_target",
        "SqsParameters": "sqs_target",
    },
)
"""The members of a target. Others (of Redshift, SageMaker, AppSync) are not understood."""


def _targets(context: CallContext, ids: Iterator[object]) -> Iterator[Target]:
    bus = context.call.parameters.get("EventBusName") or _DEFAULT
    rule = context.text("Rule")
    for each in ids:
        if not isinstance(bus, str) or not isinstance(each, str) or bus.startswith("arn:"):
            raise NotUnderstood("a target or bus in an unknown form")
        yield context.target(_TARGET, {"rule": rule, "event_bus_name": bus, "target_id": each})


def _put(context: CallContext) -> tuple[Effect, ...]:
    """PutTargets: each target is set as a whole, whether it is there or not."""
    context.allow_only("EventBusName", "Rule", "Targets")
    given = context.call.parameters.get("Targets")
    if not isinstance(given, (list, tuple)) or not all(isinstance(each, Mapping) for each in given):
        raise NotUnderstood("targets in an unknown form")
    found: list[Effect] = []
    for target, entry in zip(_targets(context, (each.get("Id") for each in given)), given, strict=True):
        values = {name: value for name, value in entry.items() if name != "Id"}
        action = SET if target.recorded else CREATE
        if action is CREATE:
            found.append(target.whole(CREATE))
        found += target.put_all(dict(attributes(_OF_TARGET, target, values)), action=action)
    return tuple(found)


def _remove(context: CallContext) -> tuple[Effect, ...]:
    context.allow_only("EventBusName", "Force", "Ids", "Rule")
    ids = context.call.parameters.get("Ids")
    if not isinstance(ids, (list, tuple)):
        raise NotUnderstood("ids in an unknown form")
    return tuple(target.whole(DELETE) for target in _targets(context, iter(ids)))


OPERATIONS: Mapping[str, Operation] = {
    "PutTargets": Operation(resource_type=_TARGET, handler=_put),
    "RemoveTargets": Operation(resource_type=_TARGET, handler=_remove),
    "PutRule": Operation(
        resource_type=_RULE,
        identity=_BY_NAME,
        upserts=True,
        attributes={"Tags": set_tags},
        defaults={
            "description": "",
            "event_pattern": "",
            "role_arn": "",
            "schedule_expression": "",
            "state": "ENABLED",
        },
    ),
    "DeleteRule": Operation(resource_type=_RULE, identity=_BY_NAME, action=DELETE),
}
