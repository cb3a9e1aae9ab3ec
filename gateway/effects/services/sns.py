"""The operations of SNS. A topic's policy is an effect on `aws_sns_topic_policy` if the state records one for the topic, else on the topic."""

from collections.abc import Mapping

from gateway.core.model.mutation import Effect, EffectAction
from gateway.effects.call_context import CallContext
from gateway.effects.naming import arn, topic
from gateway.effects.operation import Operation, controls
from gateway.effects.tags import drop_tags, set_tags
from gateway.effects.translators import keyed, keyed_value

_TOPIC = "aws_sns_topic"
_SUBSCRIPTION = "aws_sns_topic_subscription"
_POLICY = "aws_sns_topic_policy"
_ARN = {"TopicArn": topic}
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


_PUBLISHED = Operation(
    resource_type=_TOPIC,
    identity=_ARN,
    action=EffectAction.INVOKE,
    # A phone number or another target beside the topic is no content.
    content=frozenset({
        "Message", "MessageAttributes", "MessageDeduplicationId", "MessageGroupId", "MessageStructure",
        "PublishBatchRequestEntries", "Subject",
    }),
)  # fmt: skip

OPERATIONS: Mapping[str, Operation] = {
    "CreateTopic": Operation(
        resource_type=_TOPIC,
        identity={"Name": "name"},
        action=EffectAction.CREATE,
        attributes={"Attributes": keyed(_NAMES), "Tags": set_tags},
    ),
    "DeleteTopic": Operation(resource_type=_TOPIC, identity=_ARN, action=EffectAction.DELETE),
    "SetTopicAttributes": Operation(resource_type=_TOPIC, other_types=(_POLICY,), handler=_set_topic),
    "TagResource": Operation(resource_type=_TOPIC, identity={"ResourceArn": topic}, attributes={"Tags": set_tags}),
    "UntagResource": Operation(
        resource_type=_TOPIC, identity={"ResourceArn": topic}, attributes={"TagKeys": drop_tags}
    ),
    "Subscribe": Operation(
        resource_type=_SUBSCRIPTION,
        identity={"TopicArn": "topic_arn", "Protocol": "protocol", "Endpoint": "endpoint"},
        action=EffectAction.CREATE,
        attributes={"Attributes": keyed(_NAMES)},
        controls=controls("ReturnSubscriptionArn"),
    ),
    "Unsubscribe": Operation(
        resource_type=_SUBSCRIPTION, identity={"SubscriptionArn": arn}, action=EffectAction.DELETE
    ),
    "SetSubscriptionAttributes": Operation(resource_type=_SUBSCRIPTION, handler=_set_subscription),
    "Publish": _PUBLISHED,
    "PublishBatch": _PUBLISHED,
}
