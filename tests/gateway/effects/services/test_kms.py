"""Keys."""

from collections.abc import Callable
from typing import Any

RESOURCES = {"aws_kms_key.k": {"key_id": "1-2"}, "aws_kms_alias.a": {"name": "alias/a", "target_key_id": "1-2"}}


def test_operations_that_imply_a_value(effects_of: Callable[..., Any]) -> None:
    for operation, attribute, value in (
        ("EnableKeyRotation", "enable_key_rotation", True),
        ("DisableKeyRotation", "enable_key_rotation", False),
        ("DisableKey", "is_enabled", False),
    ):
        (effect,) = effects_of("kms", operation, {"KeyId": "alias/a"}, RESOURCES)
        assert (effect.address, effect.attribute, effect.value) == ("aws_kms_key.k", attribute, value)


def test_a_key_of_foreign_origin_or_another_policy_is_not_understood(effects_of: Callable[..., Any]) -> None:
    assert effects_of("kms", "CreateKey", {"Origin": "EXTERNAL"}, RESOURCES) == ()
    assert effects_of("kms", "PutKeyPolicy", {"KeyId": "1-2", "PolicyName": "other", "Policy": "{}"}, RESOURCES) == ()


def test_a_grant_is_found_by_the_key_as_the_code_names_it(effects_of: Callable[..., Any]) -> None:
    arn = "arn:aws:kms:eu-west-1:123456789012:key/1-2"
    key = {"aws_kms_key.k": {"key_id": "1-2", "arn": arn}}
    for written in ("1-2", arn):
        grants = {**key, "aws_kms_grant.g": {"key_id": written, "grant_id": "g"}}
        (effect,) = effects_of("kms", "RevokeGrant", {"KeyId": "1-2", "GrantId": "g"}, grants)
        assert (effect.address, effect.action.value) == ("aws_kms_grant.g", "delete")
        (other,) = effects_of("kms", "RevokeGrant", {"KeyId": "3-4", "GrantId": "g"}, grants)
        assert not other.declared
