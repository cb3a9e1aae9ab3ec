"""Unpacks the actions of alarms (CloudWatch): the call that AWS makes when the alarm goes off.

A notification does nothing to a resource. What a scaling policy does is judged where the policy is put, and with the alarm where the policy is
recorded (`gateway.effects.implied_effects`). The actions count while they are switched off too. Who sets the state of an alarm, or switches its actions on, sets off
what the alarm does by the states: that is judged again, since others may have put it there.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from gateway.core.model.mutation import Call
from gateway.effects.call_context import CallContext
from gateway.effects.proxies.carried import Carried, Carrier, Parcel, Runtime, Unread, inner_call, shown

_GIVEN = {
    "AlarmActions": "alarm_actions",
    "OKActions": "ok_actions",
    "InsufficientDataActions": "insufficient_data_actions",
}
ACTIONS = frozenset(_GIVEN.values())
"""The attributes of an alarm that have its actions."""
_IN_STATE = {"ALARM": "AlarmActions", "OK": "OKActions", "INSUFFICIENT_DATA": "InsufficientDataActions"}
_TYPES = ("aws_cloudwatch_metric_alarm", "aws_cloudwatch_composite_alarm")
_HARMLESS = re.compile(
    r"arn:[a-z-]+:(?:sns:[a-z0-9-]+:\d{12}:[^:/]+|autoscaling:[a-z0-9-]+:\d{12}:scalingPolicy:.+)", re.DOTALL
)
_ON_INSTANCE = re.compile(
    r"arn:[a-z-]+:(?:automate:([a-z0-9-]+):ec2:|swf:([a-z0-9-]+):\d{12}:action/actions/AWS_EC2\.InstanceId\.)"
    r"(stop|terminate|recover|reboot)(?:/1\.0)?",
    re.IGNORECASE,
)
_FUNCTION = re.compile(r"arn:[a-z-]+:lambda:[a-z0-9-]+:\d{12}:function:.+", re.DOTALL)
Request = tuple[str, str, str]
"""Service, operation, and the function or the instance."""
_OWN_RIGHTS = "the service-linked role of CloudWatch"
"""Whose rights stop an instance, whatever those of the caller are (CloudWatch user guide, "Using service-linked roles")."""
_OPERATIONS = {
    "stop": "StopInstances",
    "terminate": "TerminateInstances",
    "reboot": "RebootInstances",
    "recover": "RebootInstances",  # it starts again, on other hardware
}


def of_alarm(context: CallContext) -> Iterator[Parcel]:
    """The calls of an alarm's actions, each once. Those on an instance are of the one that the metric is about."""
    return _carried(context, _requests(context.call))


def of_trigger(context: CallContext) -> Iterator[Parcel]:
    """The calls of the actions of recorded alarms that a call sets off or switches on, each once."""
    return _carried(context, _triggered(context))


def _carried(context: CallContext, requests: Iterable[Request | Unread]) -> Iterator[Parcel]:
    for request in dict.fromkeys(requests):
        if isinstance(request, Unread):
            yield request
        else:
            role = _OWN_RIGHTS if request[0] == "ec2" else ""
            yield Carried(call=inner_call(context, *_parameters(*request)), role=role)


def _triggered(context: CallContext) -> Iterator[Request | Unread]:
    given = context.call.parameters
    names = given.get("AlarmNames") or given.get("AlarmName") or ()
    members = [_IN_STATE[state]] if (state := given.get("StateValue")) in _IN_STATE else [*_GIVEN]
    for name in names if isinstance(names, (list, tuple)) else (names,):
        recorded = _recorded(context, str(name))
        if not recorded:
            yield Unread(f"no state records the alarm {shown(name)}, so what it does is not known")
            continue
        dimensions = recorded.get("dimensions")
        pairs = dimensions.items() if isinstance(dimensions, Mapping) else ()
        parameters: dict[str, object] = {member: recorded.get(_GIVEN[member]) for member in members}
        parameters["Dimensions"] = [{"Name": key, "Value": value} for key, value in pairs]
        yield from _requests(inner_call(context, "cloudwatch", "PutMetricAlarm", parameters))


def _recorded(context: CallContext, name: str) -> Mapping[str, object]:
    """What the states say of the alarm, a metric's or a composite one; empty if none records it."""
    for kind in _TYPES:
        address = context.inventory.locate(kind, {"alarm_name": name}, context.account, context.call.region)
        if address is not None and (recorded := context.inventory.recorded(address)):
            return recorded
    return {}


def acts(call: Call) -> bool:
    """Whether it puts an alarm that does more than notify and scale."""
    return (call.service, call.operation) in ALARMS and any(True for _ in _requests(call))


def _requests(call: Call) -> Iterator[Request | Unread]:
    for name in _GIVEN:
        given = call.parameters.get(name) or ()
        for action in given if isinstance(given, (list, tuple)) else (given,):
            if not isinstance(action, str):
                yield Unread(f"{name} has an action in an unknown form")
            elif not _HARMLESS.fullmatch(action):
                yield _request(call, action)


def _request(call: Call, action: str) -> Request | Unread:
    if _FUNCTION.fullmatch(action):
        return "lambda", "Invoke", action
    if (found := _ON_INSTANCE.fullmatch(action)) is None:
        return Unread(f"{shown(action)} is a kind of action that is not unpacked")
    if (found[1] or found[2]) != call.region:
        return Unread(f"{shown(action)} acts in another region")
    if not (instance := _instance(call.parameters.get("Dimensions"))):
        return Unread(f"the alarm does not tell the instance on which {shown(action)} acts")
    return "ec2", _OPERATIONS[found[3].lower()], instance


def _parameters(service: str, operation: str, target: str) -> tuple[str, str, Mapping[str, object]]:
    if service == "lambda":
        return service, operation, {"FunctionName": target, "Payload": Runtime("what the alarm sends")}
    return service, operation, {"InstanceIds": [target]}


def _instance(dimensions: object) -> str:
    """The instance that the metric is about; empty if it is about none or several."""
    given = dimensions if isinstance(dimensions, (list, tuple)) else ()
    pairs = [each for each in given if isinstance(each, Mapping) and each.get("Name") == "InstanceId"]
    value = pairs[0].get("Value") if len(pairs) == 1 else None
    return value if isinstance(value, str) else ""


def does_more_than_notify(action: object) -> bool:
    """Whether an action of an alarm does anything but send a notification. A scaling policy does."""
    return not isinstance(action, str) or ":sns:" not in action or not _HARMLESS.fullmatch(action)


ALARM = Carrier(unpack=of_alarm)
ALARMS: Mapping[tuple[str, str], Carrier] = {
    ("cloudwatch", "PutCompositeAlarm"): ALARM,
    ("cloudwatch", "PutLogAlarm"): ALARM,
    ("cloudwatch", "PutMetricAlarm"): ALARM,
}
"""botocore's service and operation → how its calls are unpacked."""
TRIGGERS: Mapping[tuple[str, str], Carrier] = {
    ("cloudwatch", "EnableAlarmActions"): Carrier(unpack=of_trigger),
    ("cloudwatch", "SetAlarmState"): Carrier(unpack=of_trigger),
}
"""The same for what sets off alarms, or switches their actions on."""
