"""The operations of IAM. A policy document is kept as the text in the call. Names are unique in an account, whatever the path."""

from collections.abc import Mapping

from gateway.core.model.mutation import Effect, EffectAction
from gateway.effects.call_context import CallContext
from gateway.effects.operation import Operation, Translate, any_value
from gateway.effects.tags import drop_tags, set_tags
from gateway.effects.values import NotUnderstood

_CREATE, _DELETE = EffectAction.CREATE, EffectAction.DELETE
_POLICY = "aws_iam_policy"
_PROFILE = "aws_iam_instance_profile"


def _policy(context: CallContext, text: str) -> dict[str, str]:
    """A policy's name, from its ARN. AWS managed policies cannot be changed, so a call that tries is not understood."""
    arn = context.arn(text)
    if arn.account == "aws":
        raise NotUnderstood("an AWS managed policy")
    return {"name": arn.name}


def _create_version(context: CallContext) -> tuple[Effect, ...]:
    """CreatePolicyVersion changes the policy only if the new version becomes the default."""
    context.allow_only("PolicyArn", "PolicyDocument", "SetAsDefault")
    target = context.target(_POLICY, _policy(context, context.text("PolicyArn")))
    if context.call.parameters.get("SetAsDefault") is True:
        return (target.put("policy", context.text("PolicyDocument")),)
    return (target.whole(EffectAction.INVOKE),)


_DOCUMENT: Mapping[str, str | Translate] = {"PolicyDocument": "policy"}
_ROLE = {"RoleName": "name"}
_USER = {"UserName": "name"}
_PROFILE_NAME = {"InstanceProfileName": "name"}
_BY_ARN = {"PolicyArn": _policy}


def _principal(kind: str, parameter: str, name: Mapping[str, str], create: Mapping[str, str]) -> dict[str, Operation]:
    """The rows that roles and users have in common: create, delete, inline policies, attachments, permissions boundary, tags.

    `create` holds the attributes that only the creation has.
    """
    resource, noun = f"aws_iam_{kind}", kind.capitalize()
    inline = {parameter: kind, "PolicyName": "name"}
    attached = {parameter: kind, "PolicyArn": "policy_arn"}
    return {
        f"Create{noun}": Operation(
            resource_type=resource, identity=name, action=_CREATE, attributes={**create, "Tags": set_tags}
        ),
        f"Delete{noun}": Operation(resource_type=resource, identity=name, action=_DELETE),
        f"Tag{noun}": Operation(resource_type=resource, identity=name, attributes={"Tags": set_tags}),
        f"Untag{noun}": Operation(resource_type=resource, identity=name, attributes={"TagKeys": drop_tags}),
        f"Put{noun}PermissionsBoundary": Operation(resource_type=resource, identity=name),
        f"Delete{noun}PermissionsBoundary": Operation(
            resource_type=resource, identity=name, constants={"permissions_boundary": None}
        ),
        f"Put{noun}Policy": Operation(
            resource_type=f"{resource}_policy", identity=inline, attributes=_DOCUMENT, upserts=True
        ),
        f"Delete{noun}Policy": Operation(resource_type=f"{resource}_policy", identity=inline, action=_DELETE),
        f"Attach{noun}Policy": Operation(
            resource_type=f"{resource}_policy_attachment", identity=attached, action=_CREATE
        ),
        f"Detach{noun}Policy": Operation(
            resource_type=f"{resource}_policy_attachment", identity=attached, action=_DELETE
        ),
    }


OPERATIONS: Mapping[str, Operation] = {
    **_principal("role", "RoleName", _ROLE, {"AssumeRolePolicyDocument": "assume_role_policy"}),
    **_principal("user", "UserName", _USER, {}),
    # A call without the longest session sets it to an hour (IAM API reference, UpdateRole).
    "UpdateRole": Operation(resource_type="aws_iam_role", identity=_ROLE, defaults={"max_session_duration": 3600}),
    "UpdateRoleDescription": Operation(resource_type="aws_iam_role", identity=_ROLE),
    "UpdateAssumeRolePolicy": Operation(
        resource_type="aws_iam_role", identity=_ROLE, attributes={"PolicyDocument": "assume_role_policy"}
    ),
    "CreatePolicy": Operation(
        resource_type=_POLICY,
        identity={"PolicyName": "name"},
        action=_CREATE,
        attributes={**_DOCUMENT, "Tags": set_tags},
    ),
    "DeletePolicy": Operation(resource_type=_POLICY, identity=_BY_ARN, action=_DELETE),
    "CreatePolicyVersion": Operation(resource_type=_POLICY, handler=_create_version),
    "SetDefaultPolicyVersion": Operation(
        resource_type=_POLICY,
        identity=_BY_ARN,
        action=EffectAction.INVOKE,
        after_unknown=("policy",),
        arguments={"VersionId": any_value},
    ),
    "DeletePolicyVersion": Operation(
        resource_type=_POLICY, identity=_BY_ARN, action=EffectAction.INVOKE, arguments={"VersionId": any_value}
    ),
    "TagPolicy": Operation(resource_type=_POLICY, identity=_BY_ARN, attributes={"Tags": set_tags}),
    "UntagPolicy": Operation(resource_type=_POLICY, identity=_BY_ARN, attributes={"TagKeys": drop_tags}),
    "CreateInstanceProfile": Operation(
        resource_type=_PROFILE, identity=_PROFILE_NAME, action=_CREATE, attributes={"Tags": set_tags}
    ),
    "DeleteInstanceProfile": Operation(resource_type=_PROFILE, identity=_PROFILE_NAME, action=_DELETE),
    "AddRoleToInstanceProfile": Operation(
        resource_type=_PROFILE, identity=_PROFILE_NAME, attributes={"RoleName": "role"}
    ),
    "RemoveRoleFromInstanceProfile": Operation(
        resource_type=_PROFILE, identity=_PROFILE_NAME, attributes={"RoleName": lambda _target, _role: {"role": None}}
    ),
    "TagInstanceProfile": Operation(resource_type=_PROFILE, identity=_PROFILE_NAME, attributes={"Tags": set_tags}),
    "UntagInstanceProfile": Operation(
        resource_type=_PROFILE, identity=_PROFILE_NAME, attributes={"TagKeys": drop_tags}
    ),
    "CreateServiceLinkedRole": Operation(
        resource_type="aws_iam_service_linked_role",
        identity={"AWSServiceName": "aws_service_name", "CustomSuffix": "custom_suffix"},
        action=_CREATE,
    ),
}
