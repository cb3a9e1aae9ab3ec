"""What a plan makes AWS do later is found in the plan: inner calls of schedules, machines, stacks, documents and integrations."""

import json
from pathlib import Path
from typing import Any

import pytest

from gateway.aws.models.call_classes import class_of_call, shipped
from gateway.core.model.json import Json
from gateway.core.model.mutation import CallClass
from gateway.core.model.plan import Plan, PlannedAction, PlannedChange
from gateway.core.model.verdict import Mode
from gateway.core.settings import StackSettings
from gateway.effects.resolver import EffectResolver
from gateway.plans.carried_calls import carried_calls
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
    stacks: Stacks, resource_type: str, values: dict[str, Json], action: PlannedAction = PlannedAction.CREATE
) -> list[tuple[str, str, CallClass]]:
    resolver = EffectResolver(
        stacks, class_of=lambda call: class_of_call(call, shipped().of(call.service, call.operation))
    )
    change = PlannedChange(address=f"{resource_type}.new", resource_type=resource_type, action=action, values=values)
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
    assert found(stacks, resource_type, {}, PlannedAction.DELETE) == []


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
