"""The calls that AWS will carry out because of what a plan makes: the target of a schedule, the tasks of a state machine.

They are judged with the plan, as the calls that make these resources are judged without one. What cannot be unpacked, or has a value that the
plan does not tell, is an inner call of which only that is known (`UNREAD`). It passes where the code that declares it was reviewed.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from gateway.core.errors import CallTooLarge
from gateway.core.model.json import Json
from gateway.core.model.mutation import UNREAD, Call, CallClass, InnerCall
from gateway.core.model.path import AttributePath, put_all
from gateway.core.model.plan import Plan, PlannedAction, PlannedChange
from gateway.effects.limits import MOST_EFFECTS
from gateway.effects.resolver import EffectResolver
from gateway.plans.held_types import HELD_BODIES, HELD_DELETIONS, HELD_TYPES
from gateway.terraform.stack import Stack

_GIVEN_AWAY: Final = (CallClass.CREDENTIAL, CallClass.SECRET, CallClass.CRYPTO)
Request = tuple[str, str, dict[str, object]]


def carried_calls(
    plan: Plan, stack: Stack, resolver: EffectResolver, account: str, region: str
) -> tuple[InnerCall, ...]:
    """The inner calls of all planned resources that are understood, have a role, are of a class that is refused, or cannot be read.

    Raises `errors.CallTooLarge` if they are more than one decision can judge.
    """
    found: list[InnerCall] = []
    for change in plan.changes:
        found += _of_change(change, stack, resolver, account, change.region or region)
        if len(found) > MOST_EFFECTS:
            raise CallTooLarge(f"makes AWS carry out more than {MOST_EFFECTS} calls; plan a part of it with `-target`")
    return tuple(found)


def _of_change(
    change: PlannedChange, stack: Stack, resolver: EffectResolver, account: str, region: str
) -> Iterator[InnerCall]:
    recorded = stack.recorded(stack.named(change.address)) or {}
    kind = change.resource_type
    requests: list[Request] = []
    if change.action in (PlannedAction.DELETE, PlannedAction.REPLACE):
        if (gone := _DELETIONS.get(kind)) is not None:
            requests.append(gone(recorded))
        elif (name := HELD_DELETIONS.get(kind)) is not None:
            yield _unread(Call(service=name[0], operation=name[1], parameters={}, account=account, region=region))
    if change.action is not PlannedAction.DELETE and _changes_more_than_tags(change):
        if (make := MAKERS.get(kind)) is not None:
            requests.append(make(put_all(recorded, list(change.values.items()))))
        elif (name := HELD_TYPES.get(kind) or _of_body(change)) is not None:
            yield _unread(Call(service=name[0], operation=name[1], parameters={}, account=account, region=region))
    for service, operation, parameters in requests:
        given = {name: value for name, value in parameters.items() if value not in (None, "", [])}
        call = Call(service=service, operation=operation, parameters=given, account=account, region=region)
        explained = resolver.explain(call)
        noted = [each for each in explained.inner if each.effects or each.role or each.call_class in _GIVEN_AWAY]
        yield from noted
        untold = kind not in _JUDGED_WHEN_SENT and _untold(change)
        is_unread = _has_rights(kind, change, given) and (explained.reason or untold)
        if is_unread and not any(each.role for each in noted):
            yield _unread(call)


def _of_body(change: PlannedChange) -> tuple[str, str] | None:
    """The operation that takes a document with such calls, if the plan gives one to the resource."""
    body = HELD_BODIES.get(change.resource_type)
    given = (*change.values, *change.secrets, *change.unknown)
    return body[1] if body is not None and any(AttributePath(path).top == body[0] for path in given) else None


def _unread(call: Call) -> InnerCall:
    """What is known of calls that cannot be read: which call makes them. Its parameters may hold what nobody has masked."""
    return InnerCall(call=replace(call, parameters={}), call_class=CallClass.MUTATION, role=UNREAD)


def _untold(change: PlannedChange) -> bool:
    """Whether the plan leaves open a value that may say what AWS will do."""
    return any(AttributePath(path).top not in _OF_NO_CALL for path in (*change.secrets, *change.unknown))


def _changes_more_than_tags(change: PlannedChange) -> bool:
    changed = (*change.values, *change.secrets, *change.unknown)
    return change.action is not PlannedAction.UPDATE or any(AttributePath(path).top != "tags" for path in changed)


def _has_rights(kind: str, change: PlannedChange, given: Mapping[str, object]) -> bool:
    """Whether AWS makes the calls with rights that are not those of what is called: by a role, or as the caller itself."""
    texts = [given, *(each for each in given.values() if isinstance(each, Mapping))]
    targets = given.get("Targets")
    texts += [each for each in targets if isinstance(each, Mapping)] if isinstance(targets, list) else []
    role = any(each.get(name) for each in texts for name in _ROLES)
    untold = any(AttributePath(path).last in _ROLE_ATTRIBUTES for path in (*change.secrets, *change.unknown))
    return kind in _AS_THE_CALLER or role or untold


def _block(attributes: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    """A block that may stand once, as the state or a plan writes it."""
    value = attributes.get(name)
    inner = value[0] if isinstance(value, list) and value else value
    return inner if isinstance(inner, Mapping) else {}


def _schedule(attributes: Mapping[str, Json]) -> Request:
    target = _block(attributes, "target")
    aim = {"Arn": target.get("arn"), "RoleArn": target.get("role_arn"), "Input": target.get("input")}
    return "scheduler", "CreateSchedule", {"Name": attributes.get("name"), "Target": aim}


def _target(attributes: Mapping[str, Json]) -> Request:
    names = {"Arn": "arn", "RoleArn": "role_arn", "Input": "input"}
    target = {"Id": "1", **{name: attributes.get(attribute) for name, attribute in names.items()}}
    return "events", "PutTargets", {"Rule": attributes.get("rule"), "Targets": [target]}


def _machine(attributes: Mapping[str, Json]) -> Request:
    names = {"name": "name", "definition": "definition", "roleArn": "role_arn"}
    return "stepfunctions", "CreateStateMachine", {name: attributes.get(each) for name, each in names.items()}


def _stack(attributes: Mapping[str, Json]) -> Request:
    given = attributes.get("parameters")
    pairs = given.items() if isinstance(given, Mapping) else ()
    parameters = [{"ParameterKey": key, "ParameterValue": value} for key, value in pairs]
    names = {
        "StackName": "name",
        "TemplateBody": "template_body",
        "TemplateURL": "template_url",
        "RoleARN": "iam_role_arn",
    }
    body = {name: attributes.get(each) for name, each in names.items()}
    return "cloudformation", "CreateStack", {**body, "Parameters": parameters}


def _document(attributes: Mapping[str, Json]) -> Request:
    names = {"Name": "name", "Content": "content", "DocumentType": "document_type"}
    return "ssm", "CreateDocument", {name: attributes.get(each) for name, each in names.items()}


def _alarm(attributes: Mapping[str, Json]) -> Request:
    given = attributes.get("dimensions")
    pairs = given.items() if isinstance(given, Mapping) else ()
    names = {
        "AlarmActions": "alarm_actions",
        "OKActions": "ok_actions",
        "InsufficientDataActions": "insufficient_data_actions",
    }
    body = {name: attributes.get(each) for name, each in names.items()}
    dimensions = [{"Name": name, "Value": value} for name, value in pairs]
    # Terraform may choose the name later, and it says nothing of what the alarm does.
    return (
        "cloudwatch",
        "PutMetricAlarm",
        {"AlarmName": attributes.get("alarm_name") or "alarm", "Dimensions": dimensions, **body},
    )


def _integration(attributes: Mapping[str, Json]) -> Request:
    names = {"type": "type", "uri": "uri", "credentials": "credentials"}
    return "apigateway", "PutIntegration", {name: attributes.get(each) for name, each in names.items()}


def _second_integration(attributes: Mapping[str, Json]) -> Request:
    names = {
        "CredentialsArn": "credentials_arn", "IntegrationSubtype": "integration_subtype", "IntegrationType": "integration_type",
        "IntegrationUri": "integration_uri",
    }  # fmt: skip
    return "apigatewayv2", "CreateIntegration", {name: attributes.get(each) for name, each in names.items()}


def _cloud_control(attributes: Mapping[str, Json]) -> Request:
    names = {"TypeName": "type_name", "DesiredState": "desired_state", "RoleArn": "role_arn"}
    return "cloudcontrol", "CreateResource", {name: attributes.get(each) for name, each in names.items()}


def _deleted_stack(attributes: Mapping[str, Json]) -> Request:
    return "cloudformation", "DeleteStack", {"StackName": attributes.get("name")}


def _deleted_resource(attributes: Mapping[str, Json]) -> Request:
    return (
        "cloudcontrol",
        "DeleteResource",
        {"TypeName": attributes.get("type_name"), "Identifier": attributes.get("id")},
    )


_DELETIONS: Final[Mapping[str, Callable[[Mapping[str, Json]], Request]]] = {
    "aws_cloudcontrolapi_resource": _deleted_resource,
    "aws_cloudformation_stack": _deleted_stack,
}
"""Resource type → the call that deletes one, where AWS deletes more than the resource."""
_ALARMS: Final = ("aws_cloudwatch_composite_alarm", "aws_cloudwatch_metric_alarm")
_AS_THE_CALLER: Final = frozenset(
    {*_ALARMS, "aws_cloudcontrolapi_resource", "aws_cloudformation_stack", "aws_ssm_document"}
)
"""Types whose calls AWS makes with the rights of the caller, if they name no role."""
_JUDGED_WHEN_SENT: Final = frozenset(_ALARMS)
"""Types of which a plan seldom tells what they do, and it is mostly a notification: the call of the session is unpacked again."""
_ROLES: Final = ("RoleArn", "RoleARN", "roleArn", "credentials", "CredentialsArn")
_ROLE_ATTRIBUTES: Final = frozenset({"credentials", "credentials_arn", "iam_role_arn", "role_arn", "target"})
_OF_NO_CALL: Final = frozenset({"api_id", "description", "http_method", "id", "resource_id", "rest_api_id", "tags"})
"""Attributes that say where a resource is, and not what AWS will do because of it."""
MAKERS: Final[Mapping[str, Callable[[Mapping[str, Json]], Request]]] = {
    "aws_api_gateway_integration": _integration,
    "aws_apigatewayv2_integration": _second_integration,
    "aws_cloudcontrolapi_resource": _cloud_control,
    "aws_cloudformation_stack": _stack,
    "aws_cloudwatch_composite_alarm": _alarm,
    "aws_cloudwatch_event_target": _target,
    "aws_cloudwatch_metric_alarm": _alarm,
    "aws_scheduler_schedule": _schedule,
    "aws_sfn_state_machine": _machine,
    "aws_ssm_document": _document,
}
"""Resource type → the call that makes one, of the parameters that say what it will do."""
