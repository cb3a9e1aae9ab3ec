"""Changes whose calls nobody understands are named before an apply."""

import pytest

from gateway.core.model.json import Json
from gateway.core.model.plan import Plan, PlannedAction, PlannedChange
from gateway.effects.type_rows import directions_of_types, set_after_creation
from gateway.plans.unknown_calls import unknown_calls

CREATE, UPDATE, DELETE, REPLACE = PlannedAction


@pytest.mark.parametrize(
    ("resource_type", "action", "expected"),
    [
        ("aws_sqs_queue", CREATE, []),
        ("aws_sqs_queue", REPLACE, []),
        ("aws_vpc_security_group_ingress_rule", CREATE, []),
        ("aws_s3_bucket_acl", DELETE, []),
        ("aws_network_acl_association", CREATE, [False]),
        ("aws_network_acl_association", UPDATE, [False]),
        ("aws_network_acl_association", DELETE, [False]),
        ("aws_athena_database", CREATE, [True]),
        ("aws_acm_certificate_validation", CREATE, []),
        ("aws_default_vpc", CREATE, []),
        ("random_pet", CREATE, []),
        ("aws_of_tomorrow", CREATE, [False]),
    ],
)
def test_a_type_is_known_by_its_rows(resource_type: str, action: PlannedAction, expected: list[bool]) -> None:
    change = PlannedChange(address=f"{resource_type}.a", resource_type=resource_type, action=action)
    found = unknown_calls(Plan(changes=(change,)), directions_of_types(), set_after_creation())
    assert [each.with_plan for each in found] == expected
    assert all(each.address == change.address for each in found)


@pytest.mark.parametrize(
    ("resource_type", "action", "values", "expected"),
    [
        ("aws_db_parameter_group", CREATE, {"name": "a", "parameter": [{"name": "b", "value": "c"}]}, [True]),
        ("aws_db_parameter_group", REPLACE, {"parameter": [{"name": "b", "value": "c"}]}, [True]),
        ("aws_db_parameter_group", CREATE, {"name": "a", "parameter": []}, []),
        ("aws_db_parameter_group", UPDATE, {"parameter": [{"name": "b", "value": "c"}]}, []),
        ("aws_db_parameter_group", CREATE, {"name": "a", "tags.team": "x"}, []),
        ("aws_devicefarm_project", CREATE, {"name": "a", "tags.team": "x"}, [True]),
        ("aws_iam_access_key", CREATE, {"status": "Active"}, []),
    ],
)
def test_what_only_a_call_after_the_creation_sets_needs_the_plan(
    resource_type: str, action: PlannedAction, values: dict[str, Json], expected: list[bool]
) -> None:
    """Terraform sets a new group's parameters by a second call, on a resource that no state has yet; without the plan it is held."""
    change = PlannedChange(address=f"{resource_type}.a", resource_type=resource_type, action=action, values=values)
    found = unknown_calls(Plan(changes=(change,)), directions_of_types(), set_after_creation())
    assert [each.with_plan for each in found] == expected
