"""A plan as it leaves its client."""

from dataclasses import replace

from gateway.core.model.plan import Plan, PlannedAction, PlannedChange, change_to_json

CHANGE = PlannedChange(
    address="aws_sqs_queue.a",
    resource_type="aws_sqs_queue",
    action=PlannedAction.UPDATE,
    values={"delay_seconds": 5},
    secrets=("policy",),
    unknown=("name",),
)


def test_its_json_form_names_secrets_without_values() -> None:
    assert change_to_json(CHANGE) == {
        "address": "aws_sqs_queue.a",
        "type": "aws_sqs_queue",
        "action": "update",
        "previous": "",
        "values": {"delay_seconds": 5},
        "secrets": ["policy"],
        "unknown": ["name"],
        "computed": [],
        "marks": {},
        "region": "",
        "tags": {},
    }


def test_each_attribute_counts_and_so_does_the_resource() -> None:
    assert CHANGE.size == 4


def test_equal_changes_have_one_digest() -> None:
    one, same = Plan(changes=(CHANGE,)), Plan(changes=(CHANGE,), terraform_version="1.9")
    assert one.digest == same.digest != Plan(changes=()).digest


def test_another_secret_makes_another_plan() -> None:
    digests = {Plan(changes=(replace(CHANGE, marks=marks),)).digest for marks in ({}, {"policy": "a"}, {"policy": "b"})}
    assert len(digests) == 3
