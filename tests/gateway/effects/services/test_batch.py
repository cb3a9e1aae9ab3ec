"""Revisions of job definitions."""

from collections.abc import Callable
from typing import Any

from gateway.core.model.masking import is_masked

RESOURCES = {
    "aws_batch_job_definition.j": {"name": "j", "type": "container", "timeout": [{"attempt_duration_seconds": 60}]}
}
GIVEN = {
    "jobDefinitionName": "j",
    "type": "container",
    "containerProperties": {"image": "busybox", "command": ["date"]},
    "retryStrategy": {"attempts": 3, "evaluateOnExit": [{"onReason": "*", "action": "EXIT"}]},
}


def test_a_revision_has_the_documents_of_the_call_masked_as_a_whole(effects_of: Callable[..., Any]) -> None:
    effects = effects_of("batch", "RegisterJobDefinition", GIVEN, RESOURCES)
    assert {each.address for each in effects} == {"aws_batch_job_definition.j"}
    found = {each.attribute: each.value for each in effects}
    assert is_masked(found["container_properties"])
    assert (found["retry_strategy.attempts"], found["timeout"]) == (3, [])


def test_a_role_in_a_masked_document_is_not_understood(effects_of: Callable[..., Any]) -> None:
    role = {"image": "busybox", "jobRoleArn": "arn:aws:iam::123456789012:role/admin"}
    given = {**GIVEN, "containerProperties": role}
    assert effects_of("batch", "RegisterJobDefinition", given, RESOURCES) == ()
    nodes = {"numNodes": 1, "mainNode": 0, "nodeRangeProperties": [{"targetNodes": "0:", "container": role}]}
    assert effects_of("batch", "RegisterJobDefinition", {**GIVEN, "nodeProperties": nodes}, RESOURCES) == ()


def test_what_the_row_does_not_know_is_not_understood(effects_of: Callable[..., Any]) -> None:
    given = {**GIVEN, "consumableResourceProperties": {"consumableResourceList": []}}
    assert effects_of("batch", "RegisterJobDefinition", given, RESOURCES) == ()


def test_a_pod_shows_the_account_that_hands_it_a_role(effects_of: Callable[..., Any]) -> None:
    """By its own attribute, which is of the class `hands_role`, although its value is masked."""
    pod = {"serviceAccountName": "admin", "containers": [{"image": "busybox"}]}
    given = {"jobDefinitionName": "j", "type": "container", "eksProperties": {"podProperties": pod}}
    found = {each.attribute for each in effects_of("batch", "RegisterJobDefinition", given, RESOURCES)}
    assert "eks_properties.pod_properties.service_account_name" in found
