"""What changes between before and after, leaf by leaf, without secrets."""

import json
from typing import Any

import pytest

from gateway.effects.plan_values import PlannedDifference
from gateway.effects.schema import known_schemas

TYPES = ("aws_sqs_queue", "aws_lambda_function", "aws_dynamodb_table", "aws_db_instance", "aws_security_group", "aws_ecs_task_definition")  # fmt: skip
SCHEMAS = known_schemas(TYPES)


def differ(kind: str, before: Any, after: Any, **marks: Any) -> tuple[Any, list[str], list[str]]:
    """Values, secrets and unknown attributes."""
    found = PlannedDifference(
        resource_type=kind, schema=SCHEMAS.get(kind), before=before, after=after, **marks
    ).differences()
    return found.values, found.secrets, found.unknown


@pytest.mark.parametrize(
    ("kind", "before", "after", "values"),
    [
        ("aws_sqs_queue", {"delay_seconds": 1, "name": "a"}, {"delay_seconds": 2, "name": "a"}, {"delay_seconds": 2}),
        ("aws_sqs_queue", {"tags": {"a": "1", "b": "2"}}, {"tags": {"a": "1", "c": "3"}}, {"tags.b": None, "tags.c": "3"}),
        ("aws_sqs_queue", {"tags": None}, {"tags": {"a": "1"}}, {"tags.a": "1"}),
        ("aws_sqs_queue", {"id": "x", "arn": "y", "tags_all": {}}, {"id": "z", "arn": "w", "tags_all": {"a": "1"}}, {}),
        ("aws_sqs_queue", {"url": "x"}, {"url": "computed, so never set"}, {}),
        ("aws_dynamodb_table", {"point_in_time_recovery": [{"enabled": True}]}, {"point_in_time_recovery": [{"enabled": False}]}, {"point_in_time_recovery.enabled": False}),
        ("aws_dynamodb_table", {"point_in_time_recovery": [{"enabled": True}]}, {"point_in_time_recovery": []}, {"point_in_time_recovery.enabled": None}),
        ("aws_dynamodb_table", {"attribute": [{"name": "a"}]}, {"attribute": [{"name": "b"}]}, {"attribute": [{"name": "b"}]}),
        ("aws_security_group", {"ingress": [{"from_port": 1}]}, {"ingress": [{"from_port": 2}]}, {"ingress": [{"from_port": 2}]}),
        ("aws_security_group", {"ingress": [{"from_port": 1}]}, {"ingress": []}, {"ingress": []}),
        ("random_id", {"byte_length": 2, "block": [{"a": 1}]}, {"byte_length": 4, "block": [{"a": 2}]}, {"byte_length": 4, "block": [{"a": 2}]}),
    ],
)  # fmt: skip
def test_the_leaves_that_a_call_would_set_differ(kind: str, before: Any, after: Any, values: Any) -> None:
    assert differ(kind, before, after) == (values, [], [])


def test_what_is_created_is_set_where_it_has_a_value() -> None:
    after = {"name": "a", "delay_seconds": 0, "policy": None, "tags": {}, "kms_master_key_id": ""}
    assert differ("aws_sqs_queue", None, after) == ({"name": "a", "delay_seconds": 0}, [], [])


@pytest.mark.parametrize(
    ("kind", "attribute", "value", "marks"),
    [
        ("aws_db_instance", "password", "hunter2-plain", {}),
        ("aws_db_instance", "identifier", "named-by-a-secret", {"after_sensitive": {"identifier": True}}),
        ("aws_db_instance", "identifier", "was-a-secret", {"before_sensitive": {"identifier": True}}),
        ("aws_db_instance", "identifier", "all-are-secret", {"after_sensitive": True}),
        ("aws_lambda_function", "environment", [{"variables": {"A": "value"}}], {}),
        ("aws_sqs_queue", "redrive_policy", '{"password": "hunter2-plain"}', {}),
        ("aws_security_group", "ingress", [{"description": "x"}], {"after_sensitive": {"ingress": [{"description": True}]}}),
    ],
)  # fmt: skip
def test_a_secret_is_named_and_not_told(kind: str, attribute: str, value: Any, marks: Any) -> None:
    values, secrets, unknown = differ(kind, {}, {attribute: value}, **marks)
    assert (values, len(secrets), unknown) == ({}, 1, [])


def test_a_part_of_a_block_that_is_no_secret_is_told_beside_one_that_is() -> None:
    values, secrets, _ = differ(
        "aws_dynamodb_table",
        {"ttl": [{"attribute_name": "a", "enabled": False}]},
        {"ttl": [{"attribute_name": "b", "enabled": True}]},
        after_sensitive={"ttl": [{"attribute_name": True}]},
    )
    assert (values, secrets) == ({"ttl.enabled": True}, ["ttl.attribute_name"])


def test_container_definitions_are_told_with_their_environment_masked() -> None:
    definitions = json.dumps(
        [{"name": "a", "image": "i", "environment": [{"name": "TOKEN", "value": "hunter2-plain"}]}]
    )
    values, secrets, _ = differ("aws_ecs_task_definition", {}, {"container_definitions": definitions})
    assert not secrets
    assert "hunter2" not in values["container_definitions"]
    assert '"image":"i"' in values["container_definitions"]


def test_what_only_aws_chooses_is_unknown_only_if_the_code_asks_for_it() -> None:
    marks: dict[str, Any] = {
        "after_unknown": {"role": True, "image_uri": True, "arn": True},
        "written": frozenset({"role"}),
    }
    assert differ("aws_lambda_function", {"role": "a"}, {}, **marks) == ({}, [], ["role"])
    marks["written"] = None
    assert sorted(differ("aws_lambda_function", {"role": "a"}, {}, **marks)[2]) == ["image_uri", "role"]


def test_a_part_of_a_block_is_unknown_alone() -> None:
    found = differ(
        "aws_dynamodb_table",
        {"ttl": [{"attribute_name": "a", "enabled": False}]},
        {"ttl": [{"enabled": True}]},
        after_unknown={"ttl": [{"attribute_name": True}]},
    )
    assert found == ({"ttl.enabled": True}, [], ["ttl.attribute_name"])
