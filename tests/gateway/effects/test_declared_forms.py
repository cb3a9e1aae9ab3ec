"""An effect reaches the resource that code declares, whatever form the code has: a twin, an owner of a part, or a part of its own."""

from collections.abc import Callable
from typing import Any

import pytest

from gateway.effects.schema import Schemas
from gateway.terraform.forms import PARTS, TWINS

ACCOUNT, REGION = "123456789012", "eu-west-1"
POLICY = f"arn:aws:iam::{ACCOUNT}:policy/p"
TABLE = f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/t"
KEY = "0c3be9ab-0000-4000-8000-000000000000"
EffectsOf = Callable[..., Any]


def said(effects: Any) -> list[tuple[str, str, str, Any]]:
    return [(each.address, each.attribute, each.action.value, each.value) for each in effects if not each.implied]


def test_every_form_has_types_and_attributes_of_the_provider() -> None:
    schemas = Schemas()
    twins = [twin.resource_type for forms in TWINS.values() for twin in forms]
    assert [name for name in (*TWINS, *twins) if name not in schemas] == []
    wrong = [
        part
        for part in PARTS
        if part.resource_type not in schemas
        or part.owner_type not in schemas
        or (part.members and not schemas[part.owner_type].knows(part.attribute))
        or not set(part.owner) <= set(schemas[part.resource_type].kinds)
    ]
    assert wrong == []


# Twins ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("service", "operation", "parameters", "declared"),
    [
        ("ec2", "DeleteVpc", {"VpcId": "vpc-1"}, {"aws_default_vpc.d": {"id": "vpc-1"}}),
        ("ec2", "CreateTags", {"Resources": ["subnet-1"], "Tags": [{"Key": "a", "Value": "b"}]}, {"aws_default_subnet.d": {"id": "subnet-1"}}),
        ("kms", "ScheduleKeyDeletion", {"KeyId": KEY}, {"aws_kms_external_key.e": {"id": KEY}}),
        ("kms", "ScheduleKeyDeletion", {"KeyId": KEY}, {"aws_kms_replica_key.r": {"key_id": KEY}}),
        ("iam", "UpdateRoleDescription", {"RoleName": "r", "Description": "x"}, {"aws_iam_service_linked_role.r": {"name": "r"}}),
        ("rds", "ModifyDBInstance", {"DBInstanceIdentifier": "d", "AutoMinorVersionUpgrade": True}, {"aws_rds_cluster_instance.d": {"identifier": "d"}}),
        ("ec2", "TerminateInstances", {"InstanceIds": ["i-1"]}, {"aws_spot_instance_request.s": {"spot_instance_id": "i-1"}}),
    ],
)  # fmt: skip
def test_a_thing_that_is_declared_as_another_type_is_that_resource(
    effects_of: EffectsOf, service: str, operation: str, parameters: Any, declared: Any
) -> None:
    (effect,) = effects_of(service, operation, parameters, declared)
    assert (effect.address, effect.declared) == (next(iter(declared)), True)
    assert effect.resource_type == effect.address.split(".", maxsplit=1)[0]


def test_an_attribute_that_the_declared_type_does_not_have_is_not_understood(effects_of: EffectsOf) -> None:
    assert effects_of("kms", "DisableKey", {"KeyId": KEY}, {"aws_kms_external_key.e": {"id": KEY}}) == ()


def test_the_tags_of_an_instance_are_not_those_of_its_request(effects_of: EffectsOf) -> None:
    tags = {"Resources": ["i-1"], "Tags": [{"Key": "a", "Value": "b"}]}
    assert effects_of("ec2", "CreateTags", tags, {"aws_spot_instance_request.s": {"spot_instance_id": "i-1"}}) == ()


def test_a_thing_that_is_declared_twice_is_not_understood(effects_of: EffectsOf) -> None:
    both = {"aws_vpc.v": {"id": "vpc-1"}, "aws_default_vpc.d": {"id": "vpc-1"}}
    assert effects_of("ec2", "DeleteVpc", {"VpcId": "vpc-1"}, both) == ()


# Parts in an attribute of their owner ---------------------------------------------------------------------------------

