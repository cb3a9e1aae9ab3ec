"""Unpacks schedules (EventBridge Scheduler) and the targets of rules (EventBridge): the call that AWS makes when the time or the event comes."""

from collections.abc import Iterator, Mapping

from gateway.effects.call_context import CallContext
from gateway.effects.proxies.carried import Carrier, Parcel, Unread
from gateway.effects.proxies.targets import call_of_target
from gateway.effects.values import NotUnderstood


def of_schedule(context: CallContext) -> Iterator[Parcel]:
    """The call of a schedule's target."""
    target = context.call.parameters.get("Target")
    if not isinstance(target, Mapping):
        raise NotUnderstood("a schedule without a target")
    yield call_of_target(context, target)


def of_rule(context: CallContext) -> Iterator[Parcel]:
    """The calls of the targets that a rule gets."""
    targets = context.call.parameters.get("Targets")
    if not isinstance(targets, (list, tuple)) or not targets:
        raise NotUnderstood("a rule without targets")
    for target in targets:
        if isinstance(target, Mapping):
            yield call_of_target(context, target)
        else:
            yield Unread("a target in an unknown form")


SCHEDULE = Carrier(unpack=of_schedule)
RULE = Carrier(unpack=of_rule)
