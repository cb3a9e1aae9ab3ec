"""Converts the target of a schedule or of a rule to the call that AWS will make."""

import re
from collections.abc import Callable, Mapping

from gateway.effects.call_context import CallContext
from gateway.effects.proxies.carried import Carried, Parcel, Runtime, Unread, inner_call, shown
from gateway.effects.proxies.documents import json_object
from gateway.effects.proxies.sdk_models import sdk_call

_UNIVERSAL = re.compile(r"arn:[a-z-]+:scheduler:::aws-sdk:([^:]+):([^:]+)")
_ARN = re.compile(r"arn:([a-z-]+):([a-z0-9-]+):([a-z0-9-]*):(\d{12}|):(.+)", re.DOTALL)
_SENT = Runtime("what the target is sent")
"""The data that a target gets. Nobody interprets it: what an event says is known only when it happens."""

Request = tuple[str, str, Mapping[str, object]]
"""Service, operation and parameters."""


def _queue(_target: Mapping[str, object], _arn: str, region: str, account: str, name: str) -> Request:
    suffix = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    url = f"https://sqs.{region}.{suffix}/{account}/{name}"
    return "sqs", "SendMessage", {"QueueUrl": url, "MessageBody": _SENT}


def _stream(_target: Mapping[str, object], arn: str, _region: str, _account: str, _name: str) -> Request:
    return "kinesis", "PutRecord", {"StreamARN": arn, "Data": _SENT, "PartitionKey": _SENT}


def _delivery_stream(_target: Mapping[str, object], _arn: str, _region: str, _account: str, name: str) -> Request:
    return "firehose", "PutRecord", {"DeliveryStreamName": name, "Record": _SENT}


def _topic(_target: Mapping[str, object], arn: str, _region: str, _account: str, _name: str) -> Request:
    return "sns", "Publish", {"TopicArn": arn, "Message": _SENT}


def _function(_target: Mapping[str, object], arn: str, _region: str, _account: str, _name: str) -> Request:
    return "lambda", "Invoke", {"FunctionName": arn, "Payload": _SENT}


def _machine(_target: Mapping[str, object], arn: str, _region: str, _account: str, _name: str) -> Request:
    return "stepfunctions", "StartExecution", {"stateMachineArn": arn, "input": _SENT}


def _bus(_target: Mapping[str, object], arn: str, _region: str, _account: str, _name: str) -> Request:
    return "events", "PutEvents", {"Entries": [{"EventBusName": arn}]}


def _task(target: Mapping[str, object], arn: str, _region: str, _account: str, _name: str) -> Request:
    given = target.get("EcsParameters")
    parameters = dict(given) if isinstance(given, Mapping) else {}
    lowered = {name[:1].lower() + name[1:]: value for name, value in parameters.items()}
    definition = lowered.pop("taskDefinitionArn", None)
    return "ecs", "RunTask", {**lowered, "cluster": arn, "taskDefinition": definition, "overrides": _SENT}


def _build(_target: Mapping[str, object], _arn: str, _region: str, _account: str, name: str) -> Request:
    return "codebuild", "StartBuild", {"projectName": name}


def _pipeline(_target: Mapping[str, object], _arn: str, _region: str, _account: str, name: str) -> Request:
    return "codepipeline", "StartPipelineExecution", {"name": name}


def _job(target: Mapping[str, object], arn: str, _region: str, _account: str, _name: str) -> Request:
    given = target.get("BatchParameters")
    definition = given.get("JobDefinition") if isinstance(given, Mapping) else None
    return "batch", "SubmitJob", {"jobQueue": arn, "jobDefinition": definition, "parameters": _SENT}


def _log_group(_target: Mapping[str, object], _arn: str, _region: str, _account: str, name: str) -> Request:
    return "logs", "PutLogEvents", {"logGroupName": name.removesuffix(":*"), "logStreamName": _SENT, "logEvents": _SENT}


_KINDS: tuple[tuple[str, re.Pattern[str], Callable[[Mapping[str, object], str, str, str, str], Request]], ...] = (
    ("lambda", re.compile(r"function:(.+)"), _function),
    ("sqs", re.compile(r"([^:/]+)"), _queue),
    ("sns", re.compile(r"([^:/]+)"), _topic),
    ("kinesis", re.compile(r"stream/([^:/]+)"), _stream),
    ("firehose", re.compile(r"deliverystream/([^:/]+)"), _delivery_stream),
    ("states", re.compile(r"stateMachine:([^:/]+)"), _machine),
    ("events", re.compile(r"event-bus/([^:]+)"), _bus),
    ("ecs", re.compile(r"cluster/([^:/]+)"), _task),
    ("codebuild", re.compile(r"project/([^:/]+)"), _build),
    ("codepipeline", re.compile(r"([^:/]+)"), _pipeline),
    ("batch", re.compile(r"job-queue/([^:/]+)"), _job),
    ("logs", re.compile(r"log-group:(.+)"), _log_group),
)
"""Service in the ARN, the form of its resource, and the request that AWS makes of it."""


def call_of_target(context: CallContext, target: Mapping[str, object], *, input_name: str = "Input") -> Parcel:
    """The call that AWS makes of a target; `input_name` is the member with the request of a universal target.

    Raises `NotUnderstood`, `errors.CallTooLarge`.
    """
    arn = target.get("Arn")
    role = target.get("RoleArn") or ""
    if not isinstance(arn, str) or not isinstance(role, str):
        return Unread("a target without an ARN")
    if (universal := _UNIVERSAL.fullmatch(arn)) is not None:
        given = target.get(input_name) or "{}"
        parameters = json_object(given, f"the input of {shown(arn)}")
        service, operation, parameters = sdk_call(universal[1], universal[2], parameters)
        return Carried(call=inner_call(context, service, operation, _with_runtime(parameters)), role=role)
    if (request := _request(arn, target)) is None:
        return Unread(f"{shown(arn)} is a kind of target that is not unpacked")
    return Carried(call=inner_call(context, *request), role=role)


def _request(arn: str, target: Mapping[str, object]) -> Request | None:
    parts = _ARN.fullmatch(arn)
    if parts is None:
        return None
    _, service, region, account, resource = parts.groups()
    for kind, form, request in _KINDS:
        if kind == service and (found := form.fullmatch(resource)) is not None:
            return request(target, arn, region, account, found[1])
    return None


def _with_runtime(parameters: Mapping[str, object]) -> Mapping[str, object]:
    """The parameters, with the texts in which Scheduler fills something in (`<aws.scheduler.scheduled-time>`) marked as such."""
    return {name: _marked(value) for name, value in parameters.items()}


def _marked(value: object) -> object:
    if isinstance(value, str):
        return Runtime(value) if "<aws.scheduler." in value else value
    if isinstance(value, Mapping):
        return {name: _marked(item) for name, item in value.items()}
    return [_marked(item) for item in value] if isinstance(value, list) else value
