"""Knows the planned values that the provider writes in another form: inside a document, in blocks under their names, as a digest, or as a default."""

import base64
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from gateway.core.model.json import Json, is_list, to_json
from gateway.core.model.mutation import Call, EffectAction
from gateway.core.model.plan import PlannedAction
from gateway.core.model.plan_session import UsedChange
from gateway.effects.schema import snake
from gateway.plans.planned_values import PlannedResource, same

_TAKES_AWAY: Final = (PlannedAction.DELETE, PlannedAction.REPLACE)
_DEFAULT_CALLS: Final[Mapping[tuple[str, str], Mapping[str, Json]]] = {
    ("aws_ecr_registry_scanning_configuration", "ecr:PutRegistryScanningConfiguration"): {
        "rules": [],
        "scanType": "BASIC",
    },
}
"""Type and operation → the parameters by which the provider deletes what an account always has: those of a new account."""
_NO_VALUES: Final[Mapping[tuple[str, str], tuple[str, str]]] = {
    ("aws_kinesis_firehose_delivery_stream", "NoEncryptionConfig"): ("NoEncryption", "kms_key_arn"),
}
"""Type and parameter → what the provider sends where an attribute has no value, and the attribute."""
_DIGESTED: Final[Mapping[tuple[str, str], tuple[str, str]]] = {
    ("aws_lambda_layer_version", "Content.ZipFile"): ("source_code_hash", "filename"),
}
"""Type and parameter with the content of a file → the attributes with its SHA-256 in base 64, and with its path."""
_VERSIONED: Final[Mapping[str, tuple[str, str, str]]] = {
    "ssm:UpdateDocumentDefaultVersion": ("ssm:UpdateDocument", "DocumentVersion", "latest_version"),
}
"""Operation that chooses a version → the one that makes versions, the parameter with the chosen one, and the attribute with the last one."""
_NAMED_BY_A_BLOCK: Final[Mapping[tuple[str, str], str]] = {
    ("organizations:DisablePolicyType", "RootId"): "roots",
    ("organizations:EnablePolicyType", "RootId"): "roots",
}
"""Operation and parameter → the recorded block of the resource whose `id` the parameter is, and not the resource's own."""
_IN_FORCE: Final = frozenset({"sso-admin:ProvisionPermissionSet"})
"""Operations that set nothing of their own, and put in force what others have changed of the resource that they name."""


def is_written(resource: PlannedResource, steps: Sequence[str], value: object) -> bool:
    """Whether the plan has the value at the place of the parameter, in a document or in a block that the call has in a map under its name."""
    said = to_json(value)
    return not same(said, None) and resource.written.has(steps, said)


def says_no_value(resource: PlannedResource, steps: Sequence[str], value: object) -> bool:
    """Whether the call says that an attribute has no value, and it has none: not in the state, and not by the plan."""
    said, attribute = _NO_VALUES.get((resource.change.resource_type, steps[-1]), ("", ""))
    if not said or value != said or attribute in resource.free_names:
        return False
    return not any(_valued(place, attribute) for place in (resource.after, dict(resource.recorded)))


def _valued(place: Json, name: str) -> bool:
    """Whether something stands under this name, at any depth."""
    if isinstance(place, Mapping):
        return any((key == name and not same(item, None)) or _valued(item, name) for key, item in place.items())
    return is_list(place) and any(_valued(item, name) for item in place)


def is_content(resource: PlannedResource, steps: Sequence[str], value: object) -> bool:
    """Whether the call has the content of a planned file: what its digest says, or anything where a new digest is not told yet."""
    digest, path = _DIGESTED.get((resource.change.resource_type, ".".join(steps)), ("", ""))
    if not digest or not isinstance(value, bytes | bytearray) or resource.change.values.get(path) is None:
        return False
    told = resource.change.values.get(digest)
    return (
        resource.is_free(digest) if told is None else told == base64.b64encode(hashlib.sha256(value).digest()).decode()
    )


def is_of_a_block(call: Call, resource: PlannedResource, parameter: str, value: object) -> bool:
    """Whether the call names a recorded resource by the id of its one block."""
    blocks = resource.recorded.get(_NAMED_BY_A_BLOCK.get((f"{call.service}:{call.operation}", parameter), ""))
    block = blocks[0] if is_list(blocks) and len(blocks) == 1 else None
    return isinstance(block, Mapping) and bool(value) and block.get("id") == value


