"""The operations of SQS. A policy is an effect on its separate resource if the state records one for the queue, else on the queue."""

from collections.abc import Mapping
from functools import partial

from gateway.core.model.mutation import Effect
from gateway.effects.call_context import CallContext, Target
from gateway.effects.naming import queue_url
from gateway.effects.operation import CREATE, DELETE, INVOKE, Operation, any_value
from gateway.effects.tags import set_tags, tag_rows
from gateway.effects.translators import keyed, keyed_value
from gateway.effects.values import NotUnderstood

_QUEUE = "aws_sqs_queue"
_URL = {"QueueUrl": queue_url}
_on_queue = partial(Operation, resource_type=_QUEUE, identity=_URL)
_NAMES = {
    "MaximumMessageSize": "max_message_size",
    "MessageRetentionPeriod": "message_retention_seconds",
    "ReceiveMessageWaitTimeSeconds": "receive_wait_time_seconds",
    "VisibilityTimeout": "visibility_timeout_seconds",
}
_SEPARATE_RESOURCE = {
    "Policy": ("aws_sqs_queue_policy", "policy"),
    "RedrivePolicy": ("aws_sqs_queue_redrive_policy", "redrive_policy"),
    "RedriveAllowPolicy": ("aws_sqs_queue_redrive_allow_policy", "redrive_allow_policy"),
}


def _owner(context: CallContext, queue: Target, key: str) -> Target:
    """The resource that holds the attribute: a separate one if the state records one for this queue, else the queue."""
    if key not in _SEPARATE_RESOURCE:
        return queue
    resource_type, _ = _SEPARATE_RESOURCE[key]
    urls = {context.text("QueueUrl"), str(queue.recorded.get("id") or ""), str(queue.recorded.get("url") or "")} - {""}
    for url in sorted(urls):
        if context.inventory.find(resource_type, "queue_url", url):
            return context.target(resource_type, {"queue_url": url})
    return queue


def _set_attributes(context: CallContext) -> tuple[Effect, ...]:
    context.allow_only("QueueUrl", "Attributes")
    queue = context.target(_QUEUE, queue_url(context, context.text("QueueUrl")))
    given = context.call.parameters.get("Attributes")
    if not isinstance(given, Mapping):
        raise NotUnderstood("attributes that are not a map")
    effects = []
    for key, value in given.items():
        owner = _owner(context, queue, key)
        effects.append(owner.put(*keyed_value(owner, _NAMES, key, value)))
    return tuple(effects)


_MESSAGES = frozenset({
    "AttributeNames", "DelaySeconds", "Entries", "MaxNumberOfMessages", "MessageAttributeNames", "MessageAttributes",
    "MessageBody", "MessageDeduplicationId", "MessageGroupId", "MessageSystemAttributeNames", "MessageSystemAttributes",
    "ReceiptHandle", "ReceiveRequestAttemptId", "WaitTimeSeconds",
})  # fmt: skip
_INVOKED = _on_queue(action=INVOKE, arguments={"VisibilityTimeout": any_value}, content=_MESSAGES)

OPERATIONS: Mapping[str, Operation] = {
    "CreateQueue": Operation(
        resource_type=_QUEUE,
        identity={"QueueName": "name"},
        action=CREATE,
        attributes={"Attributes": keyed(_NAMES), "tags": set_tags},
    ),
    "DeleteQueue": _on_queue(action=DELETE),
    "SetQueueAttributes": Operation(
        resource_type=_QUEUE,
        other_types=tuple(name for name, _ in _SEPARATE_RESOURCE.values()),
        handler=_set_attributes,
    ),
    **tag_rows(_QUEUE, _URL, tag="TagQueue", untag="UntagQueue"),
    "PurgeQueue": _INVOKED,
    "SendMessage": _INVOKED,
    "SendMessageBatch": _INVOKED,
    "ReceiveMessage": _INVOKED,
    "DeleteMessage": _INVOKED,
    "DeleteMessageBatch": _INVOKED,
    "ChangeMessageVisibility": _INVOKED,
    "ChangeMessageVisibilityBatch": _INVOKED,
}
