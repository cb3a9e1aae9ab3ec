"""Unpacks the definition of a Step Functions state machine: the call of each of its tasks."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gateway.effects.call_context import CallContext
from gateway.effects.proxies.carried import Carried, Carrier, Parcel, Runtime, Unread, inner_call, shown
from gateway.effects.proxies.documents import json_object
from gateway.effects.proxies.sdk_models import sdk_call
from gateway.effects.values import NotUnderstood

_INTEGRATION = re.compile(
    r"arn:[a-z-]+:states:::(aws-sdk:)?([a-z0-9-]+):([A-Za-z0-9]+)(\.sync(:\d)?|\.waitForTaskToken)?"
)
_FUNCTION = re.compile(r"arn:[a-z-]+:lambda:[a-z0-9-]*:(\d{12}|):function:.+")
_ACTIVITY = re.compile(r"arn:[a-z-]+:states:[a-z0-9-]*:(\d{12}|):activity:.+")
_MOST_STATES = 1_000
_OPTIMIZED = frozenset({
    ("lambda", "invoke"), ("sns", "publish"), ("sqs", "sendMessage"), ("dynamodb", "getItem"), ("dynamodb", "putItem"),
    ("dynamodb", "updateItem"), ("dynamodb", "deleteItem"), ("ecs", "runTask"), ("batch", "submitJob"), ("glue", "startJobRun"),
    ("codebuild", "startBuild"), ("states", "startExecution"), ("events", "putEvents"), ("athena", "startQueryExecution"),
})  # fmt: skip
"""Integrations that make the call of the same name. Others do more than one call, or none of AWS's (`http:invoke`)."""


def of_definition(context: CallContext) -> Iterator[Parcel]:
    """The calls that a state machine of this definition can make. Raises `NotUnderstood`, `errors.CallTooLarge`."""
    if context.call.parameters.get("definition") is None:
        return
    machine = json_object(context.call.parameters["definition"], "the definition")
    role = context.call.parameters.get("roleArn") or _recorded_role(context)
    language = machine.get("QueryLanguage", "JSONPath")
    todo: list[tuple[Mapping[str, Any], object]] = [(machine, language)]
    states = 0
    while todo:
        part, outer = todo.pop()
        named = part.get("States")
        if not isinstance(named, Mapping):
            raise NotUnderstood("a part of the definition has no States")
        for name, state in named.items():
            states += 1
            if states > _MOST_STATES:
                raise NotUnderstood(f"the definition has more than {_MOST_STATES} states")
            if not isinstance(state, Mapping):
                yield Unread(f"state {shown(name)} is in an unknown form")
                continue
            inner = state.get("QueryLanguage", part.get("QueryLanguage", outer))
            yield from _of_state(context, str(name), state, str(role), inner)
            todo.extend((each, inner) for each in _parts(state))


def _recorded_role(context: CallContext) -> str:
    """The role of a machine whose role the call does not change. Only that there is one matters."""
    return "the role that the state machine has" if context.call.operation == "UpdateStateMachine" else ""


def _parts(state: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    branches = state.get("Branches", [])
    inside = [
        *(branches if isinstance(branches, list) else [branches]),
        state.get("Iterator"),
        state.get("ItemProcessor"),
    ]
    for part in inside:
        if part is not None and not isinstance(part, Mapping):
            raise NotUnderstood("a part of the definition is in an unknown form")
        if part is not None:
            yield part


def _of_state(
    context: CallContext, name: str, state: Mapping[str, Any], role: str, language: object
) -> Iterator[Parcel]:
    kind = state.get("Type")
    if kind == "Map" and (state.get("ItemReader") is not None or state.get("ResultWriter") is not None):
        yield Unread(f"state {shown(name)} reads or writes objects")
    if kind != "Task":
        if kind not in ("Pass", "Choice", "Wait", "Succeed", "Fail", "Parallel", "Map"):
            yield Unread(f"state {shown(name)} is of an unknown type")
        return
    if state.get("Credentials") is not None:
        yield Unread(f"state {shown(name)} assumes another role (Credentials)")
    resource = state.get("Resource")
    if not isinstance(resource, str):
        yield Unread(f"state {shown(name)} has no resource")
    elif _FUNCTION.fullmatch(resource):
        call = inner_call(
            context, "lambda", "Invoke", {"FunctionName": resource, "Payload": Runtime("the state's input")}
        )
        yield Carried(call=call, role=role)
    elif not _ACTIVITY.fullmatch(resource):
        yield _integration(context, name, state, role, language)


def _integration(context: CallContext, name: str, state: Mapping[str, Any], role: str, language: object) -> Parcel:
    found = _INTEGRATION.fullmatch(state["Resource"])
    if found is None:
        return Unread(f"state {shown(name)} has a resource that is not unpacked")
    if not found[1] and (found[2], found[3]) not in _OPTIMIZED:
        return Unread(f"state {shown(name)} uses {found[2]}:{found[3]}, which is not unpacked")
    given = state.get("Arguments" if language == "JSONata" else "Parameters")
    if given is None:
        given = {"the state's input": Runtime("the state's input")}
    if not isinstance(given, Mapping):
        return Unread(f"state {shown(name)} computes all parameters of its call")
    parameters: Mapping[str, object] = {key.removesuffix(".$"): _marked(key, value) for key, value in given.items()}
    if len(parameters) != len(given):
        return Unread(f"state {shown(name)} names a parameter twice")
    service, operation, parameters = sdk_call(found[2], found[3], parameters)
    return Carried(call=inner_call(context, service, operation, parameters), role=role)


def _marked(key: str, value: object) -> object:
    """The value, with each part that is filled in when the machine runs as a `Runtime`. Keys may be written in two ways, so both count."""
    if key.endswith(".$") or (isinstance(value, str) and value.lstrip().startswith("{%")):
        return Runtime(str(value))
    if isinstance(value, Mapping):
        members = {name.removesuffix(".$"): _marked(name, item) for name, item in value.items()}
        return members if len(members) == len(value) else Runtime("a member that is named twice")
    return [_marked("", item) for item in value] if isinstance(value, list) else value


STATE_MACHINE = Carrier(unpack=of_definition)
