"""Queues and their policies."""

from collections.abc import Callable
from typing import Any

URL = "https://sqs.eu-west-1.amazonaws.com/123456789012/q"
HERE = "http://127.0.0.1:5555/123456789012/q"
QUEUE = {"aws_sqs_queue.q": {"name": "q", "id": HERE, "url": HERE}}


def test_attributes_are_numbers_and_flags(effects_of: Callable[..., Any], values: Callable[..., Any]) -> None:
    given = {"VisibilityTimeout": "60", "SqsManagedSseEnabled": "false"}
    effects = effects_of("sqs", "SetQueueAttributes", {"QueueUrl": URL, "Attributes": given}, QUEUE)
    assert values(effects) == {"visibility_timeout_seconds": 60, "sqs_managed_sse_enabled": False}


def test_a_policy_is_an_effect_on_the_resource_that_records_it(effects_of: Callable[..., Any]) -> None:
    policy = {"QueueUrl": URL, "Attributes": {"Policy": "{}"}}
    (own,) = effects_of("sqs", "SetQueueAttributes", policy, QUEUE)
    (other,) = effects_of("sqs", "SetQueueAttributes", policy, {**QUEUE, "aws_sqs_queue_policy.p": {"queue_url": HERE}})
    assert (own.address, other.address) == ("aws_sqs_queue.q", "aws_sqs_queue_policy.p")


def test_an_unknown_attribute_is_not_understood(effects_of: Callable[..., Any]) -> None:
    given = {"QueueUrl": URL, "Attributes": {"DelaySeconds": "1", "Unheard": "x"}}
    assert effects_of("sqs", "SetQueueAttributes", given, QUEUE) == ()
    assert effects_of("sqs", "SetQueueAttributes", {"QueueUrl": URL, "Attributes": {}}, QUEUE) == ()
