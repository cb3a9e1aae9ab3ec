"""Names that the provider generates are found where the call creates what they name, and nowhere else."""

from pathlib import Path
from typing import Any

import pytest

from gateway.core.model.mutation import Call
from gateway.effects.generated_names import generated_names
from gateway.effects.resolver import EffectResolver
from tests.kit.stacks import Source, load

GENERATED = "20261123080912345600000001"
CODE = """
provider "aws" { region = "eu-west-1" }
resource "aws_cloudwatch_event_rule" "tick" {
  name                = "tick"
  schedule_expression = "rate(5 minutes)"
}
resource "aws_cloudwatch_event_target" "resize" {
  rule = aws_cloudwatch_event_rule.tick.name
  arn  = "arn:aws:lambda:eu-west-1:123456789012:function:resize"
}
resource "aws_lambda_permission" "events" {
  action        = "lambda:InvokeFunction"
  function_name = "resize"
  principal     = "events.amazonaws.com"
}
resource "aws_iam_role" "jobs" {
  name_prefix        = "jobs-"
  assume_role_policy = "{}"
}
"""
FUNCTION = "arn:aws:lambda:eu-west-1:123456789012:function:resize"
PERMISSION = {"FunctionName": "resize", "Action": "lambda:InvokeFunction", "Principal": "events.amazonaws.com"}


@pytest.mark.parametrize(
    ("service", "operation", "parameters", "expected"),
    [
        (
            "events",
            "PutTargets",
            {"Rule": "tick", "Targets": [{"Id": f"terraform-{GENERATED}", "Arn": FUNCTION}]},
            {f"terraform-{GENERATED}": "aws_cloudwatch_event_target.resize"},
        ),
        (
            "lambda",
            "AddPermission",
            {**PERMISSION, "StatementId": f"terraform-{GENERATED}"},
            {f"terraform-{GENERATED}": "aws_lambda_permission.events"},
        ),
        (
            "iam",
            "CreateRole",
            {"RoleName": f"jobs-{GENERATED}", "AssumeRolePolicyDocument": "{}"},
            {f"jobs-{GENERATED}": "aws_iam_role.jobs"},
        ),
        (
            "iam",
            "CreateRole",
            {"RoleName": f"others-{GENERATED}", "AssumeRolePolicyDocument": "{}"},
            {f"others-{GENERATED}": "aws_iam_role others-"},
        ),
        ("iam", "DeleteRole", {"RoleName": f"jobs-{GENERATED}"}, {}),
        ("lambda", "AddPermission", {**PERMISSION, "StatementId": "mine"}, {}),
    ],
)
def test_they_are_those_of_what_is_created(
    tmp_path: Path, service: str, operation: str, parameters: dict[str, Any], expected: dict[str, str]
) -> None:
    (tmp_path / "main.tf").write_text(CODE)
    resolver = EffectResolver(load(Source(path=tmp_path)))
    call = Call(service=service, operation=operation, parameters=parameters, account="123456789012", region="eu-west-1")

    assert generated_names(resolver.effects(call)) == expected
