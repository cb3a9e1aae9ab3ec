"""Unpacks documents of Systems Manager: the calls of an automation's steps.

A document is judged when it is written, and again when it is started, from the content that the state records.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gateway.effects.call_context import CallContext
from gateway.effects.proxies.carried import Carried, Carrier, Parcel, Runtime, Unread, inner_call, shown
from gateway.effects.proxies.documents import document
from gateway.effects.values import NotUnderstood

_WITHOUT_CALLS = frozenset({
    "aws:approve", "aws:assertAwsResourceProperty", "aws:branch", "aws:loop", "aws:pause", "aws:sleep", "aws:updateVariable",
    "aws:waitForAwsResourceProperty",
})  # fmt: skip
"""Steps that change nothing: they wait, branch or read. A loop's steps are steps of the document."""
_ON_INSTANCES = {
    "aws:changeInstanceState": {
        "running": "StartInstances",
        "stopped": "StopInstances",
        "terminated": "TerminateInstances",
    }
}
_PARAMETER = re.compile(r"\{\{ ?([A-Za-z0-9]{1,50}) ?\}\}")
_MOST_STEPS = 200
_LOCAL = re.compile(r"[A-Za-z0-9_.-]{3,128}")


def of_document(context: CallContext) -> Iterator[Parcel]:
    """The calls of the steps of a document that is written. One of another type than Automation runs on instances, when it is sent there."""
    parameters = context.call.parameters
    kind = parameters.get("DocumentType")
    if context.call.operation == "UpdateDocument":
        kind = context.target("aws_ssm_document", {"name": context.text("Name")}).recorded.get("document_type")
    if parameters.get("Attachments"):
        yield Unread("the document has attachments")
    if kind == "Automation":
        yield from _steps(context, document(parameters.get("Content"), "the document"), {}, "")
    elif kind not in ("Command", "Policy", "Session"):
        yield Unread("it writes a document of a type that is not unpacked")


def of_execution(context: CallContext) -> Iterator[Parcel]:
    """The calls of an automation that is started, with the parameters that it is given. Raises `NotUnderstood`."""
    parameters = context.call.parameters
    for name in (
        "Targets",
        "TargetMaps",
        "TargetLocations",
        "TargetLocationsURL",
        "TargetParameterName",
        "AlarmConfiguration",
    ):
        if parameters.get(name):
            yield Unread(f"{name} decides on which resources it runs")
    name = context.text("DocumentName")
    if not _LOCAL.fullmatch(name):
        raise NotUnderstood("a document of another account, or of another form")
    target = context.target("aws_ssm_document", {"name": name})
    recorded = target.recorded
    if recorded.get("document_type") != "Automation" or not recorded.get("content"):
        raise NotUnderstood(f"the content of the document {shown(name)} is not recorded")
    versions = {str(recorded.get("default_version", "")), str(recorded.get("latest_version", ""))}
    asked = parameters.get("DocumentVersion")
    if len(versions) > 1 or asked not in (None, "", "$DEFAULT", "$LATEST", *versions):
        raise NotUnderstood(f"another version of the document {shown(name)} than the recorded one")
    given = parameters.get("Parameters") or {}
    if not isinstance(given, Mapping):
        raise NotUnderstood("the parameters of the automation")
    role = given.get("AutomationAssumeRole")
    yield from _steps(
        context, document(recorded["content"], "the document"), given, "a role that it is given" if role else ""
    )


def _steps(
    context: CallContext, content: Mapping[str, Any], given: Mapping[str, object], role: str
) -> Iterator[Parcel]:
    declared = content.get("parameters") or {}
    steps = content.get("mainSteps")
    if not isinstance(steps, list) or not isinstance(declared, Mapping):
        raise NotUnderstood("the document has no steps")
    if len(steps) > _MOST_STEPS:
        raise NotUnderstood(f"the document has more than {_MOST_STEPS} steps")
    role = role or ("the role of the document" if content.get("assumeRole") else "")
    values = {name: _value(each, given.get(name)) for name, each in declared.items() if isinstance(each, Mapping)}
    todo = list(steps)
    count = 0
    while todo:
        step = todo.pop(0)
        count += 1
        inputs = step.get("inputs", {}) if isinstance(step, Mapping) else None
        if count > _MOST_STEPS or not isinstance(step, Mapping) or not isinstance(inputs, Mapping):
            raise NotUnderstood("a step in an unknown form, or too many steps")
        nested = inputs.get("Steps", []) if step.get("action") == "aws:loop" else []
        todo.extend(nested if isinstance(nested, list) else [nested])
        yield from _step(context, step, inputs, values, role)


def _step(
    context: CallContext, step: Mapping[str, Any], inputs: Mapping[str, Any], values: Mapping[str, object], role: str
) -> Iterator[Parcel]:
    action, name = step.get("action"), shown(step.get("name", ""))
    if action == "aws:executeAwsApi":
        service, api = inputs.get("Service"), inputs.get("Api")
        if not isinstance(service, str) or not isinstance(api, str) or "{{" in service + api:
            yield Unread(f"step {name} does not say which call it makes")
            return
        parameters = {key: _filled(value, values) for key, value in inputs.items() if key not in ("Service", "Api")}
        # The names of this step are botocore's: `ec2`, `DescribeInstances`.
        yield Carried(call=inner_call(context, service, api, parameters), role=role)
    elif action in _ON_INSTANCES:
        api = _ON_INSTANCES[action].get(str(inputs.get("DesiredState")), "")
        if inputs.get("CheckStateOnly") in (True, "true"):
            return
        if not api or set(inputs) - {"InstanceIds", "DesiredState", "CheckStateOnly", "Force"} or inputs.get("Force"):
            yield Unread(f"step {name} changes the state of instances in a way that is not unpacked")
            return
        ids = _filled(inputs.get("InstanceIds"), values)
        yield Carried(call=inner_call(context, "ec2", api, {"InstanceIds": ids}), role=role)
    elif action not in _WITHOUT_CALLS:
        yield Unread(f"step {name} is of the kind {shown(action)}, which is not unpacked")


def _value(declared: Mapping[str, Any], given: object) -> object:
    """The value of a parameter: what it is given, always a list of texts, or its default."""
    value = given if given is not None else declared.get("default")
    if (
        isinstance(value, (list, tuple))
        and declared.get("type") in ("String", "Boolean", "Integer")
        and len(value) == 1
    ):
        return value[0]
    return value


def _filled(value: object, values: Mapping[str, object]) -> object:
    """The value with the parameters filled in, if it is one; a `Runtime` if anything else is filled in, or only a part of the text."""
    if isinstance(value, str):
        whole = _PARAMETER.fullmatch(value)
        if whole is not None and isinstance(known := values.get(whole[1]), (str, int, bool, list)):
            return known
        return Runtime(value) if "{{" in value else value
    if isinstance(value, Mapping):
        return {key: _filled(item, values) for key, item in value.items()}
    return [_filled(item, values) for item in value] if isinstance(value, (list, tuple)) else value


WRITTEN = Carrier(unpack=of_document)
STARTED = Carrier(unpack=of_execution)
