"""What Lambda's operations do. Code is known by the hash that the provider keeps (`source_code_hash`), never by its bytes."""

import base64
import hashlib
import re
from collections.abc import Mapping
from dataclasses import replace

from gateway.effects.context import CallContext, Target
from gateway.effects.interpreter import effects_on
from gateway.effects.operation import Operation, Translate, controls
from gateway.effects.tags import drop_tags, set_tags
from gateway.effects.values import NotUnderstood
from gateway.model.json import Json
from gateway.model.mutation import EffectAction

_FUNCTION = "aws_lambda_function"
_PERMISSION = "aws_lambda_permission"
_ALIAS = "aws_lambda_alias"
_MAPPING = "aws_lambda_event_source_mapping"
_URL = "aws_lambda_function_url"
_PROVISIONED = "aws_lambda_provisioned_concurrency_config"
_NAMED = re.compile(r"(?:arn:[\w-]+:lambda:)?(?:[a-z]{2}-[\w-]+:)?(?:\d{12}:)?(?:function:)?([\w-]+)(?::([\w$-]+))?")


def _parts(context: CallContext, text: str) -> tuple[str, str]:
    """Name and qualifier, from a name, a partial or a whole ARN. Raises `NotUnderstood`."""
    if text.startswith("arn:"):
        context.arn(text)
    found = _NAMED.fullmatch(text)
    if found is None or (context.account and text[:12].isdigit() and not text.startswith(context.account)):
        raise NotUnderstood("a function name that is none")
    return found[1], found[2] or ""


def _function(context: CallContext, text: str) -> dict[str, str]:
    return {"function_name": _parts(context, text)[0]}


def _unqualified(context: CallContext, text: str) -> dict[str, str]:
    name, qualifier = _parts(context, text)
    if qualifier:
        raise NotUnderstood("a qualified function where the function itself is expected")
    return {"function_name": name}


def _code_hash(_target: Target, value: object) -> Mapping[str, Json]:
    if not isinstance(value, (bytes, bytearray)):
        raise NotUnderstood("code that is no bytes")
    return {"source_code_hash": base64.b64encode(hashlib.sha256(value).digest()).decode()}


def _same(recorded: Json, name: str) -> bool:
    found = _NAMED.fullmatch(str(recorded))
    return found is not None and found[1] == name


def _child(context: CallContext, resource_type: str, members: Mapping[str, str]) -> Target:
    """A thing that a function has, whose state may name the function by name or by ARN."""
    name, qualifier = _parts(context, context.text("FunctionName"))
    identity = {attribute: context.text(parameter) for parameter, attribute in members.items()}
    if qualifier and identity.get("qualifier", qualifier) != qualifier:
        raise NotUnderstood("two qualifiers")

    def fits(recorded: Mapping[str, Json]) -> bool:
        own = all(str(recorded.get(attribute)) == value for attribute, value in identity.items())
        return own and _same(recorded.get("function_name"), name)

    if not identity:
        return context.target(resource_type, {"function_name": name})
    return context.target_where(resource_type, {**identity, "function_name": name}, next(iter(identity)), fits)


def _owned(
    resource_type: str,
    action: EffectAction,
    members: Mapping[str, str],
    attributes: Mapping[str, str | Translate] | None = None,
    *,
    upserts: bool = False,
) -> Operation:
    """An operation on a thing that a function has, known by the function and by these parameters → attributes."""
    row = Operation(
        resource_type=resource_type,
        identity={"FunctionName": "function_name", **members},
        action=action,
        attributes=attributes or {},
        controls=controls("RevisionId"),
        upserts=upserts,
    )
    return replace(
        row, handler=lambda context: tuple(effects_on(row, context, _child(context, resource_type, members)))
    )


