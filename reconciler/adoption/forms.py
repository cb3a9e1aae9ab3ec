"""The form that the code gives to a part of a resource: a block inside it, or a resource of one of two kinds that exclude each other."""

from collections.abc import Iterator, Mapping
from typing import Final

from gateway.core.model.json import Json
from gateway.terraform.address import parse_address
from gateway.terraform.config.module import Module

_INLINE: Final[Mapping[str, tuple[tuple[str, str, str], ...]]] = {
    "aws_vpc_security_group_ingress_rule": (("aws_security_group", "ingress", "security_group_id"),),
    "aws_vpc_security_group_egress_rule": (("aws_security_group", "egress", "security_group_id"),),
    "aws_route": (("aws_route_table", "route", "route_table_id"),),
    "aws_network_acl_rule": (("aws_network_acl", "ingress", "network_acl_id"), ("aws_network_acl", "egress", "network_acl_id")),
    "aws_iam_role_policy": (("aws_iam_role", "inline_policy", "role"),),
    "aws_iam_role_policy_attachment": (
        ("aws_iam_role", "managed_policy_arns", "role"),
        ("aws_iam_policy_attachment", "policy_arn", "policy_arn"),
    ),
    "aws_iam_user_policy_attachment": (("aws_iam_policy_attachment", "policy_arn", "policy_arn"),),
    "aws_iam_group_policy_attachment": (("aws_iam_policy_attachment", "policy_arn", "policy_arn"),),
    "aws_iam_user_group_membership": (("aws_iam_group_membership", "users", "groups"),),
    "aws_autoscaling_attachment": (
        ("aws_autoscaling_group", "target_group_arns", "autoscaling_group_name"),
        ("aws_autoscaling_group", "load_balancers", "autoscaling_group_name"),
    ),
    "aws_elb_attachment": (("aws_elb", "instances", "elb"),),
    "aws_volume_attachment": (("aws_instance", "ebs_block_device", "instance_id"),),
    "aws_internet_gateway_attachment": (("aws_internet_gateway", "vpc_id", "internet_gateway_id"),),
    "aws_sqs_queue_policy": (("aws_sqs_queue", "policy", "queue_url"),),
    "aws_sqs_queue_redrive_policy": (("aws_sqs_queue", "redrive_policy", "queue_url"),),
    "aws_sns_topic_policy": (("aws_sns_topic", "policy", "arn"),),
    "aws_kms_key_policy": (("aws_kms_key", "policy", "key_id"),),
    "aws_secretsmanager_secret_policy": (("aws_secretsmanager_secret", "policy", "secret_arn"),),
    "aws_ecs_cluster_capacity_providers": (("aws_ecs_cluster", "capacity_providers", "cluster_name"),),
    "aws_s3_bucket_versioning": (("aws_s3_bucket", "versioning", "bucket"),),
    "aws_s3_bucket_policy": (("aws_s3_bucket", "policy", "bucket"),),
    "aws_s3_bucket_acl": (("aws_s3_bucket", "acl", "bucket"), ("aws_s3_bucket", "grant", "bucket")),
    "aws_s3_bucket_logging": (("aws_s3_bucket", "logging", "bucket"),),
    "aws_s3_bucket_cors_configuration": (("aws_s3_bucket", "cors_rule", "bucket"),),
    "aws_s3_bucket_website_configuration": (("aws_s3_bucket", "website", "bucket"),),
    "aws_s3_bucket_lifecycle_configuration": (("aws_s3_bucket", "lifecycle_rule", "bucket"),),
    "aws_s3_bucket_replication_configuration": (("aws_s3_bucket", "replication_configuration", "bucket"),),
    "aws_s3_bucket_server_side_encryption_configuration": (("aws_s3_bucket", "server_side_encryption_configuration", "bucket"),),
}  # fmt: skip
"""By the type of a part: the types that may hold such parts themselves, in which attribute, and the part's attribute that names them."""
_NAMES: Final = ("id", "arn", "name", "url", "policy_arn", "bucket")
_GROUP: Final = "security_group_id"
RULE: Final = "aws_security_group_rule"
"""The older kind of a rule of a security group."""
RULES: Final[Mapping[str, str]] = {
    "aws_vpc_security_group_ingress_rule": "ingress",
    "aws_vpc_security_group_egress_rule": "egress",
}
"""The newer kinds, each with its direction."""
Declared = Mapping[str, Mapping[str, Json]]


def inline_owner(code: Module, resource_type: str, attributes: Mapping[str, Json], declared: Declared) -> str:
    """The address of the resource whose own block declares such parts; empty if none does."""
    for owner_type, attribute, own in _INLINE.get(resource_type, ()):
        named = attributes.get(own)
        for address, values in _of_type(declared, owner_type):
            names = {values.get(name) for name in _NAMES}
            if (named in names or (isinstance(named, list) and names & set(map(str, named)))) and _sets(
                code, address, attribute
            ):
                return address
    return ""


def has_older_rules(group: Json, declared: Declared, code: Module) -> bool:
    """Whether the rules of a security group are of the older kind: its own ones, or where it has none those of the stack, or of its code:
    a rule that is narrowed may be the only one, and it is gone.
    """
    older = [values.get(_GROUP) for _, values in _of_type(declared, RULE)]
    newer = [values.get(_GROUP) for kind in RULES for _, values in _of_type(declared, kind)]
    if group in older or group in newer:
        return group in older
    if older or newer:
        return not newer
    kinds = {name.partition(".")[0] for source in code.sources.values() for name in source.resources}
    return RULE in kinds and kinds.isdisjoint(RULES)


def mixes_rules(group: Json, declared: Declared) -> bool:
    """Whether a security group has rules of both kinds already, so that no form is that of the code."""
    older = {values.get(_GROUP) for _, values in _of_type(declared, RULE)}
    newer = {values.get(_GROUP) for kind in RULES for _, values in _of_type(declared, kind)}
    return group in older & newer


def older_rule_ids(kind: str, rule: Mapping[str, Json]) -> Iterator[str]:
    """The ids by which the older kind imports a rule, which has the attributes of the newer kind.

    Source: "Import" of `aws_security_group_rule` in the provider's documentation: group, direction, protocol, ports, and the other side.
    """
    other = next(
        (
            rule[name]
            for name in ("cidr_ipv4", "cidr_ipv6", "prefix_list_id", "referenced_security_group_id")
            if rule.get(name)
        ),
        None,
    )
    protocol, first, last = str(rule.get("ip_protocol")), rule.get("from_port"), rule.get("to_port")
    group = rule.get(_GROUP)
    if other is None:
        return
    source = "self" if other == group else other
    if protocol == "-1":
        yield f"{group}_{RULES[kind]}_-1_0_0_{source}"
        yield f"{group}_{RULES[kind]}_all_0_0_{source}"
        yield f"{group}_{RULES[kind]}_all_0_65536_{source}"
    else:
        yield f"{group}_{RULES[kind]}_{protocol}_{first}_{last}_{source}"


def _of_type(declared: Declared, resource_type: str) -> Iterator[tuple[str, Mapping[str, Json]]]:
    for address, values in declared.items():
        parsed = parse_address(address)
        if parsed is not None and not parsed.data and parsed.resource_type == resource_type:
            yield address, values


def _sets(code: Module, address: str, attribute: str) -> bool:
    instance = code.instance(address)
    return instance is not None and attribute in instance.names
