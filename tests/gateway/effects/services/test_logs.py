"""Log groups."""

from collections.abc import Callable
from typing import Any

RESOURCES = {"aws_cloudwatch_log_group.l": {"name": "/a/l"}}


def test_deleting_the_retention_policy_sets_zero_days(effects_of: Callable[..., Any]) -> None:
    (effect,) = effects_of("logs", "DeleteRetentionPolicy", {"logGroupName": "/a/l"}, RESOURCES)
    assert (effect.address, effect.attribute, effect.value) == ("aws_cloudwatch_log_group.l", "retention_in_days", 0)


def test_an_arn_may_end_with_a_star(effects_of: Callable[..., Any]) -> None:
    arn = "arn:aws:logs:eu-west-1:123456789012:log-group:/a/l:*"
    (effect,) = effects_of("logs", "TagResource", {"resourceArn": arn, "tags": {"a": "b"}}, RESOURCES)
    assert effect.address == "aws_cloudwatch_log_group.l"


def test_tags_of_another_kind_are_not_understood(effects_of: Callable[..., Any]) -> None:
    arn = "arn:aws:logs:eu-west-1:123456789012:destination:d"
    assert effects_of("logs", "TagResource", {"resourceArn": arn, "tags": {"a": "b"}}, RESOURCES) == ()
