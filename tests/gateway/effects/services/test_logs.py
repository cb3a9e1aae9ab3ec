"""Log groups."""

from collections.abc import Callable
from typing import Any

THINGS = {"aws_cloudwatch_log_group.l": {"name": "/a/l"}}


def test_no_retention_is_nought(ask: Callable[..., Any]) -> None:
    (effect,) = ask("logs", "DeleteRetentionPolicy", {"logGroupName": "/a/l"}, THINGS)
    assert (effect.address, effect.attribute, effect.value) == ("aws_cloudwatch_log_group.l", "retention_in_days", 0)


def test_an_arn_may_end_with_a_star(ask: Callable[..., Any]) -> None:
    arn = "arn:aws:logs:eu-west-1:123456789012:log-group:/a/l:*"
    (effect,) = ask("logs", "TagResource", {"resourceArn": arn, "tags": {"a": "b"}}, THINGS)
    assert effect.address == "aws_cloudwatch_log_group.l"


def test_tags_of_something_else_are_held(ask: Callable[..., Any]) -> None:
    arn = "arn:aws:logs:eu-west-1:123456789012:destination:d"
    assert ask("logs", "TagResource", {"resourceArn": arn, "tags": {"a": "b"}}, THINGS) == ()
