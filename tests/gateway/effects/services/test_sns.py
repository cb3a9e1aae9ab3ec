"""Topics and subscriptions."""

from collections.abc import Callable
from typing import Any

ARN = "arn:aws:sns:eu-west-1:123456789012:t"
TOPIC = {"aws_sns_topic.t": {"name": "t", "arn": ARN}}


def attribute(name: str, value: str) -> dict[str, str]:
    return {"TopicArn": ARN, "AttributeName": name, "AttributeValue": value}


def test_one_attribute(effects_of: Callable[..., Any]) -> None:
    (effect,) = effects_of("sns", "SetTopicAttributes", attribute("SQSSuccessFeedbackSampleRate", "5"), TOPIC)
    assert (effect.address, effect.attribute, effect.value) == (
        "aws_sns_topic.t",
        "sqs_success_feedback_sample_rate",
        5,
    )


def test_a_policy_is_an_effect_on_the_resource_that_records_it(effects_of: Callable[..., Any]) -> None:
    (own,) = effects_of("sns", "SetTopicAttributes", attribute("Policy", "{}"), TOPIC)
    (other,) = effects_of(
        "sns", "SetTopicAttributes", attribute("Policy", "{}"), {**TOPIC, "aws_sns_topic_policy.p": {"arn": ARN}}
    )
    assert (own.address, other.address) == ("aws_sns_topic.t", "aws_sns_topic_policy.p")


def test_an_unknown_attribute_is_not_understood(effects_of: Callable[..., Any]) -> None:
    assert effects_of("sns", "SetTopicAttributes", attribute("Unheard", "x"), TOPIC) == ()
