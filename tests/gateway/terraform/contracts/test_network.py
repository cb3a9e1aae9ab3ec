"""The networks and ports that security group rules open."""

import pytest

from gateway.core.model.json import Json
from gateway.terraform.contracts.network import Unreadable, covers_world, network, networks, outside, ports_outside

RULE: dict[str, Json] = {"from_port": 443, "to_port": 443, "protocol": "tcp", "cidr_blocks": ["10.1.0.0/16"], "ipv6_cidr_blocks": [], "prefix_list_ids": [], "security_groups": [], "self": False}  # fmt: skip


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, []),
        ([], []),
        ("10.0.0.1/8", ["10.0.0.0/8"]),
        (["10.0.0.0/8", "::/0"], ["10.0.0.0/8", "::/0"]),
        (RULE, ["10.1.0.0/16"]),
        ([RULE, {**RULE, "ipv6_cidr_blocks": ["fd00::/8"]}], ["10.1.0.0/16", "10.1.0.0/16", "fd00::/8"]),
        ({"cidr_ipv4": "10.0.0.0/24"}, ["10.0.0.0/24"]),
        ([{**RULE, "cidr_blocks": None, "security_groups": ["sg-1"]}], []),
    ],
)
def test_networks_are_found_in_every_shape_of_the_provider(value: Json, expected: list[str]) -> None:
    assert [str(each) for each in networks(value)] == expected


@pytest.mark.parametrize(
    "value",
    [
        5,
        "not a network",
        "10.0.0.0/33",
        ["10.0.0.0/8", 7],
        {"from_port": 1},
        {**RULE, "prefix_list_ids": ["pl-1"]},
        {**RULE, "cidr_blocks": [None]},
        {"prefix_list_id": "pl-1"},
        [[RULE]],
    ],
)
def test_what_is_no_rule_is_refused(value: Json) -> None:
    with pytest.raises(Unreadable):
        networks(value)


def test_a_network_of_the_other_family_is_outside() -> None:
    allowed = [network("10.0.0.0/8"), network("fd00::/8")]

    assert outside(networks(["10.2.0.0/16", "fd12::/32"]), allowed) == []
    assert outside(networks(["::ffff:10.0.0.0/104", "0.0.0.0/0"]), allowed) == [network("::ffff:a00:0/104"), network("0.0.0.0/0")]  # fmt: skip


@pytest.mark.parametrize(
    ("blocks", "expected"),
    [
        (["0.0.0.0/0"], True),
        (["::/0"], True),
        (["0.0.0.0/1", "128.0.0.0/1"], True),
        (["0.0.0.0/1", "128.0.0.0/2", "192.0.0.0/2"], True),
        (["2000::/3"], True),
        (["2000::/4", "3000::/4"], True),
        (["10.0.0.0/8"], False),
        (["0.0.0.0/1"], False),
        ([], False),
    ],
)
def test_the_world_is_seen_however_it_is_cut(blocks: Json, expected: bool) -> None:
    assert covers_world(networks(blocks)) is expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, []),
        ({"to_port": 444}, ["ports 443 to 444"]),
        ({"from_port": 22, "to_port": 22}, ["port 22"]),
        ({"from_port": 0, "to_port": 65535}, ["ports 0 to 65535"]),
        ({"from_port": 0, "to_port": 0, "protocol": "-1"}, ["every port and protocol"]),
        ({"protocol": "all"}, ["every port and protocol"]),
        ({"protocol": -1}, ["every port and protocol"]),
        ({"protocol": "icmp", "from_port": -1, "to_port": -1}, ["protocol icmp"]),
        ({"protocol": None}, ["protocol none"]),
        ({"protocol": "TCP", "from_port": "443", "to_port": 443.0}, []),
        ({"protocol": 6}, []),
    ],
)
def test_ports_beyond_the_list_are_named(change: dict[str, Json], expected: list[str]) -> None:
    assert ports_outside([{**RULE, **change}], [443, 8443]) == expected


def test_a_range_that_the_list_holds_is_open() -> None:
    assert ports_outside({**RULE, "from_port": 80, "to_port": 82}, [80, 81, 82, 443]) == []
    assert ports_outside(443, [443]) == []
    assert ports_outside(None, [443]) == []


@pytest.mark.parametrize(
    "change",
    [{"from_port": None}, {"from_port": True}, {"from_port": 444, "to_port": 443}, {"to_port": "http"}, {"to_port": 443.5}],
)  # fmt: skip
def test_ports_that_are_none_are_refused(change: dict[str, Json]) -> None:
    with pytest.raises(Unreadable):
        ports_outside([{**RULE, **change}], [443])
