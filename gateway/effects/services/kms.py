"""The operations of KMS."""

from collections.abc import Mapping
from functools import partial

from gateway.effects.call_context import CallContext
from gateway.effects.naming import kms_key
from gateway.effects.operation import CREATE, DELETE, INVOKE, Operation, any_value, controls
from gateway.effects.tags import set_tags, tag_rows
from gateway.effects.translators import ignored_if

_KEY = "aws_kms_key"
_ALIAS = "aws_kms_alias"
_ID = {"KeyId": kms_key}
_on_key = partial(Operation, resource_type=_KEY, identity=_ID)
_on_alias = partial(Operation, resource_type=_ALIAS, identity={"AliasName": "name"})


def _granted_key(context: CallContext, text: str) -> dict[str, str]:
    """The key of a grant, which the state records as the code writes it: as an id or as an ARN."""
    key = kms_key(context, text)["key_id"]
    arns = [
        str((context.inventory.recorded(each) or {}).get("arn")) for each in context.inventory.find(_KEY, "key_id", key)
    ]
    known = [each for each in (text, key, *arns) if context.inventory.find("aws_kms_grant", "key_id", each)]
    return {"key_id": known[0] if known else text}


OPERATIONS: Mapping[str, Operation] = {
    "CreateKey": Operation(
        resource_type=_KEY,
        action=CREATE,
        attributes={"KeySpec": "customer_master_key_spec", "Origin": ignored_if("AWS_KMS"), "Tags": set_tags},
    ),
    "ScheduleKeyDeletion": _on_key(action=DELETE, arguments={"PendingWindowInDays": any_value}),
    "CancelKeyDeletion": _on_key(action=INVOKE),
    "EnableKeyRotation": _on_key(constants={"enable_key_rotation": True}),
    "DisableKeyRotation": _on_key(constants={"enable_key_rotation": False}),
    "RotateKeyOnDemand": _on_key(action=INVOKE),
    "EnableKey": _on_key(constants={"is_enabled": True}),
    "DisableKey": _on_key(constants={"is_enabled": False}),
    "PutKeyPolicy": _on_key(
        attributes={"PolicyName": ignored_if("default")}, controls=controls("BypassPolicyLockoutSafetyCheck")
    ),
    "UpdateKeyDescription": _on_key(),
    **tag_rows(_KEY, _ID),
    "CreateAlias": _on_alias(action=CREATE),
    "UpdateAlias": _on_alias(),
    "DeleteAlias": _on_alias(action=DELETE),
    "RevokeGrant": Operation(
        resource_type="aws_kms_grant",
        identity={"GrantId": "grant_id", "KeyId": _granted_key},
        action=DELETE,
        controls=controls("DryRun"),
        other_types=(_KEY, _ALIAS),
    ),
}