def is_next_version(
    call: Call, resource: PlannedResource, steps: Sequence[str], value: object, used: Mapping[UsedChange, int]
) -> bool:
    """Whether the call names the version that this session has just made of the resource: the one after the recorded last one."""
    makes, parameter, last = _VERSIONED.get(f"{call.service}:{call.operation}", ("", "", ""))
    recorded = str(resource.recorded.get(last) or "")
    if not makes or list(steps) != [parameter] or not recorded.isdecimal():
        return False
    made = used.get((resource.change.address, EffectAction.SET.value, makes), 0)
    return made == 1 and value == str(int(recorded) + 1)


def is_taken_out(call: Call, resource: PlannedResource) -> bool:
    """Whether each operation of a JSON patch takes a recorded member out of what the plan deletes, which must be let go of before."""
    patch = to_json(call.parameters.get("patchOperations"))
    is_gone = resource.change.action is PlannedAction.DELETE and is_list(patch) and bool(patch)
    return is_gone and all(_takes_out(resource, each) for each in (patch if is_list(patch) else ()))


def _takes_out(resource: PlannedResource, operation: Json) -> bool:
    if not isinstance(operation, Mapping) or operation.keys() != {"op", "path", "value"} or operation["op"] != "remove":
        return False
    blocks = resource.recorded.get(snake(str(operation["path"]).removeprefix("/")))
    parts = str(operation["value"]).split(":")
    for block in blocks if is_list(blocks) else ():
        texts = [each for each in block.values() if isinstance(each, str)] if isinstance(block, Mapping) else []
        if all(part in texts for part in parts):
            return True
    return False


def deletes_by_default(call: Call, resource: PlannedResource) -> bool:
    """Whether the call gives an account what a new one has, in the place of what the plan deletes."""
    usual = _DEFAULT_CALLS.get((resource.change.resource_type, f"{call.service}:{call.operation}"))
    return resource.change.action in _TAKES_AWAY and usual is not None and to_json(call.parameters) == usual


def puts_in_force(operation: str) -> bool:
    """Whether the operation only puts in force what other calls have changed."""
    return operation in _IN_FORCE


def is_default_policy(account: str, resource: PlannedResource, attribute: str, value: Json) -> bool:
    """Whether the value is the policy that AWS gives to a new resource of this account, in the place of the one that the plan deletes."""
    make = _DEFAULT_POLICIES.get((resource.change.resource_type, attribute))
    takes_away = resource.change.action in _TAKES_AWAY and bool(account)
    return (
        make is not None and takes_away and isinstance(value, str) and same(value, json.dumps(make(account, resource)))
    )


def _of_topic(account: str, resource: PlannedResource) -> Json:
    actions = (
        "GetTopicAttributes", "SetTopicAttributes", "AddPermission", "RemovePermission", "DeleteTopic", "Subscribe",
        "ListSubscriptionsByTopic", "Publish", "Receive",
    )  # fmt: skip
    statement: Json = {
        "Sid": "__default_statement_ID",
        "Effect": "Allow",
        "Principal": {"AWS": "*"},
        "Action": [f"SNS:{each}" for each in actions],
        "Resource": resource.recorded.get("arn"),
        "Condition": {"StringEquals": {"AWS:SourceOwner": account}},
    }
    return {"Version": "2008-10-17", "Id": "__default_policy_ID", "Statement": [statement]}


def _of_key(account: str, _resource: PlannedResource) -> Json:
    statement: Json = {
        "Sid": "Enable IAM User Permissions",
        "Effect": "Allow",
        "Principal": {"AWS": f"arn:aws:iam::{account}:root"},
        "Action": "kms:*",
        "Resource": "*",
    }
    return {"Version": "2012-10-17", "Id": "default", "Statement": [statement]}


_DEFAULT_POLICIES: Final[Mapping[tuple[str, str], Callable[[str, PlannedResource], Json]]] = {
    ("aws_sns_topic_policy", "policy"): _of_topic,
    ("aws_kms_key_policy", "policy"): _of_key,
}
"""Type and attribute → the policy of a new resource (AWS's documentation, "Default key policy"; of a topic what SNS itself writes)."""
