"""Second audit, 14: SSH was opened to the world call by call where a group's rules are resources of their own.

The attack: a pipeline adds one range of port 22 with each call. Each range is narrow enough alone, and only the ranges of one call were added
up: rules of their own started from nothing, and a group that nothing declares from the call before. What must hold: what a group has by the
state and by what was applied since then counts, however its rules are declared.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

GROUP, UNDECLARED = "sg-0abc1234", "sg-0fee0fee"
RULE: dict[str, Any] = {
    "id": "sgr-1",
    "security_group_rule_id": "sgr-1",
    "security_group_id": GROUP,
    "ip_protocol": "tcp",
    "from_port": 8443,
    "to_port": 8443,
    "cidr_ipv4": "10.0.0.0/8",
}


def _of_their_own(gate: Gate) -> None:
    """Declare a rule of the group as a resource of its own, so that every other one is."""
    path = gate.stack / "terraform.tfstate"
    state = json.loads(path.read_text())
    group = next(each for each in state["resources"] if each["type"] == "aws_security_group")
    own = {"type": "aws_vpc_security_group_ingress_rule", "name": "inner", "instances": [{"attributes": RULE}]}
    state["resources"].append({**group, **own})
    path.write_text(json.dumps(state))
    (gate.stack / "rules.tf").write_text('resource "aws_vpc_security_group_ingress_rule" "inner" {}\n')


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Gate]:
    gate = Gate(tmp_path)
    _of_their_own(gate)
    with gate:
        yield gate


def _open(gate: Gate, group: str, *, port: int = 22, first: int = 11) -> None:
    ingress = {"IpProtocol": "tcp", "FromPort": port, "ToPort": port, "IpRanges": [{"CidrIp": f"{first}.0.0.0/8"}]}
    client = gate.client("ec2", "pipeline", ("consistency", "routine"))
    client.authorize_security_group_ingress(GroupId=group, IpPermissions=[ingress])


@pytest.mark.parametrize("group", [GROUP, UNDECLARED])
def test_the_world_is_not_opened_call_by_call(own: Gate, group: str) -> None:
    _open(own, group)
    for first in range(12, 16):
        with pytest.raises(ClientError, match="SEN-N001"):
            _open(own, group, first=first)
    assert own.upstream.asked == ["AuthorizeSecurityGroupIngress"]


def test_a_call_in_doubt_counts_as_one_that_was_applied(own: Gate) -> None:
    own.upstream.behaviour = "cut"
    with pytest.raises(ClientError):
        _open(own, GROUP)
    own.upstream.behaviour = "ok"
    with pytest.raises(ClientError, match="SEN-N001"):
        _open(own, GROUP, first=12)


def test_what_is_closed_again_does_not_count(own: Gate) -> None:
    _open(own, GROUP)
    rule = {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "IpRanges": [{"CidrIp": "11.0.0.0/8"}]}
    client = own.client("ec2", "pipeline", ("consistency", "routine"))
    client.revoke_security_group_ingress(GroupId=GROUP, IpPermissions=[rule])
    _open(own, GROUP, first=12)


def test_public_ports_private_ranges_and_other_groups_do_not_add_up(own: Gate) -> None:
    _open(own, GROUP)
    _open(own, GROUP, port=443, first=12)
    _open(own, GROUP, first=10)
    _open(own, UNDECLARED, first=13)
    assert own.upstream.asked == ["AuthorizeSecurityGroupIngress"] * 4
