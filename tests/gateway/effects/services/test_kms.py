"""Keys."""

from collections.abc import Callable
from typing import Any

THINGS = {"aws_kms_key.k": {"key_id": "1-2"}, "aws_kms_alias.a": {"name": "alias/a", "target_key_id": "1-2"}}


def test_operations_that_mean_a_value(ask: Callable[..., Any]) -> None:
    for operation, attribute, value in (
        ("EnableKeyRotation", "enable_key_rotation", True),
        ("DisableKeyRotation", "enable_key_rotation", False),
        ("DisableKey", "is_enabled", False),
    ):
        (effect,) = ask("kms", operation, {"KeyId": "alias/a"}, THINGS)
        assert (effect.address, effect.attribute, effect.value) == ("aws_kms_key.k", attribute, value)


def test_a_key_of_foreign_origin_or_a_grant_is_held(ask: Callable[..., Any]) -> None:
    assert ask("kms", "CreateKey", {"Origin": "EXTERNAL"}, THINGS) == ()
    assert ask("kms", "CreateGrant", {"KeyId": "1-2"}, THINGS) == ()
    assert ask("kms", "PutKeyPolicy", {"KeyId": "1-2", "PolicyName": "other", "Policy": "{}"}, THINGS) == ()
