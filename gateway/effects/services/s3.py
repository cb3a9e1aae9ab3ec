"""The operations of S3. Most settings of a bucket are a resource type of their own; writing objects is an INVOKE of the bucket."""

from collections.abc import Mapping

from gateway.effects.context import CallContext
from gateway.effects.naming import plain
from gateway.effects.operation import Operation, Translate, controls
from gateway.effects.tags import all_tags, tag_map
from gateway.effects.values import NotUnderstood
from gateway.model.json import Json
from gateway.model.mutation import Effect, EffectAction

_BUCKET = "aws_s3_bucket"
_NAME = {"Bucket": plain("bucket")}
_CONTROLS = controls(
    "ChecksumAlgorithm", "ConfirmRemoveSelfBucketAccess", "ContentMD5", "ExpectedBucketOwner", "MFA",
)  # fmt: skip
_OBJECTS = (
    "PutObject", "DeleteObject", "DeleteObjects", "CopyObject", "CreateMultipartUpload", "UploadPart", "UploadPartCopy",
    "CompleteMultipartUpload", "AbortMultipartUpload", "PutObjectTagging", "DeleteObjectTagging", "RestoreObject",
)  # fmt: skip
_GRANTS = ("GrantFullControl", "GrantRead", "GrantReadACP", "GrantWrite", "GrantWriteACP")


def _object(context: CallContext) -> tuple[Effect, ...]:
    """An object is content, not infrastructure, unless the code declares it. A call that also grants access to it is not understood."""
    if grants := {"ACL", *_GRANTS} & {name for name, value in context.call.parameters.items() if value is not None}:
        raise NotUnderstood(f"parameter {', '.join(sorted(grants))}")
    bucket = context.text("Bucket")
    effects = [context.target(_BUCKET, plain("bucket")(context, bucket)).whole(EffectAction.INVOKE)]
    key = context.call.parameters.get("Key")
    if isinstance(key, str) and key:
        target = context.target("aws_s3_object", {"bucket": bucket, "key": key})
        action = EffectAction.DELETE if context.call.operation == "DeleteObject" else EffectAction.INVOKE
        effects += [target.whole(action)] if target.declared else []
    return tuple(effects)


def _untag(context: CallContext) -> tuple[Effect, ...]:
    context.allow_only("Bucket", "ExpectedBucketOwner")
    target = context.target(_BUCKET, {"bucket": context.text("Bucket")})
    return target.put_all(all_tags(target, {}) or {"tags": {}})


def _tags(attribute: str) -> Translate:
    def translate(_target: object, value: object) -> Mapping[str, Json]:
        return {attribute: tag_map(value)}

    return translate


def _one_tag(_target: object, value: object) -> Mapping[str, Json]:
    if not isinstance(value, Mapping) or set(value) != {"Key", "Value"}:
        raise NotUnderstood("a tag in an unknown form")
    return {"tag": [{"key": str(value["Key"]), "value": str(value["Value"])}]}


def _put(
    resource_type: str,
    attributes: Mapping[str, str | Translate] | None = None,
    defaults: Mapping[str, Json] | None = None,
) -> Operation:
    return Operation(
        resource_type=resource_type,
        identity=_NAME,
        attributes=attributes or {},
        controls=_CONTROLS,
        upserts=True,
        defaults=defaults or {},
    )


def _delete(resource_type: str) -> Operation:
    return Operation(resource_type=resource_type, identity=_NAME, action=EffectAction.DELETE)


_VERSIONING = "aws_s3_bucket_versioning"
_BLOCK = "aws_s3_bucket_public_access_block"
_POLICY = "aws_s3_bucket_policy"
_ENCRYPTION = "aws_s3_bucket_server_side_encryption_configuration"
_LIFECYCLE = "aws_s3_bucket_lifecycle_configuration"
_OWNERSHIP = "aws_s3_bucket_ownership_controls"
_CORS = "aws_s3_bucket_cors_configuration"
_RULES = "LifecycleConfiguration.Rules"
_UNBLOCKED: Mapping[str, Json] = dict.fromkeys(
    ("block_public_acls", "block_public_policy", "ignore_public_acls", "restrict_public_buckets"), False
)
"""Attribute → its value if `PutPublicAccessBlock` omits it (S3 API reference, PublicAccessBlockConfiguration)."""

OPERATIONS: Mapping[str, Operation] = {
    "CreateBucket": Operation(
        resource_type=_BUCKET,
        identity=_NAME,
        action=EffectAction.CREATE,
        attributes={"ObjectLockEnabledForBucket": "object_lock_enabled"},
        controls=controls("CreateBucketConfiguration.LocationConstraint"),
    ),
    "DeleteBucket": Operation(resource_type=_BUCKET, identity=_NAME, action=EffectAction.DELETE),
    "PutBucketTagging": Operation(
        resource_type=_BUCKET, identity=_NAME, attributes={"Tagging.TagSet": all_tags}, controls=_CONTROLS
    ),
    "DeleteBucketTagging": Operation(resource_type=_BUCKET, handler=_untag),
    "PutBucketVersioning": _put(
        _VERSIONING,
        {
            "VersioningConfiguration.MFADelete": "versioning_configuration.mfa_delete",
            "VersioningConfiguration.Status": "versioning_configuration.status",
        },
    ),
    "PutPublicAccessBlock": _put(_BLOCK, defaults=_UNBLOCKED),
    "DeletePublicAccessBlock": _delete(_BLOCK),
    "PutBucketPolicy": _put(_POLICY),
    "DeleteBucketPolicy": _delete(_POLICY),
    "PutBucketEncryption": _put(_ENCRYPTION, {"ServerSideEncryptionConfiguration.Rules": "rule"}),
    "DeleteBucketEncryption": _delete(_ENCRYPTION),
    "PutBucketLifecycleConfiguration": _put(
        _LIFECYCLE,
        {
            _RULES: "rule",
            f"{_RULES}.Filter.Tag": _one_tag,
            f"{_RULES}.Filter.And.Tags": _tags("tags"),
        },
    ),
    "DeleteBucketLifecycle": _delete(_LIFECYCLE),
    "PutBucketOwnershipControls": _put(_OWNERSHIP, {"OwnershipControls.Rules": "rule"}),
    "DeleteBucketOwnershipControls": _delete(_OWNERSHIP),
    "PutBucketAcl": _put("aws_s3_bucket_acl", {"ACL": "acl"}),
    "PutBucketCors": _put(_CORS, {"CORSConfiguration.CORSRules": "cors_rule"}),
    "DeleteBucketCors": _delete(_CORS),
    "PutBucketLogging": _put("aws_s3_bucket_logging"),
    "PutBucketAccelerateConfiguration": _put("aws_s3_bucket_accelerate_configuration"),
    **{name: Operation(resource_type=_BUCKET, other_types=("aws_s3_object",), handler=_object) for name in _OBJECTS},
}
