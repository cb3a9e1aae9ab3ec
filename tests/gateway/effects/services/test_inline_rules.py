"""Inline rules are added to the block they belong to and removed from every block that has them."""

from typing import Any

import pytest

from gateway.effects.services.inline_rules import SingleRule, ports_of, protocol_of, with_rules, without_rules
from gateway.effects.values import NotUnderstood

HTTPS: dict[str, Any] = {
    "cidr_blocks": ["10.0.0.0/8"],
    "description": "",
    "from_port": 443,
    "ipv6_cidr_blocks": [],
    "prefix_list_ids": [],
    "protocol": "tcp",
    "security_groups": [],
    "self": False,
    "to_port": 443,
}


def single_rule(port: int, source: str, kind: str = "cidr_blocks", description: str = "") -> SingleRule:
    return SingleRule(protocol="tcp", from_port=port, to_port=port, kind=kind, source=source, description=description)


def test_removing_the_added_rules_leaves_the_recorded_ones() -> None:
    new = (
        single_rule(22, "0.0.0.0/0"),
        single_rule(443, "10.9.0.0/16"),
        single_rule(80, "sg-2", "security_groups", "web"),
    )
    assert without_rules(with_rules([HTTPS], new), new) == [HTTPS]


def test_adding_twice_is_adding_once() -> None:
    once = with_rules([HTTPS], [single_rule(22, "0.0.0.0/0")])
    assert with_rules(once, [single_rule(22, "0.0.0.0/0")]) == once


def test_a_source_is_removed_whatever_the_description_of_its_block() -> None:
    blocks = with_rules([], [single_rule(22, "10.0.0.0/8", description=text) for text in ("a", "b")])
    assert len(blocks) == 2
    assert without_rules(blocks, [single_rule(22, "10.0.0.0/8")]) == []


def test_the_group_itself_is_a_flag() -> None:
    (block,) = with_rules([HTTPS], [single_rule(443, "sg-1", "self")])
    assert block == {**HTTPS, "self": True}
    assert without_rules([block], [single_rule(443, "sg-1", "self")]) == [HTTPS]


def test_a_protocol_has_one_name_and_every_protocol_no_ports() -> None:
    assert (protocol_of("6"), protocol_of("TCP"), protocol_of("all")) == ("tcp", "tcp", "-1")
    assert ports_of({"protocol": "-1", "from_port": 5}) == ("-1", 0, 0)
    with pytest.raises(NotUnderstood):
        protocol_of("")
