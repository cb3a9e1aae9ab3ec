"""The Tagging API is judged as the tags of each resource."""

import pytest

from tests.gateway.effects.conftest import ACCOUNT, REGION
from tests.gateway.effects.proxies.conftest import FUNCTION, QUEUE, Understand, inner_effects


def test_tags_are_set_on_each_resource(understand: Understand) -> None:
    found = understand(
        "resourcegroupstaggingapi", "TagResources", {"ResourceARNList": [QUEUE, FUNCTION], "Tags": {"a": "b"}}
    )
    assert inner_effects(found) == [
        ("aws_sqs_queue.orders", "tags.a", "set", "b", "sqs:TagResource"),
        ("aws_lambda_function.worker", "tags.a", "set", "b", "lambda:TagResource"),
    ]
    assert not any(each.implied for each in found.effects)


def test_tags_are_removed_from_each_resource(understand: Understand) -> None:
    found = understand("resourcegroupstaggingapi", "UntagResources", {"ResourceARNList": [QUEUE], "TagKeys": ["team"]})
    assert inner_effects(found) == [("aws_sqs_queue.orders", "tags.team", "set", None, "sqs:UntagResource")]


@pytest.mark.parametrize(
    "arn",
    [
        f"arn:aws:sqs:{REGION}:999999999999:orders",
        f"arn:aws:sqs:us-east-1:{ACCOUNT}:orders",
        "arn:aws:sqs:::orders",
        f"arn:aws:braket:{REGION}:{ACCOUNT}:job/j",
        f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:worker:1",
        "orders",
    ],
)
def test_an_arn_that_is_not_known_makes_the_call_not_understood(understand: Understand, arn: str) -> None:
    found = understand(
        "resourcegroupstaggingapi", "TagResources", {"ResourceARNList": [QUEUE, arn], "Tags": {"a": "b"}}
    )
    assert found.effects == ()
    assert "is an ARN of a type that is not unpacked, or of another account or region" in found.not_understood


def test_an_arn_that_is_named_twice_is_held(understand: Understand) -> None:
    found = understand(
        "resourcegroupstaggingapi", "TagResources", {"ResourceARNList": [QUEUE, QUEUE], "Tags": {"a": "b"}}
    )
    assert "named twice" in found.not_understood
