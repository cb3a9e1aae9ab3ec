"""The operations of Lambda. An effect carries the hash of the code as the provider does (`source_code_hash`), never its bytes."""

import base64
import hashlib
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from gateway.core.model.json import Json
from gateway.core.model.mutation import Effect, EffectAction
from gateway.effects.call_context import CallContext, Target
from gateway.effects.interpreter import effects_on
from gateway.effects.operation import CREATE, DELETE, INVOKE, SET, Operation, Translate, any_value, controls
from gateway.effects.tags import set_tags, tag_rows
from gateway.effects.values import NotUnderstood

_FUNCTION = "aws_lambda_function"
_PERMISSION = "aws_lambda_permission"
_ALIAS = "aws_lambda_alias"
_MAPPING = "aws_lambda_event_source_mapping"
_on_mapping = partial(Operation, resource_type=_MAPPING, identity={"UUID": "uuid"})
_URL = "aws_lambda_function_url"
_PROVISIONED = "aws_lambda_provisioned_concurrency_config"
_QUALIFIER = {"Qualifier": "qualifier"}
_FUNCTION_NAME = re.compile(
    r"(?:arn:aws[a-zA-Z-]*:lambda:)?"
    r"(?:(?P<region>(?:eusc-)?[a-z]{2}(?:-gov|-iso[a-z]?)?-[a-z]+-\d):)?(?:(?P<account>\d{12}):)?(?:function:)?"
    r"(?P<name>[a-zA-Z0-9._-]+)(?::(?P<qualifier>\$LATEST(?:\.PUBLISHED)?|[a-zA-Z0-9_-]+))?",
    re.ASCII,
)
"""AWS's own pattern of FunctionName: each part before the name may be left out, and what is there says where the function is."""


def _name_and_qualifier(context: CallContext, text: str) -> tuple[str, str]:
    """The function's name and qualifier (empty if it has none), from a name, a partial ARN or a full ARN. Raises `NotUnderstood`."""
    if text.startswith("arn:"):
        context.arn(text)
    found = _FUNCTION_NAME.fullmatch(text)
    if found is None:
        raise NotUnderstood("not a valid function name")
    context.require_here(found["account"] or "", found["region"] or "")
    return found["name"], found["qualifier"] or ""


def _function(context: CallContext, text: str) -> dict[str, str]:
    return {"function_name": _name_and_qualifier(context, text)[0]}


def _as_given(context: CallContext, text: str) -> dict[str, str]:
    """The function as the call writes it, which is how a mapping's state records it."""
    _name_and_qualifier(context, text)
    return {"function_name": text}


def _unqualified(context: CallContext, text: str) -> dict[str, str]:
    name, qualifier = _name_and_qualifier(context, text)
    if qualifier:
        raise NotUnderstood("a qualified function where the function itself is expected")
    return {"function_name": name}


def _qualifier(context: CallContext, _target: Target, value: object) -> Json:
    """The version or alias. Raises `NotUnderstood` if the function's name carries another one."""
    named = _name_and_qualifier(context, context.text("FunctionName"))[1]
    if not isinstance(value, str) or named not in ("", value):
        raise NotUnderstood("two different qualifiers")
    return value


def _code_hash(_target: Target, value: object) -> Mapping[str, Json]:
    if not isinstance(value, (bytes, bytearray)):
        raise NotUnderstood("code that is not bytes")
    return {"source_code_hash": base64.b64encode(hashlib.sha256(value).digest()).decode()}


def _is_function(context: CallContext, recorded: Json, name: str) -> bool:
    """Whether a recorded name or ARN is that of the function `name` where the call goes."""
    try:
        return _name_and_qualifier(context, str(recorded))[0] == name
    except NotUnderstood:
        return False


def _child(context: CallContext, resource_type: str, members: Mapping[str, str]) -> Target:
    """A resource that belongs to a function. Its state may record the function by name or by ARN.

    `members` maps the parameters that identify it within the function to their attributes.
    """
    name, qualifier = _name_and_qualifier(context, context.text("FunctionName"))
    identity = {attribute: context.text(parameter) for parameter, attribute in members.items()}
    given = str(context.call.parameters.get("Qualifier") or qualifier)
    if qualifier and given != qualifier:
        raise NotUnderstood("two different qualifiers")
    if resource_type == _ALIAS:
        if qualifier:
            raise NotUnderstood("an alias of a version")
    elif given:
        # What belongs to an alias or version is another resource than what belongs to the function.
        identity["qualifier"] = given

    def fits(recorded: Mapping[str, Json]) -> bool:
        matches = all(str(recorded.get(attribute)) == value for attribute, value in identity.items())
        same = resource_type == _ALIAS or str(recorded.get("qualifier") or "") == given
        return matches and same and _is_function(context, recorded.get("function_name"), name)

    whole = {**identity, "function_name": name}
    return context.target_where(resource_type, whole, next(iter(whole)), fits)