TABLE_WITH_ROUTES = {
    "aws_route_table.t": {"id": "rtb-1", "route": [{"cidr_block": "10.0.0.0/8", "gateway_id": "igw-1"}]}
}
ROUTE = {"RouteTableId": "rtb-1", "DestinationCidrBlock": "192.168.0.0/24"}


def test_a_route_of_a_table_that_has_its_routes_inline_is_in_its_list(effects_of: EffectsOf) -> None:
    effect, *route = effects_of("ec2", "CreateRoute", {**ROUTE, "GatewayId": "igw-2"}, TABLE_WITH_ROUTES)
    assert {(each.resource_type, each.implied) for each in route} == {("aws_route", True)}
    assert (effect.address, effect.attribute, effect.action.value) == ("aws_route_table.t", "route", "set")
    assert [(each["cidr_block"], each["gateway_id"]) for each in effect.value] == [
        ("10.0.0.0/8", "igw-1"),
        ("192.168.0.0/24", "igw-2"),
    ]


def test_a_replaced_and_a_deleted_inline_route(effects_of: EffectsOf) -> None:
    there = {**ROUTE, "DestinationCidrBlock": "10.0.0.0/8"}
    replaced, *_ = effects_of("ec2", "ReplaceRoute", {**there, "NatGatewayId": "nat-1"}, TABLE_WITH_ROUTES)
    assert [(each["gateway_id"], each["nat_gateway_id"]) for each in replaced.value] == [("", "nat-1")]
    deleted, *_ = effects_of("ec2", "DeleteRoute", there, TABLE_WITH_ROUTES)
    assert (deleted.attribute, deleted.action.value, deleted.value) == ("route", "set", [])


def test_a_route_stays_a_resource_of_its_own_where_the_code_has_such(effects_of: EffectsOf) -> None:
    beside = {"aws_route.r": {"route_table_id": "rtb-1", "destination_cidr_block": "10.0.0.0/8"}}
    effects = effects_of("ec2", "CreateRoute", {**ROUTE, "GatewayId": "igw-2"}, {**TABLE_WITH_ROUTES, **beside})
    assert {effect.resource_type for effect in effects} == {"aws_route"}
    empty = {"aws_route_table.t": {"id": "rtb-1", "route": []}}
    assert {each.resource_type for each in effects_of("ec2", "CreateRoute", ROUTE, empty)} == {"aws_route"}


def test_an_attachment_is_in_the_list_of_the_policy_that_claims_all(effects_of: EffectsOf) -> None:
    attached = {"aws_iam_policy_attachment.a": {"name": "a", "policy_arn": POLICY, "roles": ["one"], "users": []}}
    call = {"RoleName": "two", "PolicyArn": POLICY}
    assert said(effects_of("iam", "AttachRolePolicy", call, attached)) == [
        ("aws_iam_policy_attachment.a", "roles", "set", ["one", "two"])
    ]
    assert said(effects_of("iam", "DetachRolePolicy", {**call, "RoleName": "one"}, attached)) == [
        ("aws_iam_policy_attachment.a", "roles", "set", [])
    ]


def test_what_two_lists_claim_is_an_effect_on_both(effects_of: EffectsOf) -> None:
    lists = {
        "aws_iam_policy_attachment.a": {"policy_arn": POLICY, "roles": []},
        "aws_iam_role_policy_attachments_exclusive.e": {"role_name": "r", "policy_arns": []},
    }
    assert said(effects_of("iam", "AttachRolePolicy", {"RoleName": "r", "PolicyArn": POLICY}, lists)) == [
        ("aws_iam_policy_attachment.a", "roles", "set", ["r"]),
        ("aws_iam_role_policy_attachments_exclusive.e", "policy_arns", "set", [POLICY]),
    ]


def test_a_declared_attachment_stays_itself(effects_of: EffectsOf) -> None:
    declared = {
        "aws_iam_role_policy_attachment.a": {"role": "r", "policy_arn": POLICY},
        "aws_iam_role_policy_attachments_exclusive.e": {"role_name": "r", "policy_arns": [POLICY]},
    }
    effects = effects_of("iam", "DetachRolePolicy", {"RoleName": "r", "PolicyArn": POLICY}, declared)
    assert said(effects) == [("aws_iam_role_policy_attachment.a", "*", "delete", None)]


# Attributes of an owner that are resources of their own ---------------------------------------------------------------


