"""Functions and what belongs to them, however they are named."""

from collections.abc import Callable
from typing import Any

import pytest

ARN = "arn:aws:lambda:eu-west-1:123456789012:function:f"
THINGS = {
    "aws_lambda_function.f": {"function_name": "f", "arn": ARN},
    "aws_lambda_permission.p": {"statement_id": "s", "function_name": ARN},
    "aws_lambda_permission.q": {"statement_id": "s", "function_name": "g"},
}


@pytest.mark.parametrize("name", ["f", ARN, "123456789012:function:f", "function:f"])
def test_every_way_to_name_a_function(ask: Callable[..., Any], name: str) -> None:
    (effect,) = ask(
        "lambda", "PutFunctionConcurrency", {"FunctionName": name, "ReservedConcurrentExecutions": 0}, THINGS
    )
    assert (effect.address, effect.value) == ("aws_lambda_function.f", 0)


@pytest.mark.parametrize("name", ["f:live", "999999999999:function:f", ARN.replace("eu-west-1", "us-east-1"), "a b"])
def test_a_version_or_a_stranger_is_not_the_function(ask: Callable[..., Any], name: str) -> None:
    assert ask("lambda", "UpdateFunctionConfiguration", {"FunctionName": name, "Timeout": 3}, THINGS) == ()


def test_a_permission_is_found_whether_its_state_has_a_name_or_an_arn(ask: Callable[..., Any]) -> None:
    (effect,) = ask("lambda", "RemovePermission", {"FunctionName": "f", "StatementId": "s"}, THINGS)
    assert effect.address == "aws_lambda_permission.p"


def test_code_is_known_by_its_hash(ask: Callable[..., Any]) -> None:
    (effect,) = ask("lambda", "UpdateFunctionCode", {"FunctionName": "f", "ZipFile": {"$bytes": 3}}, THINGS)
    assert effect.attribute == "source_code_hash"
    assert len(effect.value) == 44


def test_emptying_the_environment_is_an_effect(ask: Callable[..., Any]) -> None:
    (effect,) = ask("lambda", "UpdateFunctionConfiguration", {"FunctionName": "f", "Environment": {}}, THINGS)
    assert (effect.attribute, effect.value) == ("environment", [])