def _child_row(
    resource_type: str,
    action: EffectAction,
    members: Mapping[str, str],
    attributes: Mapping[str, str | Translate] | None = None,
    *,
    upserts: bool = False,
) -> Operation:
    """A row for a resource that belongs to a function, see `_child` for `members`."""
    return Operation(
        resource_type=resource_type,
        identity={"FunctionName": "function_name", **members, **({} if resource_type == _ALIAS else _QUALIFIER)},
        find_target=lambda context: _child(context, resource_type, members),
        action=action,
        attributes=attributes or {},
        controls=controls("RevisionId"),
        upserts=upserts,
    )


_OPENING = {"StatementId": "FunctionURLAllowPublicAccess", "FunctionUrlAuthType": "NONE", "Principal": "*"}
"""The permission that opens a function's URL to everybody. Terraform's provider sends it with `authorization_type = "NONE"`."""


def _add_permission(context: CallContext) -> tuple[Effect, ...]:
    """AddPermission. If it opens a declared URL and is not declared itself, it is what the URL's authorization type stands for."""
    effects = tuple(effects_on(_ADDED, context, _child(context, _PERMISSION, _STATEMENT)))
    opens = all(context.call.parameters.get(name) == value for name, value in _OPENING.items())
    if not opens or effects[0].declared:
        return effects
    url = _child(context, _URL, {})
    if not url.recorded:
        return effects
    return (url.put("authorization_type", "NONE"), *(replace(effect, implied=True) for effect in effects))


_on_function = partial(Operation, resource_type=_FUNCTION, identity={"FunctionName": _unqualified})
_on_version = partial(Operation, resource_type=_FUNCTION, identity={"FunctionName": _function})
_BY_ARN = {"Resource": _unqualified}
_INVOKED = _on_version(
    action=INVOKE,
    arguments={"InvocationType": any_value, "Qualifier": _qualifier},
    content=frozenset({"ClientContext", "InvokeArgs", "LogType", "Payload"}),
)
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

_CORS: Mapping[str, Json] = {
    "cors.allow_credentials": False, "cors.allow_headers": [], "cors.allow_methods": [], "cors.allow_origins": [],
    "cors.expose_headers": [], "cors.max_age": 0,
}  # fmt: skip

_ADDED = _child_row(_PERMISSION, CREATE, _STATEMENT)

OPERATIONS: Mapping[str, Operation] = {
    "CreateFunction": _on_function(action=CREATE, attributes=_ATTRIBUTES),
    "UpdateFunctionConfiguration": _on_function(
        attributes=_ATTRIBUTES,
        controls=controls("RevisionId"),
        overwrites={
            "ImageConfig": {
                "image_config.command": [],
                "image_config.entry_point": [],
                "image_config.working_directory": "",
            },
            "VpcConfig": {"vpc_config.security_group_ids": [], "vpc_config.subnet_ids": []},
        },
    ),
    "UpdateFunctionCode": _on_function(attributes=_ATTRIBUTES, controls=controls("RevisionId", "DryRun")),
    "DeleteFunction": _on_version(action=DELETE, arguments={"Qualifier": _qualifier}),
    "PutFunctionConcurrency": _on_function(),
    "DeleteFunctionConcurrency": _on_function(constants={"reserved_concurrent_executions": -1}),
    "PublishVersion": _on_function(action=INVOKE, controls=controls("CodeSha256", "Description", "RevisionId")),
    "Invoke": _INVOKED,
    "InvokeAsync": _INVOKED,
    "InvokeWithResponseStream": _INVOKED,
    **tag_rows(_FUNCTION, _BY_ARN),
    "AddPermission": Operation(resource_type=_PERMISSION, other_types=(_URL,), handler=_add_permission),
    "RemovePermission": _child_row(_PERMISSION, DELETE, _STATEMENT),
    "CreateAlias": _child_row(_ALIAS, CREATE, _NAME),
    "UpdateAlias": _child_row(_ALIAS, SET, _NAME),
    "DeleteAlias": _child_row(_ALIAS, DELETE, _NAME),
    "PutProvisionedConcurrencyConfig": _child_row(_PROVISIONED, SET, _QUALIFIER, upserts=True),
    "DeleteProvisionedConcurrencyConfig": _child_row(_PROVISIONED, DELETE, _QUALIFIER),
    "CreateFunctionUrlConfig": _child_row(_URL, CREATE, {}, _AUTH),
    "UpdateFunctionUrlConfig": replace(_child_row(_URL, SET, {}, _AUTH), overwrites={"Cors": _CORS}),
    "DeleteFunctionUrlConfig": _child_row(_URL, DELETE, {}),
    "CreateEventSourceMapping": Operation(
        resource_type=_MAPPING,
        identity={"EventSourceArn": "event_source_arn", "FunctionName": _as_given},
        action=CREATE,
        attributes=_MAPPING_ATTRIBUTES,
    ),
    "UpdateEventSourceMapping": _on_mapping(attributes=_MAPPING_ATTRIBUTES),
    "DeleteEventSourceMapping": _on_mapping(action=DELETE),
}
