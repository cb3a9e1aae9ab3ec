"""The operations of SNS. A topic's policy is an effect on `aws_sns_topic_policy` if the state records one for the topic, else on the topic."""

from collections.abc import Mapping
from functools import partial

from gateway.core.model.mutation import Effect
from gateway.effects.call_context import CallContext
from gateway.effects.naming import arn, topic
from gateway.effects.operation import CREATE, DELETE, INVOKE, Operation, controls
from gateway.effects.tags import set_tags, tag_rows
from gateway.effects.translators import keyed, keyed_value

_TOPIC = "aws_sns_topic"
_SUBSCRIPTION = "aws_sns_topic_subscription"
_POLICY = "aws_sns_topic_policy"
_on_topic = partial(Operation, resource_type=_TOPIC, identity={"TopicArn": topic})
_NAMES = {"SubscriptionRoleArn": "subscription_role_arn"}


def _set_topic(context: CallContext) -> tuple[Effect, ...]:
    context.allow_only("TopicArn", "AttributeName", "AttributeValue")
    topic_arn = context.text("TopicArn")
    key, value = context.text("AttributeName"), context.call.parameters.get("AttributeValue", "")
    target = context.target(_TOPIC, topic(context, topic_arn))
    if key == "Policy" and context.inventory.find(_POLICY, "arn", topic_arn):
        target = context.target(_POLICY, {"arn": topic_arn})
    return (target.put(*keyed_value(target, _NAMES, key, value)),)


def _set_subscription(context: CallContext) -> tuple[Effect, ...]:
    context.allow_only("SubscriptionArn", "AttributeName", "AttributeValue")
    key, value = context.text("AttributeName"), context.call.parameters.get("AttributeValue", "")
    target = context.target(_SUBSCRIPTION, arn(context, context.text("SubscriptionArn")))
    return (target.put(*keyed_value(target, _NAMES, key, value)),)


_PUBLISHED = _on_topic(action=INVOKE, content=frozenset({
        "Message", "MessageAttributes", "MessageDeduplicationId", "MessageGroupId", "MessageStructure",
        "PublishBatchRequestEntries", "Subject",
    }))  # fmt: skip

OPERATIONS: Mapping[str, Operation] = {
    "CreateTopic": Operation(
        resource_type=_TOPIC,
        identity={"Name": "name"},
        action=CREATE,
        attributes={"Attributes": keyed(_NAMES), "Tags": set_tags},
    ),
    "DeleteTopic": _on_topic(action=DELETE),
    "SetTopicAttributes": Operation(resource_type=_TOPIC, other_types=(_POLICY,), handler=_set_topic),
    **tag_rows(_TOPIC, {"ResourceArn": topic}),
    "Subscribe": Operation(
        resource_type=_SUBSCRIPTION,
        identity={"TopicArn": "topic_arn", "Protocol": "protocol", "Endpoint": "endpoint"},
        action=CREATE,
        attributes={"Attributes": keyed(_NAMES)},
        controls=controls("ReturnSubscriptionArn"),
    ),
    "Unsubscribe": Operation(resource_type=_SUBSCRIPTION, identity={"SubscriptionArn": arn}, action=DELETE),
    "SetSubscriptionAttributes": Operation(resource_type=_SUBSCRIPTION, handler=_set_subscription),
    "Publish": _PUBLISHED,
    "PublishBatch": _PUBLISHED,
}
