"""Second audit, 02: the owner of a security group that a rule names as its source was dropped.

The attack: a rule whose source is `UserId=999999999999, GroupId=sg-99999999` was judged as one with a group of our own, inside `cidr_within`
and `forbid_world`, and opened a group to another account. What must hold: the owner is part of the source; a group that no state records
lies outside `cidr_within`; another account's group is held, whoever asks.
"""

from typing import Any

import httpx
import pytest

from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

BOUNDED, FREE = "sg-0abc1234", "sg-0fee0fee"
"""A group with `cidr_within` in its contract, and one of which no contract speaks."""
OURS = {"UserId": "123456789012", "GroupId": "sg-0abc1234"}


def _verdict(gate: Gate, actor: str, pair: dict[str, str], group: str = BOUNDED, **more: Any) -> str:
    ports = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443}
    call = {
        "service": "ec2",
        "operation": "AuthorizeSecurityGroupIngress",
        "parameters": {"GroupId": group, "IpPermissions": [{**ports, "UserIdGroupPairs": [pair], **more}]},
        "motive": {"intent": "availability", "motivation": "incident", "evidence": ["A-1"]},
        "dry_run": True,
    }
    answer = httpx.post(f"{gate.url}/v1/mutations", json=call, headers=gate.bearer(actor), timeout=60)
    return str(answer.json()["decision"]["verdict"])


FOREIGN: list[dict[str, str]] = [
    {"UserId": "999999999999", "GroupId": "sg-99999999"},
    {"UserId": "999999999999", "GroupId": "sg-0abc1234"},
    {"UserId": "amazon-elb", "GroupId": "sg-99999999"},
]


@pytest.mark.parametrize("pair", [*FOREIGN, {"GroupId": "sg-99999999"}, {**OURS, "GroupId": "sg-99999999"}])
def test_an_agent_opens_a_group_to_no_group_that_no_state_records(gate: Gate, pair: dict[str, str]) -> None:
    assert _verdict(gate, "agent", pair) == "deny"
    assert _verdict(gate, "agent", pair, IpRanges=[{"CidrIp": "10.1.0.0/16"}]) == "deny"


@pytest.mark.parametrize("actor", ["human", "pipeline"])
@pytest.mark.parametrize("pair", FOREIGN)
def test_another_accounts_group_is_held(gate: Gate, actor: str, pair: dict[str, str]) -> None:
    assert _verdict(gate, actor, pair, FREE) == "hold"
    assert _verdict(gate, actor, pair) == "deny"


@pytest.mark.parametrize("actor", ["agent", "human", "pipeline"])
@pytest.mark.parametrize("pair", [OURS, {"GroupId": "sg-0abc1234"}])
def test_a_recorded_group_of_ours_passes(gate: Gate, actor: str, pair: dict[str, str]) -> None:
    assert _verdict(gate, actor, pair) == "allow"


@pytest.mark.parametrize("actor", ["human", "pipeline"])
def test_people_name_groups_of_ours_that_the_state_does_not_have(gate: Gate, actor: str) -> None:
    assert _verdict(gate, actor, {"GroupId": "sg-99999999"}, FREE) == "allow"
