"""The operations of CloudFormation on stacks. What the templates make it do is unpacked in `gateway.effects.proxies.templates`."""

import re
from collections.abc import Mapping

from gateway.core.model.json import Json
from gateway.effects.call_context import CallContext, Target
from gateway.effects.operation import CREATE, DELETE, INVOKE, SET, Operation, Translate, controls
from gateway.effects.tags import all_tags
from gateway.effects.values import NotUnderstood

_STACK = "aws_cloudformation_stack"
_ARN = re.compile(r"stack/([A-Za-z0-9-]{1,128})/[A-Za-z0-9-]+")


def _name(context: CallContext, text: str) -> Mapping[str, str]:
    """The stack's name, from a name or an ARN (its id)."""
    if not text.startswith("arn:"):
        return {"name": text}
    found = _ARN.fullmatch(context.arn(text).resource)
    if found is None:
        raise NotUnderstood("not the ARN of a stack")
    return {"name": found[1]}


def _parameters(_target: Target, value: object) -> Mapping[str, Json]:
    """The values of the template's parameters. They may be secrets, so none of them is stored."""
    found: dict[str, Json] = {}
    for entry in value if isinstance(value, (list, tuple)) else [value]:
        if not isinstance(entry, Mapping) or not isinstance(text := entry.get("ParameterValue"), str):
            raise NotUnderstood("parameters of a stack that keep their value, or are in an unknown form")
        found[str(entry.get("ParameterKey"))] = text
    return {"parameters": found}


_ATTRIBUTES: Mapping[str, str | Translate] = {
    "Capabilities": "capabilities",
    "DisableRollback": "disable_rollback",
    "NotificationARNs": "notification_arns",
    "OnFailure": "on_failure",
    "Parameters": _parameters,
    "RoleARN": "iam_role_arn",
    "StackPolicyBody": "policy_body",
    "Tags": all_tags,
    "TemplateBody": "template_body",
    "TimeoutInMinutes": "timeout_in_minutes",
}
_SECRETS = frozenset({"parameters"})

OPERATIONS: Mapping[str, Operation] = {
    "CreateStack": Operation(
        resource_type=_STACK,
        identity={"StackName": _name},
        action=CREATE,
        attributes=_ATTRIBUTES,
        controls=controls("ClientRequestToken"),
        secrets=_SECRETS,
    ),
    "UpdateStack": Operation(
        resource_type=_STACK,
        identity={"StackName": _name},
        action=SET,
        attributes=_ATTRIBUTES,
        controls=controls("ClientRequestToken"),
        secrets=_SECRETS,
        obliged=frozenset({"TemplateBody", "Parameters"}),
    ),
    "CreateChangeSet": Operation(
        resource_type=_STACK,
        identity={"StackName": _name},
        action=INVOKE,
        controls=controls("ChangeSetName", "ChangeSetType", "ClientToken", "Description", "IncludeNestedStacks"),
        content=frozenset({"Capabilities", "Parameters", "RoleARN", "Tags", "TemplateBody"}),
    ),
    "DeleteStack": Operation(
        resource_type=_STACK,
        identity={"StackName": _name},
        action=DELETE,
        controls=controls("ClientRequestToken", "DeletionMode", "RoleARN"),
    ),
}