_CREATE, _SET, _DELETE, _INVOKE = EffectAction.CREATE, EffectAction.SET, EffectAction.DELETE, EffectAction.INVOKE
_OWN = {"FunctionName": _unqualified}
_ANY = {"FunctionName": _function}
_BY_ARN = {"Resource": _unqualified}
_ATTRIBUTES: Mapping[str, str | Translate] = {
    "Code.ZipFile": _code_hash,
    "FileSystemConfigs.Arn": "file_system_config.arn",
    "ImageConfig": "image_config",
    "Tags": set_tags,
    "ZipFile": _code_hash,
}
_MAPPING_ATTRIBUTES: Mapping[str, str | Translate] = {
    "DestinationConfig.OnFailure.Destination": "destination_config.on_failure.destination_arn",
    "Tags": set_tags,
}
_STATEMENT = {"StatementId": "statement_id"}
_NAME = {"Name": "name"}
_AUTH = {"AuthType": "authorization_type"}
_QUALIFIER = {"Qualifier": "qualifier"}

OPERATIONS: Mapping[str, Operation] = {
    "CreateFunction": Operation(resource_type=_FUNCTION, identity=_OWN, action=_CREATE, attributes=_ATTRIBUTES),
    "UpdateFunctionConfiguration": Operation(
        resource_type=_FUNCTION, identity=_OWN, attributes=_ATTRIBUTES, controls=controls("RevisionId")
    ),
    "UpdateFunctionCode": Operation(
        resource_type=_FUNCTION, identity=_OWN, attributes=_ATTRIBUTES, controls=controls("RevisionId", "DryRun")
    ),
    "DeleteFunction": Operation(resource_type=_FUNCTION, identity=_ANY, action=_DELETE),
    "PutFunctionConcurrency": Operation(resource_type=_FUNCTION, identity=_OWN),
    "DeleteFunctionConcurrency": Operation(
        resource_type=_FUNCTION, identity=_OWN, constants={"reserved_concurrent_executions": -1}
    ),
    "PublishVersion": Operation(resource_type=_FUNCTION, identity=_OWN, action=_INVOKE),
    "Invoke": Operation(resource_type=_FUNCTION, identity=_ANY, action=_INVOKE),
    "InvokeAsync": Operation(resource_type=_FUNCTION, identity=_ANY, action=_INVOKE),
    "InvokeWithResponseStream": Operation(resource_type=_FUNCTION, identity=_ANY, action=_INVOKE),
    "TagResource": Operation(resource_type=_FUNCTION, identity=_BY_ARN, attributes={"Tags": set_tags}),
    "UntagResource": Operation(resource_type=_FUNCTION, identity=_BY_ARN, attributes={"TagKeys": drop_tags}),
    "AddPermission": _owned(_PERMISSION, _CREATE, _STATEMENT),
    "RemovePermission": _owned(_PERMISSION, _DELETE, _STATEMENT),
    "CreateAlias": _owned(_ALIAS, _CREATE, _NAME),
    "UpdateAlias": _owned(_ALIAS, _SET, _NAME),
    "DeleteAlias": _owned(_ALIAS, _DELETE, _NAME),
    "PutProvisionedConcurrencyConfig": _owned(_PROVISIONED, _SET, _QUALIFIER, upserts=True),
    "DeleteProvisionedConcurrencyConfig": _owned(_PROVISIONED, _DELETE, _QUALIFIER),
    "CreateFunctionUrlConfig": _owned(_URL, _CREATE, {}, _AUTH),
    "UpdateFunctionUrlConfig": _owned(_URL, _SET, {}, _AUTH),
    "DeleteFunctionUrlConfig": _owned(_URL, _DELETE, {}),
    "CreateEventSourceMapping": Operation(
        resource_type=_MAPPING,
        identity={"EventSourceArn": "event_source_arn", "FunctionName": "function_name"},
        action=_CREATE,
        attributes=_MAPPING_ATTRIBUTES,
    ),
    "UpdateEventSourceMapping": Operation(
        resource_type=_MAPPING, identity={"UUID": "uuid"}, attributes=_MAPPING_ATTRIBUTES
    ),
    "DeleteEventSourceMapping": Operation(resource_type=_MAPPING, identity={"UUID": "uuid"}, action=_DELETE),
}
