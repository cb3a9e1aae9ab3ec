"""State machines, and the tags of activities."""

from collections.abc import Callable
from typing import Any

ARN = "arn:aws:states:eu-west-1:123456789012"


def test_the_arn_says_whether_a_machine_or_an_activity_is_tagged(effects_of: Callable[..., Any]) -> None:
    declared = {
        "aws_sfn_activity.a": {"id": f"{ARN}:activity:a", "name": "a"},
        "aws_sfn_state_machine.m": {"arn": f"{ARN}:stateMachine:m"},
    }

    def tagged(arn: str) -> list[str]:
        call = {"resourceArn": arn, "tags": [{"key": "team", "value": "one"}]}
        return [effect.address for effect in effects_of("stepfunctions", "TagResource", call, declared)]

    assert tagged(f"{ARN}:activity:a") == ["aws_sfn_activity.a"]
    assert tagged(f"{ARN}:stateMachine:m") == ["aws_sfn_state_machine.m"]
    assert tagged(f"{ARN}:execution:m:x") == []
    (gone,) = effects_of(
        "stepfunctions", "UntagResource", {"resourceArn": f"{ARN}:activity:a", "tagKeys": ["team"]}, declared
    )
    assert (gone.address, gone.attribute, gone.value) == ("aws_sfn_activity.a", "tags.team", None)
