"""Which locks are a stack's own."""

from typing import Any

import pytest

from gateway.core.model.mutation import Call
from gateway.terraform.config.backend import StatePlace
from gateway.terraform.state_calls import lock_id_of, locked_state

STATE = StatePlace(stack="shop", bucket="states", key="shop/terraform.tfstate", region="us-east-1", lock_table="locks")
NAME = "states/shop/terraform.tfstate"


@pytest.mark.parametrize(
    ("operation", "parameters", "expected"),
    [
        ("PutItem", {"Item": {"LockID": {"S": NAME}}}, NAME),
        ("GetItem", {"Key": {"LockID": {"S": NAME}}}, NAME),
        ("DeleteItem", {"Key": {"LockID": {"S": NAME}}}, NAME),
        ("UpdateItem", {"Key": {"LockID": {"S": NAME}}}, ""),
        ("PutItem", {"Item": "x"}, ""),
        ("PutItem", {"Item": {"LockID": "x"}}, ""),
    ],
)
def test_the_name_of_a_lock(operation: str, parameters: dict[str, Any], expected: str) -> None:
    assert lock_id_of(Call(service="dynamodb", operation=operation, parameters=parameters)) == expected


def test_a_lock_and_a_digest_are_of_their_state() -> None:
    assert locked_state(NAME, STATE)
    assert locked_state(f"{NAME}-md5", STATE)
    assert not locked_state("states/other", STATE)
    assert not locked_state("", STATE)
