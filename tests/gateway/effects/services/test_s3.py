"""Buckets, their settings, and their objects."""

from collections.abc import Callable
from typing import Any

import pytest

from gateway.core.model.mutation import EffectAction

BUCKET = {"aws_s3_bucket.b": {"bucket": "b", "tags": {"old": "yes"}}}
OBJECT = {**BUCKET, "aws_s3_object.o": {"bucket": "b", "key": "k"}}


def test_a_setting_without_a_resource_is_created(effects_of: Callable[..., Any]) -> None:
    effects = effects_of(
        "s3", "PutBucketVersioning", {"Bucket": "b", "VersioningConfiguration": {"Status": "Enabled"}}, BUCKET
    )
    assert {effect.action for effect in effects} == {EffectAction.CREATE}
    assert effects[0].address == "aws_s3_bucket_versioning{bucket=b}"


def test_a_setting_with_a_resource_is_set(effects_of: Callable[..., Any]) -> None:
    resources = {"aws_s3_bucket_policy.p": {"bucket": "b", "policy": "{}"}}
    (effect,) = effects_of("s3", "PutBucketPolicy", {"Bucket": "b", "Policy": '{"a":1}'}, resources)
    assert (effect.address, effect.action, effect.value) == ("aws_s3_bucket_policy.p", EffectAction.SET, '{"a":1}')


def test_objects_are_an_invoke_of_the_bucket_unless_declared(effects_of: Callable[..., Any]) -> None:
    (bucket,) = effects_of("s3", "DeleteObject", {"Bucket": "b", "Key": "other"}, OBJECT)
    both = effects_of("s3", "DeleteObject", {"Bucket": "b", "Key": "k"}, OBJECT)
    assert (bucket.address, bucket.action) == ("aws_s3_bucket.b", EffectAction.INVOKE)
    assert [(effect.address, effect.action) for effect in both][1] == ("aws_s3_object.o", EffectAction.DELETE)


def test_an_access_point_in_place_of_a_bucket_is_not_understood(effects_of: Callable[..., Any]) -> None:
    access_point = "arn:aws:s3:eu-west-1:123456789012:accesspoint/a"
    assert effects_of("s3", "DeleteObject", {"Bucket": access_point, "Key": "k"}, OBJECT) == ()
    assert effects_of("s3", "PutBucketPolicy", {"Bucket": access_point, "Policy": "{}"}, OBJECT) == ()


def test_bucket_tags_replace_all_tags(effects_of: Callable[..., Any], values: Callable[..., Any]) -> None:
    effects = effects_of(
        "s3", "PutBucketTagging", {"Bucket": "b", "Tagging": {"TagSet": [{"Key": "n", "Value": "1"}]}}, BUCKET
    )
    assert values(effects) == {"tags.old": None, "tags.n": "1"}


def test_grants_in_place_of_a_canned_acl_are_not_understood(effects_of: Callable[..., Any]) -> None:
    assert effects_of("s3", "PutBucketAcl", {"Bucket": "b", "GrantRead": "uri=http://acs/AllUsers"}, BUCKET) == ()


def test_lifecycle_rules_with_tags(effects_of: Callable[..., Any]) -> None:
    rules = [
        {"ID": "a", "Status": "Enabled", "Filter": {"Tag": {"Key": "k", "Value": "v"}}},
        {"ID": "b", "Status": "Enabled", "Filter": {"And": {"Prefix": "p/", "Tags": [{"Key": "k", "Value": "v"}]}}},
    ]
    parameters = {"Bucket": "b", "LifecycleConfiguration": {"Rules": rules}}
    effects = effects_of("s3", "PutBucketLifecycleConfiguration", parameters, BUCKET)
    assert [rule["filter"] for rule in effects[-1].value] == [
        [{"tag": [{"key": "k", "value": "v"}]}],
        [{"and": [{"prefix": "p/", "tags": {"k": "v"}}]}],
    ]


def test_a_public_access_block_resets_the_settings_that_it_omits(
    effects_of: Callable[..., Any], values: Callable[..., Any]
) -> None:
    block = {"bucket": "b", "block_public_acls": True, "block_public_policy": True, "restrict_public_buckets": False}
    given = {"Bucket": "b", "PublicAccessBlockConfiguration": {"BlockPublicAcls": True}}
    effects = effects_of("s3", "PutPublicAccessBlock", given, {"aws_s3_bucket_public_access_block.b": block})
    assert values(effects) == {"block_public_acls": True, "block_public_policy": False}


@pytest.mark.parametrize(
    "grants", [{"ACL": "public-read"}, {"GrantRead": "uri=http://acs.amazonaws.com/groups/global/AllUsers"}]
)
@pytest.mark.parametrize("operation", ["PutObject", "CopyObject", "CreateMultipartUpload"])
def test_an_object_with_grants_is_not_understood(effects_of: Callable[..., Any], operation: str, grants: Any) -> None:
    named = {"Bucket": "b", "Key": "k"}
    resources = {"aws_s3_bucket.b": {"bucket": "b"}}
    assert effects_of("s3", operation, named, resources)
    assert effects_of("s3", operation, {**named, **grants}, resources) == ()


def test_the_creation_of_a_bucket_that_exists_is_not_understood(effects_of: Callable[..., Any]) -> None:
    """Third audit: in us-east-1 AWS answers it with 200, and resets the bucket's access list."""
    assert effects_of("s3", "CreateBucket", {"Bucket": "b"}, BUCKET) == ()
    elsewhere = {"Bucket": "b", "CreateBucketConfiguration": {"LocationConstraint": "eu-west-1"}}
    assert effects_of("s3", "CreateBucket", elsewhere, BUCKET)
    (created, *_) = effects_of("s3", "CreateBucket", {"Bucket": "new"}, BUCKET)
    assert (created.address, created.action) == ("aws_s3_bucket{bucket=new}", EffectAction.CREATE)
    opened = effects_of("s3", "CreateBucket", {"Bucket": "new", "ACL": "public-read"}, BUCKET)
    assert [each.value for each in opened if each.attribute == "acl"] == ["public-read"]
