"""Reads the resources that a mutation created from the effects in its record: type, import id, and the values of the creation."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from gateway.core.model.json import Json
from gateway.core.model.mutation import Effect, EffectAction
from gateway.core.model.path import WHOLE, AttributePath
from gateway.core.partitions import domain_of, partition_of
from reconciler.changes.applied_mutation import AppliedMutation
from reconciler.changes.event_creations import Created
from reconciler.terraform.json_documents import document_in

_DOCUMENTS: Final = frozenset({"policy", "assume_role_policy", "redrive_policy"})
"""Attributes that are JSON in a text, and are written as `jsonencode`."""
_TAGS: Final = "tags"
_CALL: Final = "call"
"""The identity of what AWS names when it creates it: the digest of the call, and no attribute."""
_WITHOUT_REGION: Final = ("aws_iam_", "aws_s3_bucket")
"""Prefixes of the types whose names are unique in an account, or everywhere."""
_ARNS: Final = {
    "aws_sns_topic": ("sns", ""),
    "aws_sqs_queue": ("sqs", ""),
    "aws_dynamodb_table": ("dynamodb", "table/"),
    "aws_kinesis_stream": ("kinesis", "stream/"),
    "aws_cloudwatch_log_group": ("logs", "log-group:"),
    "aws_cloudwatch_metric_alarm": ("cloudwatch", "alarm:"),
    "aws_ecr_repository": ("ecr", "repository/"),
}
"""The service and the kind in the ARN of what is named by its name
(https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html)."""
Identity = Mapping[str, str]
Imported = tuple[str, str, str]
"""The id to import by, what people call it, and the value by which it names the resource it belongs to (empty if it stands alone)."""


def creations_of(applied: AppliedMutation) -> tuple[tuple[str, Created], ...]:
    """The resources that a mutation created and that can be imported, each with its address in the record.

    A resource whose values are not all known is not among them: one that was created with a secret, or for a limited time.
    """
    made = ((effect.address, _created(effect, applied)) for effect in _whole(applied) if not effect.declared)
    return tuple((address, created) for address, created in made if created is not None)


def recreations_of(applied: AppliedMutation) -> tuple[tuple[str, Created | None], ...]:
    """The addresses that the code has and whose resource a mutation created, each with what is known of the new one."""
    return tuple((effect.address, _created(effect, applied)) for effect in _whole(applied) if effect.declared)


def _whole(applied: AppliedMutation) -> tuple[Effect, ...]:
    if applied.wanted_seconds is not None:
        return ()
    return tuple(each for each in applied.effects if each.action is EffectAction.CREATE and each.attribute == WHOLE)


def is_of_place(applied: AppliedMutation, created: Created, live: Mapping[str, Mapping[str, Json]]) -> bool:
    """Whether a resource was created in the one region, and in an account, that the ARNs of the stack's resources name.

    An import reads the resource of that id in the stack's own region and account, which may be another one. `live` has the stack's
    attributes by address.
    """
    named = [str(attributes.get("arn") or "").split(":") for attributes in live.values()]
    places = [parts for parts in named if len(parts) > 5]  # noqa: PLR2004  arn:partition:service:region:account:resource
    accounts = {parts[4] for parts in places if parts[4]}
    regions = {parts[3] for parts in places if parts[3]}
    if applied.account and accounts and applied.account not in accounts:
        return False
    return created.resource_type.startswith(_WITHOUT_REGION) or regions == {applied.region}


def _created(whole: Effect, applied: AppliedMutation) -> Created | None:
    """One of them; None if its type or its id is not known here."""
    parts = [each for each in applied.effects if each.address == whole.address and each.attribute != WHOLE]
    read = _IMPORTS.get(whole.resource_type)
    if read is None or any(each.sensitive for each in parts):
        return None
    try:
        import_id, name, parent = read(whole.identity, replace(applied, effects=tuple(parts)))
    except KeyError:
        return None
    named = {name: value for name, value in whole.identity.items() if name != _CALL}
    attributes = {**named, **_attributes(parts)}
    given = {key: value for key, value in whole.identity.items() if key in _GIVEN_NAMES}
    named_by = {**given, **_names(whole.resource_type, import_id, name, applied)}
    return Created(
        resource_type=whole.resource_type,
        import_id=import_id,
        attributes=attributes,
        name=name,
        parent=parent,
        arn=named_by.get("arn", ""),
        named_by=named_by,
    )


_GIVEN_NAMES: Final = frozenset({"name", "bucket", "function_name", "identifier"})
"""Members of an identity by which others name a resource."""


def _names(resource_type: str, import_id: str, name: str, applied: AppliedMutation) -> dict[str, str]:
    """The attributes by which others name a new resource, as far as their values follow from the call and mean one resource anywhere."""
    if resource_type in _ARNS and applied.account and applied.region:
        service, kind = _ARNS[resource_type]
        arn = f"arn:{partition_of(applied.region)}:{service}:{applied.region}:{applied.account}:{kind}{name}"
        return {"arn": arn, "url": import_id} if resource_type == "aws_sqs_queue" else {"arn": arn}
    if resource_type == "aws_s3_bucket":
        return {"arn": f"arn:{partition_of(applied.region)}:s3:::{name}"}
    if import_id.startswith("arn:"):
        return {"arn": import_id}
    return {"id": import_id} if applied.made and import_id == applied.made else {}


def _attributes(parts: list[Effect]) -> Mapping[str, Json]:
    """The values of a new resource by attribute; those of a map, which have an effect each, together."""
    found: Mapping[str, Json] = {}
    tags: dict[str, Json] = {}
    for effect in parts:
        path = AttributePath(effect.attribute)
        if effect.value is None:
            continue
        if path.top == _TAGS and path != _TAGS:
            tags[path.key] = effect.value
        else:
            found = path.put(found, _document(effect.value) if path in _DOCUMENTS else effect.value)
    return {**found, _TAGS: tags} if tags else found


def _document(value: Json) -> Json:
    found = document_in(value)
    return {"json": found} if isinstance(found, dict) else value


def _by(member: str) -> Callable[[Identity, AppliedMutation], Imported]:
    """Imported by a member of its identity, which is also its name."""

    def imported(identity: Identity, _: AppliedMutation) -> Imported:
        return identity[member], identity[member], ""

    return imported


def _arn(service: str, kind: str = "") -> Callable[[Identity, AppliedMutation], Imported]:
    """Imported by its ARN (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html)."""

    def imported(identity: Identity, applied: AppliedMutation) -> Imported:
        region, account = _where(applied)
        name = identity["name"]
        return f"arn:{partition_of(region)}:{service}:{region}:{account}:{kind}{name}", name, ""

    return imported


def _queue(identity: Identity, applied: AppliedMutation) -> Imported:
    """Imported by its URL (https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-queue-message-identifiers.html)."""
    region, account = _where(applied)
    return f"https://sqs.{region}.{domain_of(region)}/{account}/{identity['name']}", identity["name"], ""


def _where(applied: AppliedMutation) -> tuple[str, str]:
    """Region and account. Raises KeyError if one is not known."""
    if not applied.account or not applied.region:
        raise KeyError("account")
    return applied.region, applied.account


def _named_by_aws(parent: str = "") -> Callable[[Identity, AppliedMutation], Imported]:
    """Imported by the id that AWS chose, which its reply said. `parent` is the attribute that names what it belongs to."""

    def imported(identity: Identity, applied: AppliedMutation) -> Imported:
        if not applied.made:
            raise KeyError("made")
        given = {each.attribute: str(each.value) for each in applied.effects if each.value is not None}
        name = identity.get("name") or given.get("tags.Name") or applied.made
        return applied.made, name, given.get(parent, "")

    return imported


def _role_policy(identity: Identity, _: AppliedMutation) -> Imported:
    return f"{identity['role']}:{identity['name']}", identity["name"], identity["role"]


def _attachment(identity: Identity, _: AppliedMutation) -> Imported:
    role, policy = identity["role"], identity["policy_arn"]
    return f"{role}/{policy}", policy.rpartition("/")[2], role


def _older_rule(identity: Identity, applied: AppliedMutation) -> Imported:
    """Imported by group, direction, protocol, ports and the other side, of which each call of the gate has one."""
    given = {each.attribute: each.value for each in applied.effects if each.value is not None}
    lists = (given.get(name) for name in ("cidr_blocks", "ipv6_cidr_blocks", "prefix_list_ids"))
    single = next((str(each[0]) for each in lists if isinstance(each, list) and len(each) == 1), "")
    other = "self" if given.get("self") is True else str(given.get("source_security_group_id") or single)
    group, first, last = identity["security_group_id"], given.get("from_port", 0), given.get("to_port", 0)
    if not other:
        raise KeyError("cidr_blocks")
    ends = f"{given['protocol']}_{first}_{last}_{other}"
    return f"{group}_{given['type']}_{ends}", str(first), group


def _part_of_bucket(identity: Identity, _: AppliedMutation) -> Imported:
    return identity["bucket"], "", identity["bucket"]


def _parts() -> Iterator[str]:
    for part in ("versioning", "policy", "server_side_encryption_configuration", "lifecycle_configuration"):
        yield f"aws_s3_bucket_{part}"


_IMPORTS: Final[Mapping[str, Callable[[Identity, AppliedMutation], Imported]]] = {
    "aws_cloudwatch_log_group": _by("name"),
    "aws_cloudwatch_metric_alarm": _by("alarm_name"),
    "aws_dynamodb_table": _by("name"),
    "aws_instance": _named_by_aws("subnet_id"),
    "aws_internet_gateway": _named_by_aws("vpc_id"),
    "aws_lb": _named_by_aws(),
    "aws_lb_target_group": _named_by_aws(),
    "aws_route_table": _named_by_aws("vpc_id"),
    "aws_security_group": _named_by_aws(),
    "aws_security_group_rule": _older_rule,
    "aws_subnet": _named_by_aws("vpc_id"),
    "aws_vpc": _named_by_aws(),
    "aws_vpc_security_group_egress_rule": _named_by_aws("security_group_id"),
    "aws_vpc_security_group_ingress_rule": _named_by_aws("security_group_id"),
    "aws_ecr_repository": _by("name"),
    "aws_iam_role": _by("name"),
    "aws_kinesis_stream": _by("name"),
    "aws_s3_bucket": _by("bucket"),
    "aws_ssm_parameter": _by("name"),
    "aws_sns_topic": _arn("sns"),
    "aws_sqs_queue": _queue,
    "aws_iam_role_policy": _role_policy,
    "aws_iam_role_policy_attachment": _attachment,
    **dict.fromkeys(_parts(), _part_of_bucket),
}
"""How a type is imported, as its page in the provider's documentation says under "Import"."""
