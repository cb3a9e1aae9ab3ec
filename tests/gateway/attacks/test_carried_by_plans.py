"""What a plan makes AWS do by another service, and nobody can unpack, is held like the call that makes it."""

import json
from typing import Any

import pytest

from tests.kit.applying import ask, planned
from tests.kit.gate import Gate

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]

ROLE = "arn:aws:iam::123456789012:role/r"
MACHINE = {
    "StartAt": "A",
    "States": {"A": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:iam:createUser", "End": True}},
}
SOLD: dict[str, dict[str, Any]] = {
    "aws_pipes_pipe": {"name": "fresh", "source": "arn:aws:sqs:us-east-1:123456789012:q"},
    "aws_cloudformation_stack_set": {"name": "fresh"},
    "aws_cloudcontrolapi_resource": {"type_name": "AWS::IAM::User", "desired_state": '{"UserName": "eve"}'},
    "aws_cloudformation_stack": {"name": "fresh", "template_url": "https://strange.s3.amazonaws.com/t.json"},
    "aws_ssm_association": {"name": "AWS-RunShellScript"},
    "aws_servicecatalog_provisioned_product": {"name": "fresh", "product_name": "p"},
    "aws_serverlessapplicationrepository_cloudformation_stack": {"name": "fresh", "application_id": "a"},
    "aws_sagemaker_pipeline": {"pipeline_name": "fresh", "pipeline_definition": "{}"},
}


@pytest.mark.parametrize("actor", ["pipeline", "human"])
@pytest.mark.parametrize("resource_type", SOLD)
def test_what_cannot_be_unpacked_is_held_unless_its_code_was_reviewed(
    gate: Gate, resource_type: str, actor: str
) -> None:
    status, report = ask(gate, actor, planned(f"{resource_type}.fresh", "create", values=SOLD[resource_type]))
    assert (status, report["session"]) == (200, None), report
    assert "SEN-P001" in {finding["rule"] for finding in report["decision"]["findings"]}


@pytest.mark.parametrize("member", ["secrets", "unknown"])
def test_a_definition_is_not_hidden_from_the_judge(gate: Gate, member: str) -> None:
    """By calling it a secret a client would else have the recorded definition judged, and apply another."""
    machine = planned(
        "aws_sfn_state_machine.fresh", "create", values={"name": "fresh"}, **{member: ["definition", "role_arn"]}
    )
    _, report = ask(gate, "human", machine)
    assert (report["session"], "SEN-P001" in json.dumps(report["decision"])) == (None, True)


def test_the_calls_of_a_definition_are_judged_one_by_one(gate: Gate) -> None:
    values = {"name": "fresh", "role_arn": ROLE, "definition": json.dumps(MACHINE)}
    _, report = ask(gate, "human", planned("aws_sfn_state_machine.fresh", "create", values=values))
    assert report["session"] is None


def test_a_plan_of_many_such_calls_is_refused_with_a_sentence(gate: Gate) -> None:
    task = MACHINE["States"]["A"]  # type: ignore[index]  # it has states
    states = {f"S{number}": {**task, "Next": f"S{number + 1}"} for number in range(190)}
    definition = json.dumps({"StartAt": "S0", "States": states})
    machines = [
        planned(
            f"aws_sfn_state_machine.m{number}",
            "create",
            values={"name": f"m{number}", "role_arn": ROLE, "definition": definition},
        )
        for number in range(6)
    ]
    status, report = ask(gate, "human", *machines)
    assert (status, "more than" in json.dumps(report)) == (400, True), report
