"""Functions and the resources that belong to them, in every form of name."""

from collections.abc import Callable
from typing import Any

import pytest

ARN = "arn:aws:lambda:eu-west-1:123456789012:function:f"
RESOURCES = {
    "aws_lambda_function.f": {"function_name": "f", "arn": ARN},
    "aws_lambda_permission.p": {"statement_id": "s", "function_name": ARN},
    "aws_lambda_permission.q": {"statement_id": "s", "function_name": "g"},
}


@pytest.mark.parametrize("name", ["f", ARN, "123456789012:function:f", "function:f"])
def test_every_way_to_name_a_function(effects_of: Callable[..., Any], name: str) -> None:
    (effect,) = effects_of(
        "lambda", "PutFunctionConcurrency", {"FunctionName": name, "ReservedConcurrentExecutions": 0}, RESOURCES
    )
    assert (effect.address, effect.value) == ("aws_lambda_function.f", 0)


@pytest.mark.parametrize("name", ["f:live", "999999999999:function:f", ARN.replace("eu-west-1", "us-east-1"), "a b"])
def test_a_qualified_or_foreign_name_is_not_the_function(effects_of: Callable[..., Any], name: str) -> None:
    assert effects_of("lambda", "UpdateFunctionConfiguration", {"FunctionName": name, "Timeout": 3}, RESOURCES) == ()


def test_a_permission_is_found_whether_its_state_has_a_name_or_an_arn(effects_of: Callable[..., Any]) -> None:
    (effect,) = effects_of("lambda", "RemovePermission", {"FunctionName": "f", "StatementId": "s"}, RESOURCES)
    assert effect.address == "aws_lambda_permission.p"


def test_code_is_a_hash(effects_of: Callable[..., Any]) -> None:
    (effect,) = effects_of("lambda", "UpdateFunctionCode", {"FunctionName": "f", "ZipFile": {"$bytes": 3}}, RESOURCES)
    assert effect.attribute == "source_code_hash"
    assert len(effect.value) == 44


def test_emptying_the_environment_is_an_effect(effects_of: Callable[..., Any]) -> None:
    (effect,) = effects_of("lambda", "UpdateFunctionConfiguration", {"FunctionName": "f", "Environment": {}}, RESOURCES)
    assert (effect.attribute, effect.value) == ("environment", [])


def test_the_permission_that_opens_a_url_is_its_authorization_type(effects_of: Callable[..., Any]) -> None:
    call = {
        "FunctionName": "f", "StatementId": "FunctionURLAllowPublicAccess", "Action": "lambda:InvokeFunctionUrl", "Principal": "*",
        "FunctionUrlAuthType": "NONE",
    }  # fmt: skip
    declared = {"aws_lambda_function_url.u": {"function_name": "f", "authorization_type": "AWS_IAM"}}
    opened, *permission = effects_of("lambda", "AddPermission", call, declared)
    assert (opened.address, opened.attribute, opened.value) == (
        "aws_lambda_function_url.u",
        "authorization_type",
        "NONE",
    )
    assert {effect.resource_type for effect in permission} == {"aws_lambda_permission"}
    assert all(effect.implied for effect in permission)
    alone = effects_of("lambda", "AddPermission", {**call, "StatementId": "other"}, declared)
    assert {effect.resource_type for effect in alone} == {"aws_lambda_permission"}
    assert not any(effect.implied for effect in alone)
