"""The forms in which code may declare what AWS has in one form only: several types for one resource, or a part as a resource of its own.

Reviewed against the provider's documentation and schema. No call of AWS tells the forms apart, so a call is matched with each of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Twin:
    """Another type by which code may declare the same resource."""

    resource_type: str
    names: Mapping[str, str] = field(default_factory=dict)
    """Attribute of the first type → the attribute of this one that says the same, where they differ; empty if none does."""

    def named(self, identity: Mapping[str, str]) -> dict[str, str]:
        """The identity of the resource, by the attributes of this type."""
        return {self.names.get(name, name): value for name, value in identity.items()}


def _same(*resource_types: str) -> tuple[Twin, ...]:
    return tuple(Twin(resource_type=each) for each in resource_types)


_OF_SPOT: Final = {"id": "spot_instance_id", "tags": "", "user_data": "", "user_data_base64": ""}

TWINS: Final[Mapping[str, tuple[Twin, ...]]] = {
    "aws_vpc": _same("aws_default_vpc"),
    "aws_subnet": _same("aws_default_subnet"),
    "aws_security_group": _same("aws_default_security_group"),
    "aws_route_table": _same("aws_default_route_table"),
    "aws_network_acl": _same("aws_default_network_acl"),
    "aws_vpc_dhcp_options": _same("aws_default_vpc_dhcp_options"),
    "aws_kms_key": (
        Twin(resource_type="aws_kms_external_key", names={"key_id": "id"}),
        *_same("aws_kms_replica_external_key", "aws_kms_replica_key"),
    ),
    # A request has its own tags, which are not those of the instance that it got, and user data of an instance are judged as code.
    "aws_instance": (Twin(resource_type="aws_spot_instance_request", names=_OF_SPOT),),
    # The SDKs send the calls of DocumentDB and Neptune to RDS, under its name.
    "aws_db_instance": _same("aws_docdb_cluster_instance", "aws_neptune_cluster_instance", "aws_rds_cluster_instance"),
    "aws_rds_cluster": _same("aws_docdb_cluster", "aws_neptune_cluster"),
    "aws_db_subnet_group": _same("aws_docdb_subnet_group", "aws_neptune_subnet_group"),
    "aws_iam_role": _same("aws_iam_service_linked_role"),
    "aws_lb": _same("aws_alb"),
    "aws_lb_listener": _same("aws_alb_listener"),
    "aws_lb_listener_rule": _same("aws_alb_listener_rule"),
    "aws_lb_target_group": _same("aws_alb_target_group"),
    "aws_ami": _same("aws_ami_copy", "aws_ami_from_instance"),
    "aws_ebs_snapshot": _same("aws_ebs_snapshot_copy", "aws_ebs_snapshot_import"),
    "aws_s3_object": _same("aws_s3_bucket_object", "aws_s3_object_copy"),
}
"""The type that a row of the gateway names → the other types of the same resource."""


class Holding(StrEnum):
    """How an owner's attribute holds a part."""

    VALUE = "value"
    """It is the part."""
    ITEM = "item"
    """It is a list with a text for each part."""
    BLOCK = "block"
    """It is a list with a block for each part."""
    ENTRY = "entry"
    """It is a map with an entry for each part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a resource that code may declare as a resource of its own, or in an attribute of the owner."""

    resource_type: str
    owner_type: str
    attribute: str
    """The owner's attribute that holds such parts."""
    holding: Holding
    owner: Mapping[str, str]
    """Attribute of the part → attribute of the owner: together they say whose part it is."""
    members: Mapping[str, str]
    """Attribute of the part → member of the owner's block. Of an item the one attribute that it is. Of an entry `key` and `value`. Of a
    value the one attribute that has it. Empty if the rows of the service itself find the part."""
    always: bool = False
    """Whether the owner says by its type that it holds all such parts, so that it is asked for where the part has no resource of its own.
    Otherwise it holds them only if it has some already, and none of its parts is a resource of its own."""


_ROUTE_MEMBERS: Final = {
    "destination_cidr_block": "cidr_block",
    "destination_ipv6_cidr_block": "ipv6_cidr_block",
    "destination_prefix_list_id": "destination_prefix_list_id",
    **{
        name: name
        for name in (
            "carrier_gateway_id", "core_network_arn", "egress_only_gateway_id", "gateway_id", "local_gateway_id", "nat_gateway_id",
            "network_interface_id", "transit_gateway_id", "vpc_endpoint_id", "vpc_peering_connection_id",
        )
    },
}  # fmt: skip


def _value(resource_type: str, owner_type: str, owner: Mapping[str, str], attribute: str = "policy") -> Part:
    return Part(
        resource_type=resource_type,
        owner_type=owner_type,
        attribute=attribute,
        holding=Holding.VALUE,
        owner=owner,
        members={attribute: attribute},
    )


def _tag(resource_type: str, owner_type: str, owner: Mapping[str, str]) -> Part:
    return Part(
        resource_type=resource_type,
        owner_type=owner_type,
        attribute="tags",
        holding=Holding.ENTRY,
        owner=owner,
        members={"key": "key", "value": "value"},
    )


def _by_service(resource_type: str, owner_type: str, attribute: str, owner: Mapping[str, str]) -> Part:
    """A part that the rows of its own service tell from the owner's attribute."""
    return Part(
        resource_type=resource_type,
        owner_type=owner_type,
        attribute=attribute,
        holding=Holding.BLOCK,
        owner=owner,
        members={},
    )


