"""What a plan makes AWS do later is found in the plan: inner calls of schedules, machines, stacks, documents and integrations."""

import json
from pathlib import Path
from typing import Any

import pytest

from gateway.aws.models.call_classes import class_of_call, shipped
from gateway.core.derived_rows import Origin, derived_rows
from gateway.core.errors import CallTooLarge
from gateway.core.model.json import Json
from gateway.core.model.mutation import UNREAD, CallClass
from gateway.core.model.plan import Plan, PlannedAction, PlannedChange
from gateway.core.model.verdict import Mode
from gateway.core.settings import StackSettings
from gateway.effects.proxies.carriers import CARRIERS, HELD
from gateway.effects.resolver import EffectResolver
from gateway.effects.schema import read_schemas
from gateway.plans.carried_calls import MAKERS, carried_calls
from gateway.plans.held_types import HELD_BODIES, HELD_DELETIONS, HELD_TYPES
from gateway.terraform.stacks import Stacks

STACK = Path(__file__).parents[2] / "cases" / "stacks" / "kafka"
ROLE = "arn:aws:iam::123456789012:role/r"
UNIVERSAL = "arn:aws:scheduler:::aws-sdk:iam:createUser"
FUNCTION = "arn:aws:lambda:eu-west-1:123456789012:function:f"
DEFINITION = json.dumps(
    {
        "StartAt": "A",
        "States": {
            "A": {
                "Type": "Task",
                "Resource": "arn:aws:states:::aws-sdk:iam:createUser",
                "Parameters": {"UserName": "eve"},
                "End": True,
            }
        },
    }
)
TEMPLATE = json.dumps(
    {
        "Resources": {"Q": {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": {"Ref": "Name"}}}},
        "Parameters": {"Name": {"Type": "String"}},
    }
)
DOCUMENT = json.dumps(
    {
        "schemaVersion": "0.3",
        "mainSteps": [
            {
                "name": "s",
                "action": "aws:executeAwsApi",
                "inputs": {"Service": "iam", "Api": "CreateUser", "UserName": "eve"},
            }
        ],
    }
)


@pytest.fixture(scope="module")
def stacks() -> Stacks:
    return Stacks.load([StackSettings(name="kafka", path=STACK)], default_mode=Mode.ENFORCE)


def found(
    stacks: Stacks,
    resource_type: str,
    values: dict[str, Json],
    action: PlannedAction = PlannedAction.CREATE,
    *,
    secrets: tuple[str, ...] = (),
    unknown: tuple[str, ...] = (),
) -> list[tuple[str, str, CallClass]]:
    resolver = EffectResolver(
        stacks, class_of=lambda call: class_of_call(call, shipped().of(call.service, call.operation))
    )
    change = PlannedChange(
        address=f"{resource_type}.new",
        resource_type=resource_type,
        action=action,
        values=values,
        secrets=secrets,
        unknown=unknown,
    )
    calls = carried_calls(Plan(changes=(change,)), stacks.all[0], resolver, "123456789012", "eu-west-1")
    return [(each.name, each.role, each.call_class) for each in calls]


@pytest.mark.parametrize(
    ("resource_type", "values", "call", "role"),
    [
        ("aws_scheduler_schedule", {"name": "n", "target": [{"arn": UNIVERSAL, "role_arn": ROLE, "input": '{"UserName": "eve"}'}]}, "iam:CreateUser", ROLE),
        ("aws_cloudwatch_event_target", {"rule": "r", "arn": FUNCTION}, "lambda:Invoke", ""),
        ("aws_sfn_state_machine", {"name": "m", "definition": DEFINITION, "role_arn": ROLE}, "iam:CreateUser", ROLE),
        ("aws_cloudformation_stack", {"name": "s", "template_body": TEMPLATE, "parameters": {"Name": "q"}}, "sqs:CreateQueue", ""),
        ("aws_ssm_document", {"name": "d", "document_type": "Automation", "content": DOCUMENT}, "iam:CreateUser", ""),
        ("aws_apigatewayv2_integration", {"integration_type": "AWS_PROXY", "integration_uri": FUNCTION}, "lambda:Invoke", ""),
    ],
)  # fmt: skip
def test_the_inner_calls_of_what_a_plan_makes_are_found(
    stacks: Stacks, resource_type: str, values: dict[str, Any], call: str, role: str
) -> None:
    assert [(name, by) for name, by, _ in found(stacks, resource_type, values)] == [(call, role)]
    gone = [name for name, _, _ in found(stacks, resource_type, {}, PlannedAction.DELETE)]
    assert gone == (["cloudformation:DeleteStack"] if resource_type == "aws_cloudformation_stack" else [])


def test_what_cannot_be_read_is_left_out_but_for_what_nobody_may_call(stacks: Stacks) -> None:
    target = [{"arn": UNIVERSAL, "role_arn": ROLE, "input": '{"UserName": "<aws.scheduler.execution-id>", "Odd": 1}'}]
    calls = [
        (name, call_class)
        for name, _, call_class in found(stacks, "aws_scheduler_schedule", {"name": "n", "target": target})
    ]
    assert calls == [("iam:CreateUser", CallClass.MUTATION)], "its role is judged"
    forbidden = [{"arn": "arn:aws:scheduler:::aws-sdk:sts:assumeRole", "role_arn": ROLE, "input": "{}"}]
    ((name, _, call_class),) = found(stacks, "aws_scheduler_schedule", {"name": "n", "target": forbidden})
    assert (name, call_class) == ("sts:AssumeRole", CallClass.CREDENTIAL)


def test_a_plan_without_such_resources_has_none(stacks: Stacks) -> None:
    assert found(stacks, "aws_sqs_queue", {"name": "q"}) == []


def test_every_type_whose_calls_are_held_is_in_the_table() -> None:
    """Derived rows say which type an operation makes; the table is what plans are judged by."""
    known = {*HELD_TYPES, *HELD_BODIES, *MAKERS}
    for service, operation in HELD:
        rows = derived_rows(service, operation)
        types = {
            row.resource_type for row in rows if row.origin is Origin.TRACED and row.resource_type.startswith("aws_")
        }
        assert not types - known, (service, operation)
    named = [*HELD_TYPES.values(), *(each for _, each in HELD_BODIES.values()), *HELD_DELETIONS.values()]
    assert {*named} <= {*HELD, *CARRIERS}
    assert not read_schemas({*HELD_TYPES, *HELD_BODIES, *HELD_DELETIONS}).keys() & MAKERS.keys()


@pytest.mark.parametrize(
    ("resource_type", "values", "call"),
    [
        ("aws_pipes_pipe", {"name": "p"}, "pipes:CreatePipe"),
        ("aws_cloudformation_stack_set", {"name": "s"}, "cloudformation:CreateStackSet"),
        ("aws_cloudcontrolapi_resource", {"type_name": "AWS::IAM::User", "desired_state": "{}"}, "cloudcontrol:CreateResource"),
        ("aws_cloudformation_stack", {"name": "s", "template_url": "https://b.s3.amazonaws.com/t"}, "cloudformation:CreateStack"),
        ("aws_api_gateway_rest_api", {"name": "a", "body": "{}"}, "apigateway:PutRestApi"),
    ],
)  # fmt: skip
def test_what_cannot_be_unpacked_is_told(
    stacks: Stacks, resource_type: str, values: dict[str, Json], call: str
) -> None:
    for action in (PlannedAction.CREATE, PlannedAction.UPDATE):
        assert (call, UNREAD, CallClass.MUTATION) in found(stacks, resource_type, values, action)
    assert found(stacks, resource_type, {"tags.team": "shop"}, PlannedAction.UPDATE) == []


def test_a_definition_that_the_plan_does_not_tell_is_not_the_recorded_one(stacks: Stacks) -> None:
    values: dict[str, Json] = {"name": "m", "role_arn": ROLE}
    unread = [("stepfunctions:CreateStateMachine", UNREAD, CallClass.MUTATION)]
    assert found(stacks, "aws_sfn_state_machine", values, secrets=("definition",)) == unread
    assert found(stacks, "aws_sfn_state_machine", values, unknown=("definition",)) == unread
    assert found(stacks, "aws_sfn_state_machine", values, unknown=("description",)) == []


@pytest.mark.parametrize("resource_type", sorted(HELD_DELETIONS))
def test_what_goes_with_a_resource_is_told(stacks: Stacks, resource_type: str) -> None:
    ((name, role, _),) = found(stacks, resource_type, {}, PlannedAction.DELETE)
    assert (name, role) == (":".join(HELD_DELETIONS[resource_type]), UNREAD)


def test_calls_are_limited(stacks: Stacks) -> None:
    pipe = PlannedChange(address="aws_pipes_pipe.p", resource_type="aws_pipes_pipe", action=PlannedAction.CREATE)
    with pytest.raises(CallTooLarge, match="more than 1000 calls"):
        carried_calls(Plan(changes=(pipe,) * 1_001), stacks.all[0], EffectResolver(stacks), "", "")
