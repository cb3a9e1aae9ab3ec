"""The operations of EventBridge. Putting events is an INVOKE of each bus that they are put on."""

from collections.abc import Mapping

from gateway.effects.context import CallContext
from gateway.effects.naming import name_or_arn
from gateway.effects.operation import Operation
from gateway.effects.values import NotUnderstood
from gateway.model.mutation import Effect, EffectAction

_BUS = "aws_cloudwatch_event_bus"
_DEFAULT = "default"
"""The bus of an event that names none."""


def _put(context: CallContext) -> tuple[Effect, ...]:
    context.allow_only("Entries")
    entries = context.call.parameters.get("Entries")
    if not isinstance(entries, (list, tuple)) or not all(isinstance(entry, Mapping) for entry in entries):
        raise NotUnderstood("entries in an unknown form")
    named = dict.fromkeys(str(entry.get("EventBusName") or _DEFAULT) for entry in entries)
    identify = name_or_arn("name", "event-bus")
    return tuple(context.target(_BUS, identify(context, name)).whole(EffectAction.INVOKE) for name in named)


OPERATIONS: Mapping[str, Operation] = {
    "PutEvents": Operation(
        resource_type=_BUS, action=EffectAction.INVOKE, handler=_put, content=frozenset({"Entries"})
    ),
}