def _item(resource_type: str, owner_type: str, attribute: str, owner: Mapping[str, str], member: str) -> Part:
    return Part(
        resource_type=resource_type,
        owner_type=owner_type,
        attribute=attribute,
        holding=Holding.ITEM,
        owner=owner,
        members={member: ""},
    )


def _lists_of(principal: str) -> tuple[Part, ...]:
    """Who is attached to a policy, and the policies of a role, user or group, as lists that belong to the owner alone."""
    kind = f"aws_iam_{principal}"
    return (
        Part(
            resource_type=f"{kind}_policy_attachment", owner_type="aws_iam_policy_attachment", attribute=f"{principal}s",
            holding=Holding.ITEM, owner={"policy_arn": "policy_arn"}, members={principal: ""}, always=True,
        ),
        Part(
            resource_type=f"{kind}_policy_attachment", owner_type=f"{kind}_policy_attachments_exclusive", attribute="policy_arns",
            holding=Holding.ITEM, owner={principal: f"{principal}_name"}, members={"policy_arn": ""}, always=True,
        ),
        Part(
            resource_type=f"{kind}_policy", owner_type=f"{kind}_policies_exclusive", attribute="policy_names",
            holding=Holding.ITEM, owner={principal: f"{principal}_name"}, members={"name": ""}, always=True,
        ),
    )  # fmt: skip


PARTS: Final[Sequence[Part]] = (
    Part(
        resource_type="aws_route",
        owner_type="aws_route_table",
        attribute="route",
        holding=Holding.BLOCK,
        owner={"route_table_id": "id"},
        members=_ROUTE_MEMBERS,
    ),
    *_lists_of("role"),
    *_lists_of("user"),
    *_lists_of("group"),
    *(
        _by_service(rule, "aws_security_group", direction, {"security_group_id": "id"})
        for rule, direction in (
            ("aws_vpc_security_group_ingress_rule", "ingress"),
            ("aws_vpc_security_group_egress_rule", "egress"),
            ("aws_security_group_rule", "ingress"),
            ("aws_security_group_rule", "egress"),
        )
    ),
    _by_service("aws_network_acl_rule", "aws_network_acl", "ingress", {"network_acl_id": "id"}),
    _by_service("aws_network_acl_rule", "aws_network_acl", "egress", {"network_acl_id": "id"}),
    _by_service("aws_autoscaling_group_tag", "aws_autoscaling_group", "tag", {"autoscaling_group_name": "name"}),
    _item(
        "aws_autoscaling_attachment",
        "aws_autoscaling_group",
        "target_group_arns",
        {"autoscaling_group_name": "name"},
        "lb_target_group_arn",
    ),
    _item(
        "aws_autoscaling_attachment",
        "aws_autoscaling_group",
        "load_balancers",
        {"autoscaling_group_name": "name"},
        "elb",
    ),
    _by_service("aws_ec2_instance_state", "aws_instance", "instance_state", {"instance_id": "id"}),
    _by_service(
        "aws_vpc_peering_connection_options",
        "aws_vpc_peering_connection",
        "accepter",
        {"vpc_peering_connection_id": "id"},
    ),
    _by_service(
        "aws_vpc_peering_connection_options",
        "aws_vpc_peering_connection",
        "requester",
        {"vpc_peering_connection_id": "id"},
    ),
    _value("aws_internet_gateway_attachment", "aws_internet_gateway", {"internet_gateway_id": "id"}, "vpc_id"),
    _value("aws_vpn_gateway_attachment", "aws_vpn_gateway", {"vpn_gateway_id": "id"}, "vpc_id"),
    _value("aws_kms_key_policy", "aws_kms_key", {"key_id": "key_id"}),
    _value("aws_sqs_queue_policy", "aws_sqs_queue", {"queue_url": "url"}),
    _value("aws_sqs_queue_redrive_policy", "aws_sqs_queue", {"queue_url": "url"}, "redrive_policy"),
    _value("aws_sqs_queue_redrive_allow_policy", "aws_sqs_queue", {"queue_url": "url"}, "redrive_allow_policy"),
    _value("aws_sns_topic_policy", "aws_sns_topic", {"arn": "arn"}),
    _by_service(
        "aws_lambda_permission", "aws_lambda_function_url", "authorization_type", {"function_name": "function_name"}
    ),
    *(
        _tag("aws_ec2_tag", owner_type, {"resource_id": "id"})
        for owner_type in (
            "aws_ebs_volume",
            "aws_eip",
            "aws_instance",
            "aws_internet_gateway",
            "aws_launch_template",
            "aws_nat_gateway",
            "aws_network_acl",
            "aws_network_interface",
            "aws_route_table",
            "aws_security_group",
            "aws_subnet",
            "aws_vpc",
            "aws_vpc_endpoint",
        )
    ),
    _tag("aws_dynamodb_tag", "aws_dynamodb_table", {"resource_arn": "arn"}),
    _tag("aws_ecs_tag", "aws_ecs_cluster", {"resource_arn": "arn"}),
    _tag("aws_ecs_tag", "aws_ecs_service", {"resource_arn": "id"}),
    _tag("aws_ecs_tag", "aws_ecs_task_definition", {"resource_arn": "arn"}),
)
"""The parts, each with every owner that may hold it."""

PARTS_OF_TYPE: Final[Mapping[str, tuple[Part, ...]]] = {
    each.resource_type: tuple(part for part in PARTS if part.resource_type == each.resource_type) for each in PARTS
}
"""The parts by their own type."""
PARTS_OF_OWNER: Final[Mapping[str, tuple[Part, ...]]] = {
    each.owner_type: tuple(part for part in PARTS if part.owner_type == each.owner_type) for each in PARTS
}
"""The parts by the type of their owner."""