def test_a_tag_that_is_a_resource_of_its_own_is_not_one_of_the_table(effects_of: EffectsOf) -> None:
    declared = {
        "aws_dynamodb_table.t": {"name": "t", "arn": TABLE},
        "aws_dynamodb_tag.g": {"resource_arn": TABLE, "key": "own", "value": "a"},
    }
    tags = {"ResourceArn": TABLE, "Tags": [{"Key": "own", "Value": "b"}, {"Key": "team", "Value": "c"}]}
    assert said(effects_of("dynamodb", "TagResource", tags, declared)) == [
        ("aws_dynamodb_tag.g", "value", "set", "b"),
        ("aws_dynamodb_table.t", "tags.team", "set", "c"),
    ]
    gone = {"ResourceArn": TABLE, "TagKeys": ["own"]}
    assert said(effects_of("dynamodb", "UntagResource", gone, declared)) == [
        ("aws_dynamodb_tag.g", "*", "delete", None)
    ]


@pytest.mark.parametrize("key_id", [KEY, f"arn:aws:kms:{REGION}:{ACCOUNT}:key/{KEY}"])
def test_the_policy_of_a_key_is_the_resource_that_declares_it(effects_of: EffectsOf, key_id: str) -> None:
    declared = {
        "aws_kms_key.k": {"key_id": KEY, "arn": f"arn:aws:kms:{REGION}:{ACCOUNT}:key/{KEY}"},
        "aws_kms_key_policy.p": {"key_id": key_id, "policy": "{}"},
    }
    (effect,) = effects_of("kms", "PutKeyPolicy", {"KeyId": KEY, "Policy": "{}"}, declared)
    assert (effect.address, effect.attribute) == ("aws_kms_key_policy.p", "policy")


def test_a_tag_of_any_id_may_be_a_resource_of_its_own(effects_of: EffectsOf) -> None:
    declared = {"aws_ec2_tag.g": {"resource_id": "tgw-attach-1", "key": "own", "value": "a"}}
    call = {"Resources": ["tgw-attach-1"], "Tags": [{"Key": "own", "Value": "b"}]}
    assert said(effects_of("ec2", "CreateTags", call, declared)) == [("aws_ec2_tag.g", "value", "set", "b")]
    assert said(effects_of("ec2", "DeleteTags", call, declared)) == [("aws_ec2_tag.g", "*", "delete", None)]


def test_the_state_of_an_instance_is_set_where_code_declares_it(effects_of: EffectsOf) -> None:
    declared = {"aws_instance.i": {"id": "i-1"}, "aws_ec2_instance_state.s": {"instance_id": "i-1", "state": "running"}}
    state, instance, *_ = effects_of("ec2", "StopInstances", {"InstanceIds": ["i-1"]}, declared)
    assert said([state]) == [("aws_ec2_instance_state.s", "state", "set", "stopped")]
    assert (instance.address, instance.action.value, instance.implied) == ("aws_instance.i", "invoke", True)


@pytest.mark.parametrize(
    ("kind", "key", "name"),
    [("vpn_gateway", "VpnGatewayId", "vgw-1"), ("internet_gateway", "InternetGatewayId", "igw-1")],
)
def test_an_attachment_that_is_a_resource_of_its_own_is_made_and_ended(
    effects_of: EffectsOf, kind: str, key: str, name: str
) -> None:
    gateway: dict[str, Any] = {f"aws_{kind}.g": {"id": name, "vpc_id": "vpc-1"}}
    operation = "".join(word.title() for word in kind.split("_"))
    call = {key: name, "VpcId": "vpc-1"}
    assert said(effects_of("ec2", f"Detach{operation}", call, gateway)) == [(f"aws_{kind}.g", "vpc_id", "set", None)]
    own = f"aws_{kind}_attachment.a"
    both = {**gateway, own: {"id": f"{kind}-attachment-2c39e9c4", f"{kind}_id": name, "vpc_id": "vpc-1"}}
    assert said(effects_of("ec2", f"Detach{operation}", call, both)) == [(own, "*", "delete", None)]
    assert said(effects_of("ec2", f"Attach{operation}", {**call, "VpcId": "vpc-2"}, both)) == [
        (own, "vpc_id", "set", "vpc-2")
    ]
