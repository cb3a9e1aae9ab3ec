"""The operations of CloudWatch Logs."""

from collections.abc import Mapping

from gateway.core.model.mutation import EffectAction
from gateway.effects.call_context import CallContext
from gateway.effects.operation import Operation
from gateway.effects.tags import drop_tags, set_tags
from gateway.effects.values import NotUnderstood

_GROUP = "aws_cloudwatch_log_group"
_CREATE, _DELETE, _INVOKE = EffectAction.CREATE, EffectAction.DELETE, EffectAction.INVOKE


def _by_arn(context: CallContext, text: str) -> dict[str, str]:
    kind, _, name = context.arn(text).resource.partition(":")
    if kind != "log-group":
        raise NotUnderstood(f"a {kind} where a log group is expected")
    return {"name": name.removesuffix(":*")}


_NAME = {"logGroupName": "name"}
_BY_ARN = {"resourceArn": _by_arn}
_STREAM = {"logGroupName": "log_group_name", "logStreamName": "name"}
_FILTER = {"logGroupName": "log_group_name", "filterName": "name"}

OPERATIONS: Mapping[str, Operation] = {
    "CreateLogGroup": Operation(resource_type=_GROUP, identity=_NAME, action=_CREATE, attributes={"tags": set_tags}),
    "DeleteLogGroup": Operation(resource_type=_GROUP, identity=_NAME, action=_DELETE),
    "PutRetentionPolicy": Operation(resource_type=_GROUP, identity=_NAME),
    "DeleteRetentionPolicy": Operation(resource_type=_GROUP, identity=_NAME, constants={"retention_in_days": 0}),
    "AssociateKmsKey": Operation(resource_type=_GROUP, identity=_NAME),
    "DisassociateKmsKey": Operation(resource_type=_GROUP, identity=_NAME, constants={"kms_key_id": ""}),
    "TagResource": Operation(resource_type=_GROUP, identity=_BY_ARN, attributes={"tags": set_tags}),
    "UntagResource": Operation(resource_type=_GROUP, identity=_BY_ARN, attributes={"tagKeys": drop_tags}),
    "TagLogGroup": Operation(resource_type=_GROUP, identity=_NAME, attributes={"tags": set_tags}),
    "UntagLogGroup": Operation(resource_type=_GROUP, identity=_NAME, attributes={"tags": drop_tags}),
    "CreateLogStream": Operation(resource_type="aws_cloudwatch_log_stream", identity=_STREAM, action=_CREATE),
    "DeleteLogStream": Operation(resource_type="aws_cloudwatch_log_stream", identity=_STREAM, action=_DELETE),
    "PutLogEvents": Operation(
        resource_type=_GROUP,
        identity=_NAME,
        action=_INVOKE,
        content=frozenset({"logStreamName", "logEvents", "sequenceToken", "entity"}),
    ),
    "PutMetricFilter": Operation(
        resource_type="aws_cloudwatch_log_metric_filter",
        identity=_FILTER,
        upserts=True,
        attributes={
            "filterPattern": "pattern",
            "metricTransformations.metricName": "metric_transformation.name",
            "metricTransformations.metricNamespace": "metric_transformation.namespace",
            "metricTransformations.metricValue": "metric_transformation.value",
        },
    ),
    "DeleteMetricFilter": Operation(resource_type="aws_cloudwatch_log_metric_filter", identity=_FILTER, action=_DELETE),
    "PutSubscriptionFilter": Operation(
        resource_type="aws_cloudwatch_log_subscription_filter",
        identity=_FILTER,
        upserts=True,
        defaults={"distribution": "ByLogStream", "role_arn": ""},
    ),
    "DeleteSubscriptionFilter": Operation(
        resource_type="aws_cloudwatch_log_subscription_filter",
        identity=_FILTER,
        action=_DELETE,
    ),
}
