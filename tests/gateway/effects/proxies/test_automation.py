"""Documents of Systems Manager are judged as the calls of their steps: when they are written, and when they are started."""

import json
from typing import Any

import pytest

from tests.gateway.effects.proxies.conftest import RESOURCES, ROLE, Understand, inner_effects

SCALE = {"Service": "ecs", "Api": "UpdateService", "cluster": "main", "service": "web", "desiredCount": 0}
STOPPED = ("aws_ecs_service.web", "desired_count", "set", 0, "ecs:UpdateService")


def automation(*steps: dict[str, Any], **members: Any) -> str:
    return json.dumps({"schemaVersion": "0.3", "mainSteps": [{"name": "s", **step} for step in steps], **members})


def api(**inputs: Any) -> dict[str, Any]:
    return {"action": "aws:executeAwsApi", "inputs": inputs}


def written(content: str) -> dict[str, Any]:
    return {"Name": "doc", "DocumentType": "Automation", "Content": content}


def recorded(content: str, **members: Any) -> dict[str, Any]:
    usual = {
        "name": "doc",
        "document_type": "Automation",
        "content": content,
        "default_version": "1",
        "latest_version": "1",
    }
    return {**RESOURCES, "aws_ssm_document.doc": {**usual, **members}}


def test_a_document_has_the_effects_of_its_steps_when_it_is_written(understand: Understand) -> None:
    found = understand("ssm", "CreateDocument", written(automation(api(**SCALE), {"action": "aws:sleep"})))
    assert inner_effects(found) == [STOPPED]
    assert found.effects[0].address == "aws_ssm_document{name=doc}"


def test_an_automation_has_them_again_when_it_is_started(understand: Understand) -> None:
    content = automation(
        api(**{**SCALE, "service": "{{ Name }}"}), parameters={"Name": {"type": "String"}}, assumeRole=ROLE
    )
    call = {"DocumentName": "doc", "Parameters": {"Name": ["web"]}}
    found = understand("ssm", "StartAutomationExecution", call, recorded(content))
    assert inner_effects(found) == [STOPPED]
    assert all(each.role for each in found.inner)


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (api(**{**SCALE, "service": "{{ other.Output }}"}), "is known only when AWS makes the call"),
        (api(**{**SCALE, "service": "a-{{ Name }}"}), "is known only when AWS makes the call"),
        (api(**{**SCALE, "Api": "{{ Which }}"}), "does not say which call it makes"),
        (api(Service="sts", Api="AssumeRole"), "hands out credentials"),
        ({"action": "aws:runCommand", "inputs": {}}, "aws:runCommand, which is not unpacked"),
        ({"action": "aws:executeScript", "inputs": {}}, "aws:executeScript, which is not unpacked"),
        ({"action": "aws:loop", "inputs": {"Steps": [{"name": "x", "action": "aws:executeScript"}]}}, "not unpacked"),
        (
            {"action": "aws:changeInstanceState", "inputs": {"InstanceIds": ["i-1"], "DesiredState": "odd"}},
            "not unpacked",
        ),
        ({"action": "aws:sleep", "inputs": 3}, "in an unknown form"),
    ],
)
def test_what_cannot_be_unpacked_is_held_with_the_reason(
    understand: Understand, step: dict[str, Any], reason: str
) -> None:
    found = understand("ssm", "CreateDocument", written(automation(step, parameters={"Name": {"type": "String"}})))
    assert found.effects == ()
    assert reason in found.not_understood


def test_the_state_of_instances_is_the_call_that_changes_it(understand: Understand) -> None:
    step = {"action": "aws:changeInstanceState", "inputs": {"InstanceIds": ["i-1"], "DesiredState": "terminated"}}
    found = understand("ssm", "CreateDocument", written(automation(step)))
    assert [each.name for each in found.inner] == ["ec2:TerminateInstances"]


@pytest.mark.parametrize(
    ("call", "state", "reason"),
    [
        (
            {"DocumentName": "AWS-StopEC2Instance"},
            {},
            "the content of the document AWS-StopEC2Instance is not recorded",
        ),
        ({"DocumentName": "arn:aws:ssm:eu-west-1:999999999999:document/doc"}, {}, "a document of another account"),
        ({"DocumentName": "doc", "DocumentVersion": "7"}, {}, "another version"),
        ({"DocumentName": "doc"}, {"latest_version": "2"}, "another version"),
        ({"DocumentName": "doc", "Targets": [{"Key": "a", "Values": ["b"]}]}, {}, "Targets decides on which resources"),
    ],
)
def test_an_automation_whose_document_is_not_known_is_held(
    understand: Understand, call: dict[str, Any], state: dict[str, Any], reason: str
) -> None:
    found = understand("ssm", "StartAutomationExecution", call, recorded(automation(api(**SCALE)), **state))
    assert found.effects == ()
    assert reason in found.not_understood


def test_a_command_is_held(understand: Understand) -> None:
    call = {"InstanceIds": ["i-1", "i-2"], "DocumentName": "AWS-RunShellScript", "Parameters": {"commands": ["id"]}}
    assert "runs a program on instances" in understand("ssm", "SendCommand", call).not_understood


@pytest.mark.parametrize(
    "operation", ["CreateAssociation", "UpdateDocumentDefaultVersion", "RegisterTaskWithMaintenanceWindow"]
)
def test_calls_whose_document_is_elsewhere_are_held(understand: Understand, operation: str) -> None:
    assert "the call does not have it" in understand("ssm", operation, {}).not_understood
