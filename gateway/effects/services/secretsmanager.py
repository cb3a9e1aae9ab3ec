"""The operations of Secrets Manager. An effect never carries a secret's value, only its hash."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from gateway.core.model.json import Json, to_json
from gateway.core.model.mutation import Effect
from gateway.effects.call_context import CallContext, Target
from gateway.effects.interpreter import interpret
from gateway.effects.naming import secret_id
from gateway.effects.operation import CREATE, DELETE, INVOKE, SET, Identify, Operation, any_value, controls
from gateway.effects.tags import set_tags, tag_rows
from gateway.effects.values import NotUnderstood

_SECRET = "aws_secretsmanager_secret"  # noqa: S105  a resource type
_VERSION = "aws_secretsmanager_secret_version"
_ROTATION = "aws_secretsmanager_secret_rotation"
_POLICY = "aws_secretsmanager_secret_policy"
_VALUES = {"SecretString": "secret_string", "SecretBinary": "secret_binary"}
_ID = {"SecretId": secret_id}
_on_secret = partial(Operation, resource_type=_SECRET, identity=_ID)
_NAME = {"Name": "name"}
_TOKEN = controls("ClientRequestToken")
_WITH_VALUE = _TOKEN | controls(*_VALUES)


def _arn_or_name(context: CallContext, name: str) -> str:
    """The value by which resources that belong to the secret refer to it: its ARN, or its name if the state does not record the secret."""
    return str(context.target(_SECRET, {"name": name}).recorded.get("arn") or name)


def _by_secret(attribute: str) -> Identify:
    def identify(context: CallContext, text: str) -> dict[str, str]:
        return {attribute: _arn_or_name(context, secret_id(context, text)["name"])}

    return identify


_on_policy = partial(
    Operation, resource_type=_POLICY, identity={"SecretId": _by_secret("secret_arn")}, other_types=(_SECRET,)
)


def _value(context: CallContext, name: str) -> tuple[Effect, ...]:
    """The effects of the secret's new value; none if the call has no value."""
    given: dict[str, Json] = {
        attribute: to_json(context.call.parameters[parameter])
        for parameter, attribute in _VALUES.items()
        if context.call.parameters.get(parameter) is not None
    }
    if not given:
        return ()
    target = context.target(_VERSION, {"secret_id": _arn_or_name(context, name)})
    action = SET if target.recorded else CREATE
    whole = () if target.recorded else (target.whole(CREATE),)
    return (*whole, *(target.put(key, value, action=action, secret=True) for key, value in given.items()))


def _for_good(_context: CallContext, target: Target, value: object) -> Json:
    """Whether the secret is deleted at once and for good, which its code must say: a recovery window of no days."""
    if value is not False and target.recorded.get("recovery_window_in_days") != 0:
        raise NotUnderstood("a deletion for good of a secret whose code has a recovery window")
    return to_json(value)


def _create(context: CallContext) -> tuple[Effect, ...]:
    return (*interpret(_CREATE, context), *_value(context, context.text("Name")))


def _update(context: CallContext) -> tuple[Effect, ...]:
    given = {name for name, value in context.call.parameters.items() if value is not None}
    attributes = interpret(_UPDATE, context) if given - _WITH_VALUE - {"SecretId"} else ()
    return (*attributes, *_value(context, secret_id(context, context.text("SecretId"))["name"]))


def _put_value(context: CallContext) -> tuple[Effect, ...]:
    context.allow_only("SecretId", "ClientRequestToken", "VersionStages", *_VALUES)
    return _value(context, secret_id(context, context.text("SecretId"))["name"])


_CREATE = Operation(
    resource_type=_SECRET,
    identity=_NAME,
    action=CREATE,
    attributes={"AddReplicaRegions": "replica", "Tags": set_tags},
    controls=_WITH_VALUE,
)
_UPDATE = _on_secret(controls=_WITH_VALUE)

OPERATIONS: Mapping[str, Operation] = {
    "CreateSecret": replace(_CREATE, handler=_create, other_types=(_VERSION,)),
    "UpdateSecret": replace(_UPDATE, handler=_update, other_types=(_VERSION,)),
    "PutSecretValue": Operation(resource_type=_VERSION, other_types=(_SECRET,), handler=_put_value),
    "DeleteSecret": _on_secret(
        action=DELETE, arguments={"ForceDeleteWithoutRecovery": _for_good, "RecoveryWindowInDays": any_value}
    ),
    "RestoreSecret": _on_secret(action=INVOKE),
    "RotateSecret": Operation(
        resource_type=_ROTATION,
        other_types=(_SECRET,),
        identity={"SecretId": _by_secret("secret_id")},
        attributes={"RotationLambdaARN": "rotation_lambda_arn"},
        controls=_TOKEN,
        upserts=True,
        obliged=frozenset(),
    ),
    "PutResourcePolicy": _on_policy(attributes={"ResourcePolicy": "policy"}, upserts=True),
    "DeleteResourcePolicy": _on_policy(action=DELETE),
    **tag_rows(_SECRET, _ID),
}
