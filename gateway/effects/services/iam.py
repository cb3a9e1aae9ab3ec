"""The operations of IAM. A policy document is kept as the text in the call. Names are unique in an account, whatever the path."""

from collections.abc import Callable, Mapping
from functools import partial

from gateway.core.model.mutation import Effect
from gateway.effects.call_context import CallContext, Target
from gateway.effects.operation import CREATE, DELETE, INVOKE, Operation, Translate, any_value
from gateway.effects.tags import set_tags, tag_rows
from gateway.effects.translators import added, as_list, removed
from gateway.effects.values import NotUnderstood

_POLICY = "aws_iam_policy"
_PROFILE = "aws_iam_instance_profile"
_MEMBERS, _MEMBERSHIPS = "aws_iam_group_membership", "aws_iam_user_group_membership"


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
    return (target.whole(INVOKE),)


_DOCUMENT: Mapping[str, str | Translate] = {"PolicyDocument": "policy"}
_ROLE = {"RoleName": "name"}
_on_role = partial(Operation, resource_type="aws_iam_role", identity=_ROLE)
_USER = {"UserName": "name"}
_PROFILE_NAME = {"InstanceProfileName": "name"}
_on_profile = partial(Operation, resource_type=_PROFILE, identity=_PROFILE_NAME)
_BY_ARN = {"PolicyArn": _policy}
_on_policy = partial(Operation, resource_type=_POLICY, identity=_BY_ARN)


def _principal(kind: str, parameter: str, name: Mapping[str, str], create: Mapping[str, str]) -> dict[str, Operation]:
    """The rows that roles and users have in common: create, delete, inline policies, attachments, permissions boundary, tags.

    `create` holds the attributes that only the creation has.
    """
    resource, noun = f"aws_iam_{kind}", kind.capitalize()
    inline = {parameter: kind, "PolicyName": "name"}
    attached = {parameter: kind, "PolicyArn": "policy_arn"}
    return {
        f"Create{noun}": Operation(
            resource_type=resource, identity=name, action=CREATE, attributes={**create, "Tags": set_tags}
        ),
        f"Delete{noun}": Operation(resource_type=resource, identity=name, action=DELETE),
        **tag_rows(resource, name, tag=f"Tag{noun}", untag=f"Untag{noun}"),
        f"Put{noun}PermissionsBoundary": Operation(resource_type=resource, identity=name),
        f"Delete{noun}PermissionsBoundary": Operation(
            resource_type=resource, identity=name, constants={"permissions_boundary": None}
        ),
        f"Put{noun}Policy": Operation(
            resource_type=f"{resource}_policy", identity=inline, attributes=_DOCUMENT, upserts=True
        ),
        f"Delete{noun}Policy": Operation(resource_type=f"{resource}_policy", identity=inline, action=DELETE),
        f"Attach{noun}Policy": Operation(
            resource_type=f"{resource}_policy_attachment", identity=attached, action=CREATE
        ),
        f"Detach{noun}Policy": Operation(
            resource_type=f"{resource}_policy_attachment", identity=attached, action=DELETE
        ),
    }


def _membership(change: Callable[[str], Translate]) -> Operation:
    """A row that adds a user to a group or removes one, in the resource that declares the memberships of the group, or else of the user."""

    def handler(context: CallContext) -> tuple[Effect, ...]:
        context.allow_only("GroupName", "UserName")
        group, user = context.text("GroupName"), context.text("UserName")
        forms = (
            (context.target(_MEMBERS, {"group": group}), "users", user),
            (_memberships_of(context, user, group), "groups", group),
        )
        found = [(target, attribute, name) for target, attribute, name in forms if target.declared]
        if len(found) != 1:
            raise NotUnderstood("no code, or more than one block, declares who is in the group")
        target, attribute, name = found[0]
        return target.put_all(change(attribute)(target, [name]))

    return Operation(resource_type=_MEMBERS, other_types=(_MEMBERSHIPS,), handler=handler)


def _memberships_of(context: CallContext, user: str, group: str) -> Target:
    """The resource for the user's memberships, of several the one that has the group already."""
    found = [each for each in context.inventory.find(_MEMBERSHIPS, "user", user) if context.is_here(each)]
    having = [each for each in found if group in as_list((context.inventory.recorded(each) or {}).get("groups"))]
    return context.target_among(_MEMBERSHIPS, {"user": user}, tuple(having or found))


OPERATIONS: Mapping[str, Operation] = {
    **_principal("role", "RoleName", _ROLE, {"AssumeRolePolicyDocument": "assume_role_policy"}),
    **_principal("user", "UserName", _USER, {}),
    # A call without the longest session sets it to an hour (IAM API reference, UpdateRole).
    "UpdateRole": _on_role(defaults={"max_session_duration": 3600}),
    "UpdateRoleDescription": _on_role(),
    "UpdateAssumeRolePolicy": _on_role(attributes={"PolicyDocument": "assume_role_policy"}),
    "CreatePolicy": Operation(
        resource_type=_POLICY,
        identity={"PolicyName": "name"},
        action=CREATE,
        attributes={**_DOCUMENT, "Tags": set_tags},
    ),
    "DeletePolicy": _on_policy(action=DELETE),
    "CreatePolicyVersion": Operation(resource_type=_POLICY, handler=_create_version),
    "SetDefaultPolicyVersion": _on_policy(action=INVOKE, after_unknown=("policy",), arguments={"VersionId": any_value}),
    "DeletePolicyVersion": _on_policy(action=INVOKE, arguments={"VersionId": any_value}),
    **tag_rows(_POLICY, _BY_ARN, tag="TagPolicy", untag="UntagPolicy"),
    "AddUserToGroup": _membership(added),
    "RemoveUserFromGroup": _membership(removed),
    "CreateInstanceProfile": _on_profile(action=CREATE, attributes={"Tags": set_tags}),
    "DeleteInstanceProfile": _on_profile(action=DELETE),
    "AddRoleToInstanceProfile": _on_profile(attributes={"RoleName": "role"}),
    "RemoveRoleFromInstanceProfile": _on_profile(attributes={"RoleName": lambda _target, _role: {"role": None}}),
    **tag_rows(_PROFILE, _PROFILE_NAME, tag="TagInstanceProfile", untag="UntagInstanceProfile"),
    "DeleteServiceLinkedRole": Operation(
        resource_type="aws_iam_service_linked_role", identity={"RoleName": "name"}, action=DELETE
    ),
    "CreateServiceLinkedRole": Operation(
        resource_type="aws_iam_service_linked_role",
        identity={"AWSServiceName": "aws_service_name", "CustomSuffix": "custom_suffix"},
        action=CREATE,
    ),
}
