"""Which calls keep or lock a stack's own state."""

from typing import Any

import pytest

from gateway.core.model.mutation import Call
from gateway.terraform.config.backend import StateObject
from gateway.terraform.state_calls import keeps_state

STATE = StateObject(bucket="states", key="shop/terraform.tfstate", region="us-east-1")
NAME = "states/shop/terraform.tfstate"


@pytest.mark.parametrize(
    ("service", "operation", "parameters", "expected"),
    [
        ("s3", "PutObject", {"Bucket": "states", "Key": STATE.key}, True),
        ("s3", "PutObject", {"Bucket": "states", "Key": f"{STATE.key}.tflock"}, True),
        ("s3", "PutObject", {"Bucket": "states", "Key": "other/terraform.tfstate"}, False),
        ("s3", "PutObject", {"Bucket": "others", "Key": STATE.key}, False),
        ("s3", "DeleteObject", {"Bucket": "states", "Key": f"{STATE.key}.tflock"}, True),
        ("s3", "DeleteObject", {"Bucket": "states", "Key": STATE.key}, False),
        ("s3", "DeleteBucket", {"Bucket": "states"}, False),
        ("dynamodb", "PutItem", {"Item": {"LockID": {"S": NAME}}}, True),
        ("dynamodb", "PutItem", {"Item": {"LockID": {"S": f"{NAME}-md5"}}}, True),
        ("dynamodb", "DeleteItem", {"Key": {"LockID": {"S": NAME}}}, True),
        ("dynamodb", "PutItem", {"Item": {"LockID": {"S": "states/other"}}}, False),
        ("dynamodb", "PutItem", {"Item": "x"}, False),
        ("sqs", "SendMessage", {}, False),
    ],
)
def test_a_call_keeps_a_state(service: str, operation: str, parameters: dict[str, Any], expected: bool) -> None:
    assert keeps_state(Call(service=service, operation=operation, parameters=parameters), (STATE,)) is expected
