"""The operations of S3. Most settings of a bucket are a resource type of their own; writing objects is an INVOKE of the bucket."""

from collections.abc import Mapping
from urllib.parse import unquote

from gateway.core.model.json import Json, to_json
from gateway.core.model.mutation import Effect
from gateway.effects.call_context import CallContext, Target
from gateway.effects.interpreter import effects_on
from gateway.effects.naming import kms_key, plain
from gateway.effects.operation import (
    CREATE,
    DELETE,
    INVOKE,
    Argument,
    Operation,
    Translate,
    account_for,
    any_value,
    controls,
    only,
)
from gateway.effects.tags import all_tags, tag_map
from gateway.effects.values import NotUnderstood

_BUCKET = "aws_s3_bucket"
_NAME = {"Bucket": plain("bucket")}
_CONTROLS = controls(
    "ChecksumAlgorithm", "ConfirmRemoveSelfBucketAccess", "ContentMD5", "ExpectedBucketOwner", "MFA",
)  # fmt: skip
_CONTENT = frozenset({
    "Body", "CacheControl", "ContentDisposition", "ContentEncoding", "ContentLanguage", "ContentLength", "ContentType",
    "Expires", "IfMatch", "IfMatchInitiatedTime", "IfMatchLastModifiedTime", "IfMatchSize", "IfNoneMatch", "Metadata",
    "MetadataDirective", "MpuObjectSize", "MultipartUpload", "PartNumber", "RequestPayer", "ServerSideEncryption",
    "StorageClass", "Tagging", "TaggingDirective", "UploadId", "WriteOffsetBytes", "ChecksumType", "BucketKeyEnabled",
    "CopySourceIfMatch", "CopySourceIfModifiedSince", "CopySourceIfNoneMatch", "CopySourceIfUnmodifiedSince",
    "CopySourceRange", "ExpectedSourceBucketOwner",
    *(f"Checksum{kind}" for kind in ("CRC32", "CRC32C", "CRC64NVME", "MD5", "SHA1", "SHA256", "SHA512")),
    *(f"ChecksumXXHASH{kind}" for kind in ("128", "3", "64")),
})  # fmt: skip
"""The content of an object, and the conditions under which it is written. None of these parameters reaches beyond the object.

Not among them, so that the call is held: grants and ACLs, locks and holds (they can last for a century), a customer's own encryption
key (it locks the owner out), a redirect, and a deletion that overrides a lock.
"""
_OBJECTS = (
    "PutObject", "DeleteObject", "DeleteObjects", "CopyObject", "CreateMultipartUpload", "UploadPart", "UploadPartCopy",
    "CompleteMultipartUpload", "AbortMultipartUpload", "PutObjectTagging", "DeleteObjectTagging", "RestoreObject",
)  # fmt: skip


def _object(context: CallContext) -> tuple[Effect, ...]:
    """An object is content, not infrastructure, unless the code declares it."""
    bucket = context.target(_BUCKET, plain("bucket")(context, context.text("Bucket")))
    accounted = (frozenset({"Bucket", "Key"}), _CONTROLS, _CONTENT)
    effects = [bucket.whole(INVOKE, account_for(_OBJECT_ARGUMENTS, accounted, context, bucket))]
    deletes = context.call.operation in ("DeleteObject", "DeleteObjects")
    for key in _keys(context):
        target = context.target("aws_s3_object", {"bucket": bucket.identity["bucket"], "key": key})
        if target.declared:
            effects.append(target.whole(DELETE if deletes else INVOKE))
    return tuple(effects)


def _keys(context: CallContext) -> tuple[str, ...]:
    """The keys of all objects that the call is about. Raises `NotUnderstood` if it does not say."""
    if context.call.operation != "DeleteObjects":
        return (context.text("Key"),)
    deletion = context.call.parameters.get("Delete")
    objects = deletion.get("Objects") if isinstance(deletion, Mapping) else None
    if not isinstance(objects, (list, tuple)) or not all(
        isinstance(each, Mapping) and each.get("Key") for each in objects
    ):
        raise NotUnderstood("objects without keys")
    return tuple(dict.fromkeys(str(each["Key"]) for each in objects))


