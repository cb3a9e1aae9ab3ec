"""Cloud Control is judged as the call that makes, changes or deletes the resource."""

import json
from typing import Any

import pytest

from gateway.core.model.mutation import CallClass
from tests.gateway.effects.conftest import ACCOUNT, REGION
from tests.gateway.effects.proxies.conftest import Understand, inner_effects

URL = f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT}/orders"


def test_it_creates_changes_and_deletes_a_resource(understand: Understand) -> None:
    state = json.dumps({"QueueName": "orders", "VisibilityTimeout": 30})
    found = understand("cloudcontrol", "CreateResource", {"TypeName": "AWS::SQS::Queue", "DesiredState": state})
    assert [each[:4] for each in inner_effects(found)] == [
        ("aws_sqs_queue.orders", "*", "create", None),
        ("aws_sqs_queue.orders", "name", "create", "orders"),
        ("aws_sqs_queue.orders", "visibility_timeout_seconds", "create", 30),
    ]
    assert not any(each.implied for each in found.effects)
    patch = json.dumps([{"op": "replace", "path": "/VisibilityTimeout", "value": 60}])
    found = understand(
        "cloudcontrol", "UpdateResource", {"TypeName": "AWS::SQS::Queue", "Identifier": URL, "PatchDocument": patch}
    )
    assert inner_effects(found) == [
        ("aws_sqs_queue.orders", "visibility_timeout_seconds", "set", 60, "sqs:SetQueueAttributes")
    ]
    found = understand("cloudcontrol", "DeleteResource", {"TypeName": "AWS::SQS::Queue", "Identifier": URL})
    assert inner_effects(found) == [("aws_sqs_queue.orders", "*", "delete", None, "sqs:DeleteQueue")]


@pytest.mark.parametrize(
    ("operation", "parameters", "reason"),
    [
        ("CreateResource", {"TypeName": "AWS::Lambda::Url", "DesiredState": "{}"}, "AWS::Lambda::Url is not unpacked"),
        ("CreateResource", {"TypeName": "AWS::SQS::Queue", "DesiredState": "[]"}, "is not a JSON object"),
        ("CreateResource", {"TypeName": "AWS::SQS::Queue", "DesiredState": "{}", "TypeVersionId": "v"}, "parameter TypeVersionId"),
        ("UpdateResource", {"TypeName": "AWS::SQS::Queue", "Identifier": URL, "PatchDocument": "{}"}, "is not a JSON array"),
        ("UpdateResource", {"TypeName": "AWS::DynamoDB::Table", "Identifier": "t", "PatchDocument": "[]"}, "whose changes are not unpacked"),
        ("DeleteResource", {"TypeName": "AWS::Lambda::Url", "Identifier": "x"}, "AWS::Lambda::Url is not unpacked"),
        ("DeleteResource", {"TypeName": "AWS::SQS::Queue"}, "Identifier is missing"),
    ],
)  # fmt: skip
def test_what_cannot_be_unpacked_is_held_with_the_reason(
    understand: Understand, operation: str, parameters: dict[str, Any], reason: str
) -> None:
    found = understand("cloudcontrol", operation, parameters)
    assert found.effects == ()
    assert reason in found.not_understood


@pytest.mark.parametrize(
    "step",
    [
        {"op": "remove", "path": "/VisibilityTimeout"},
        {"op": "replace", "path": "/Tags/0", "value": {}},
        {"op": "replace", "path": "/Visibility~1Timeout", "value": 1},
        {"op": "replace", "path": "/QueueName", "value": "other"},
        {"op": "replace", "path": "/Tags", "value": []},
        {"op": "copy", "from": "/A", "path": "/B"},
        "replace",
    ],
)
def test_a_patch_that_is_more_than_values_of_properties_is_held(understand: Understand, step: Any) -> None:
    patch = json.dumps([step])
    found = understand(
        "cloudcontrol", "UpdateResource", {"TypeName": "AWS::SQS::Queue", "Identifier": URL, "PatchDocument": patch}
    )
    assert found.effects == ()


def test_an_unknown_type_is_known_by_the_call_that_its_name_suggests(understand: Understand) -> None:
    state = json.dumps({"UserName": "eve"})
    found = understand("cloudcontrol", "CreateResource", {"TypeName": "AWS::IAM::AccessKey", "DesiredState": state})
    assert [(each.name, each.call_class) for each in found.inner] == [("iam:CreateAccessKey", CallClass.CREDENTIAL)]
    found = understand("cloudcontrol", "CreateResource", {"TypeName": "AWS::IAM::User", "DesiredState": state})
    assert [each.name for each in found.inner] == ["iam:CreateUser"]
    assert found.effects == (), (
        "the properties of a type that nobody compared with the operation are not its parameters"
    )
