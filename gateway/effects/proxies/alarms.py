"""Unpacks the actions of alarms (CloudWatch): the call that AWS makes when the alarm goes off.

A notification does nothing to a resource. What a scaling policy does is judged where the policy is put, and with the alarm where the policy is
recorded (`gateway.effects.implied_effects`). The actions count while they are switched off too: nobody looks at them again when they are
switched on.
"""

import re
from collections.abc import Iterator, Mapping

from gateway.core.model.mutation import Call
from gateway.effects.call_context import CallContext
from gateway.effects.proxies.carried import Carried, Carrier, Parcel, Runtime, Unread, inner_call, shown

_GIVEN = ("AlarmActions", "OKActions", "InsufficientDataActions")
ACTIONS = frozenset({"alarm_actions", "insufficient_data_actions", "ok_actions"})
"""The attributes of an alarm that have its actions."""
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
    for request in dict.fromkeys(_requests(context.call)):
        if isinstance(request, Unread):
            yield request
        else:
            role = _OWN_RIGHTS if request[0] == "ec2" else ""
            yield Carried(call=inner_call(context, *_parameters(*request)), role=role)


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


ALARM = Carrier(unpack=of_alarm)
ALARMS: Mapping[tuple[str, str], Carrier] = {
    ("cloudwatch", "PutCompositeAlarm"): ALARM,
    ("cloudwatch", "PutMetricAlarm"): ALARM,
}
"""botocore's service and operation → how its calls are unpacked."""
