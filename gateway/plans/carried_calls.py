"""The calls that AWS will carry out because of what a plan makes: the target of a schedule, the tasks of a state machine.

They are judged with the plan, as the calls that make these resources are judged without one. A value that the plan does not tell makes a call
unreadable. Of unreadable ones only the role is judged, and whether anybody may make them: the plan is code that people review.
"""

from collections.abc import Callable, Mapping
from typing import Final

from gateway.core.model.json import Json
from gateway.core.model.mutation import Call, CallClass, InnerCall
from gateway.core.model.path import put_all
from gateway.core.model.plan import Plan, PlannedAction
from gateway.effects.resolver import EffectResolver
from gateway.terraform.stack import Stack

_GIVEN_AWAY: Final = (CallClass.CREDENTIAL, CallClass.SECRET, CallClass.CRYPTO)
Request = tuple[str, str, dict[str, object]]


def carried_calls(
    plan: Plan, stack: Stack, resolver: EffectResolver, account: str, region: str
) -> tuple[InnerCall, ...]:
    """The inner calls of all planned resources that are understood, have a role, or are of a class that is refused.

    Raises `errors.CallTooLarge`.
    """
    found: list[InnerCall] = []
    for change in plan.changes:
        make = _CARRIERS.get(change.resource_type)
        if make is None or change.action is PlannedAction.DELETE:
            continue
        recorded = stack.recorded(stack.named(change.address)) or {}
        attributes = put_all(recorded, list(change.values.items()))
        service, operation, parameters = make(attributes)
        given = {name: value for name, value in parameters.items() if value not in (None, "", [])}
        call = Call(
            service=service, operation=operation, parameters=given, account=account, region=change.region or region
        )
        inner = resolver.explain(call).inner
        found += [each for each in inner if each.effects or each.role or each.call_class in _GIVEN_AWAY]
    return tuple(found)


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


def _integration(attributes: Mapping[str, Json]) -> Request:
    names = {"type": "type", "uri": "uri", "credentials": "credentials"}
    return "apigateway", "PutIntegration", {name: attributes.get(each) for name, each in names.items()}


def _second_integration(attributes: Mapping[str, Json]) -> Request:
    names = {
        "CredentialsArn": "credentials_arn", "IntegrationSubtype": "integration_subtype", "IntegrationType": "integration_type",
        "IntegrationUri": "integration_uri",
    }  # fmt: skip
    return "apigatewayv2", "CreateIntegration", {name: attributes.get(each) for name, each in names.items()}


_CARRIERS: Final[Mapping[str, Callable[[Mapping[str, Json]], Request]]] = {
    "aws_api_gateway_integration": _integration,
    "aws_apigatewayv2_integration": _second_integration,
    "aws_cloudformation_stack": _stack,
    "aws_cloudwatch_event_target": _target,
    "aws_scheduler_schedule": _schedule,
    "aws_sfn_state_machine": _machine,
    "aws_ssm_document": _document,
}
"""Resource type → the call that makes one, of the parameters that say what it will do."""
