"""Rules of network ACLs, as resources of their own and in the ACL itself."""

from collections.abc import Callable
from typing import Any

ACL = {"aws_network_acl.a": {"id": "acl-1", "ingress": [{"rule_no": 100, "protocol": "6"}]}}
RULE = {
    "aws_network_acl_rule.r": {
        "network_acl_id": "acl-1",
        "rule_number": "200",
        "egress": "false",
        "protocol": "6",
        "from_port": 22,
        "to_port": 22,
    }
}
ENTRY = {"NetworkAclId": "acl-1", "RuleNumber": 200, "Egress": False}
GIVEN = {
    **ENTRY,
    "Protocol": "6",
    "RuleAction": "allow",
    "CidrBlock": "10.0.0.0/8",
    "PortRange": {"From": 22, "To": 22},
}


def test_a_new_rule_has_the_name_of_its_protocol(effects_of: Callable[..., Any], values: Callable[..., Any]) -> None:
    found = values(effects_of("ec2", "CreateNetworkAclEntry", GIVEN, {}))
    assert (found["protocol"], found["rule_action"], found["cidr_block"]) == ("tcp", "allow", "10.0.0.0/8")
    assert (found["from_port"], found["to_port"]) == (22, 22)


def test_a_replaced_rule_keeps_the_form_of_its_protocol_and_loses_its_ports(
    effects_of: Callable[..., Any], values: Callable[..., Any]
) -> None:
    call = {**ENTRY, "Protocol": "6", "RuleAction": "deny", "CidrBlock": "10.0.0.0/8"}
    found = values(effects_of("ec2", "ReplaceNetworkAclEntry", call, {**ACL, **RULE}))
    assert found["protocol"] == "6"
    assert (found["from_port"], found["to_port"]) == (None, None)


def test_a_declared_rule_is_deleted_itself(effects_of: Callable[..., Any]) -> None:
    (effect,) = effects_of("ec2", "DeleteNetworkAclEntry", ENTRY, {**ACL, **RULE})
    assert (effect.address, effect.action.value) == ("aws_network_acl_rule.r", "delete")


def test_a_rule_of_the_acl_itself_changes_its_list(effects_of: Callable[..., Any]) -> None:
    for operation, call in (("CreateNetworkAclEntry", GIVEN), ("DeleteNetworkAclEntry", ENTRY)):
        (effect,) = effects_of("ec2", operation, call, ACL)
        assert (effect.address, effect.attribute, effect.action.value) == ("aws_network_acl.a", "ingress", "invoke")


def test_a_rule_without_a_number_is_not_understood(effects_of: Callable[..., Any]) -> None:
    assert effects_of("ec2", "DeleteNetworkAclEntry", {"NetworkAclId": "acl-1", "Egress": False}, ACL) == ()
    assert effects_of("ec2", "CreateNetworkAclEntry", {**GIVEN, "Unheard": 1}, ACL) == ()
