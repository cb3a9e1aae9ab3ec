"""The operations of KMS."""

from collections.abc import Mapping

from gateway.core.model.mutation import EffectAction
from gateway.effects.naming import kms_key
from gateway.effects.operation import Operation, any_value, controls
from gateway.effects.tags import drop_tags, set_tags
from gateway.effects.translators import ignored_if

_KEY = "aws_kms_key"
_ALIAS = "aws_kms_alias"
_ID = {"KeyId": kms_key}
_NAME = {"AliasName": "name"}

OPERATIONS: Mapping[str, Operation] = {
    "CreateKey": Operation(
        resource_type=_KEY,
        action=EffectAction.CREATE,
        attributes={
            "KeySpec": "customer_master_key_spec",
            "Origin": ignored_if("AWS_KMS"),
            "Tags": set_tags,
        },
    ),
    "ScheduleKeyDeletion": Operation(
        resource_type=_KEY, identity=_ID, action=EffectAction.DELETE, arguments={"PendingWindowInDays": any_value}
    ),
    "CancelKeyDeletion": Operation(resource_type=_KEY, identity=_ID, action=EffectAction.INVOKE),
    "EnableKeyRotation": Operation(resource_type=_KEY, identity=_ID, constants={"enable_key_rotation": True}),
    "DisableKeyRotation": Operation(resource_type=_KEY, identity=_ID, constants={"enable_key_rotation": False}),
    "RotateKeyOnDemand": Operation(resource_type=_KEY, identity=_ID, action=EffectAction.INVOKE),
    "EnableKey": Operation(resource_type=_KEY, identity=_ID, constants={"is_enabled": True}),
    "DisableKey": Operation(resource_type=_KEY, identity=_ID, constants={"is_enabled": False}),
    "PutKeyPolicy": Operation(
        resource_type=_KEY,
        identity=_ID,
        attributes={"PolicyName": ignored_if("default")},
        controls=controls("BypassPolicyLockoutSafetyCheck"),
    ),
    "UpdateKeyDescription": Operation(resource_type=_KEY, identity=_ID),
    "TagResource": Operation(resource_type=_KEY, identity=_ID, attributes={"Tags": set_tags}),
    "UntagResource": Operation(resource_type=_KEY, identity=_ID, attributes={"TagKeys": drop_tags}),
    "CreateAlias": Operation(resource_type=_ALIAS, identity=_NAME, action=EffectAction.CREATE),
    "UpdateAlias": Operation(resource_type=_ALIAS, identity=_NAME),
    "DeleteAlias": Operation(resource_type=_ALIAS, identity=_NAME, action=EffectAction.DELETE),
}