def _copied_from(context: CallContext, target: Target, value: object) -> Json:
    """The source of a copy: the same bucket or a declared one. From any other bucket, the gateway's rights would fetch a stranger's data."""
    source = value if isinstance(value, str) else ""
    bucket, _, key = unquote(source).removeprefix("/").partition("/")
    if not key or bucket.startswith("arn:"):
        raise NotUnderstood("a copy from an access point")
    if bucket != target.identity["bucket"] and not context.target(_BUCKET, {"bucket": bucket}).declared:
        raise NotUnderstood("a copy from a bucket that nothing declares")
    return source


def _encrypted_with(context: CallContext, _target: Target, value: object) -> Json:
    """The key, if it is declared. With another account's key, that account would decide who may read the object."""
    if not isinstance(value, str) or not context.target("aws_kms_key", kms_key(context, value)).declared:
        raise NotUnderstood("encryption with a key that nothing declares")
    return value


def _restored(_context: CallContext, _target: Target, value: object) -> Json:
    """The request to restore an object in place. One with an output location writes it into another bucket, with its own grants."""
    if not isinstance(value, Mapping) or set(value) - {"Days", "Description", "GlacierJobParameters", "Tier"}:
        raise NotUnderstood("a restoration that does more than restore in place")
    return to_json(value)


def _deleted(_context: CallContext, _target: Target, value: object) -> Json:
    """How many objects are deleted."""
    return {"Objects": len(value["Objects"])} if isinstance(value, Mapping) else None


_OBJECT_ARGUMENTS: Mapping[str, Argument] = {
    "BypassGovernanceRetention": only(False),
    "CopySource": _copied_from,
    "Delete": _deleted,
    "RestoreRequest": _restored,
    "SSEKMSKeyId": _encrypted_with,
    "VersionId": any_value,
}


def _create(context: CallContext) -> tuple[Effect, ...]:
    """The creation of a bucket. Of one that exists, AWS takes the call in us-east-1, where it names no location, as a reset of its access
    list; elsewhere it refuses the call.

    Source: "CreateBucket", Amazon S3 API Reference (error `BucketAlreadyOwnedByYou`).
    """
    target = context.target(_BUCKET, {"bucket": context.text("Bucket")})
    given = context.call.parameters.get("CreateBucketConfiguration")
    located = isinstance(given, Mapping) and given.get("LocationConstraint")
    if target.recorded and not located:
        raise NotUnderstood("a bucket that exists: its creation resets its access list")
    return tuple(effects_on(_CREATED, context, target))


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
    return Operation(resource_type=resource_type, identity=_NAME, action=DELETE, controls=_CONTROLS)


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

_CREATED = Operation(
    resource_type=_BUCKET,
    identity=_NAME,
    action=CREATE,
    attributes={"ObjectLockEnabledForBucket": "object_lock_enabled"},
    controls=controls("CreateBucketConfiguration.LocationConstraint"),
)

OPERATIONS: Mapping[str, Operation] = {
    "CreateBucket": Operation(resource_type=_BUCKET, action=CREATE, handler=_create),
    "DeleteBucket": _delete(_BUCKET),
    "PutBucketTagging": Operation(
        resource_type=_BUCKET,
        identity=_NAME,
        attributes={"Tagging.TagSet": all_tags},
        controls=_CONTROLS,
        obliged=frozenset({"Tagging"}),
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
        {_RULES: "rule", f"{_RULES}.Filter.Tag": _one_tag, f"{_RULES}.Filter.And.Tags": _tags("tags")},
        {"transition_default_minimum_object_size": "all_storage_classes_128K"},
    ),
    "DeleteBucketLifecycle": _delete(_LIFECYCLE),
    "PutBucketOwnershipControls": _put(_OWNERSHIP, {"OwnershipControls.Rules": "rule"}),
    "DeleteBucketOwnershipControls": _delete(_OWNERSHIP),
    "PutBucketAcl": _put("aws_s3_bucket_acl", {"ACL": "acl"}),
    "PutBucketCors": _put(_CORS, {"CORSConfiguration.CORSRules": "cors_rule"}),
    "DeleteBucketCors": _delete(_CORS),
    "PutBucketLogging": _put("aws_s3_bucket_logging", defaults={"target_grant": [], "target_object_key_format": []}),
    "PutBucketAccelerateConfiguration": _put("aws_s3_bucket_accelerate_configuration"),
    **dict.fromkeys(
        _OBJECTS,
        Operation(
            resource_type=_BUCKET,
            other_types=("aws_s3_object", "aws_kms_alias", "aws_kms_key"),
            action=INVOKE,
            handler=_object,
            content=_CONTENT,
        ),
    ),
}
