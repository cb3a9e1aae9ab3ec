"""The operations of CloudWatch Logs."""

from collections.abc import Mapping
from functools import partial

from gateway.effects.call_context import CallContext
from gateway.effects.operation import CREATE, DELETE, INVOKE, Operation
from gateway.effects.tags import set_tags, tag_rows
from gateway.effects.values import NotUnderstood

_GROUP = "aws_cloudwatch_log_group"


def _by_arn(context: CallContext, text: str) -> dict[str, str]:
    kind, _, name = context.arn(text).resource.partition(":")
    if kind != "log-group":
        raise NotUnderstood(f"a {kind} where a log group is expected")
    return {"name": name.removesuffix(":*")}


_NAME = {"logGroupName": "name"}
_on_group = partial(Operation, resource_type=_GROUP, identity=_NAME)
_BY_ARN = {"resourceArn": _by_arn}
_STREAM = {"logGroupName": "log_group_name", "logStreamName": "name"}
_on_stream = partial(Operation, resource_type="aws_cloudwatch_log_stream", identity=_STREAM)
_FILTER = {"logGroupName": "log_group_name", "filterName": "name"}
_on_subscription = partial(Operation, resource_type="aws_cloudwatch_log_subscription_filter", identity=_FILTER)
_on_metric_filter = partial(Operation, resource_type="aws_cloudwatch_log_metric_filter", identity=_FILTER)

OPERATIONS: Mapping[str, Operation] = {
    "CreateLogGroup": _on_group(action=CREATE, attributes={"tags": set_tags}),
    "DeleteLogGroup": _on_group(action=DELETE),
    "PutRetentionPolicy": _on_group(),
    "DeleteRetentionPolicy": _on_group(constants={"retention_in_days": 0}),
    "AssociateKmsKey": _on_group(),
    "DisassociateKmsKey": _on_group(constants={"kms_key_id": ""}),
    **tag_rows(_GROUP, _BY_ARN, tags="tags", keys="tagKeys"),
    **tag_rows(_GROUP, _NAME, tag="TagLogGroup", untag="UntagLogGroup", tags="tags", keys="tags"),
    "CreateLogStream": _on_stream(action=CREATE),
    "DeleteLogStream": _on_stream(action=DELETE),
    "PutLogEvents": _on_group(
        action=INVOKE, content=frozenset({"logStreamName", "logEvents", "sequenceToken", "entity"})
    ),
    "PutMetricFilter": _on_metric_filter(
        upserts=True,
        attributes={
            "filterPattern": "pattern",
            "metricTransformations.metricName": "metric_transformation.name",
            "metricTransformations.metricNamespace": "metric_transformation.namespace",
            "metricTransformations.metricValue": "metric_transformation.value",
        },
    ),
    "DeleteMetricFilter": _on_metric_filter(action=DELETE),
    "PutSubscriptionFilter": _on_subscription(upserts=True, defaults={"distribution": "ByLogStream", "role_arn": ""}),
    "DeleteSubscriptionFilter": _on_subscription(action=DELETE),
}
