"""A pipeline's plan widens a resource past its contract, by what it makes beside it: a rule of a security group, a schedule of a group.

The same calls alone were denied by the contract of the group. In a plan only the new resource was judged, of which no contract says anything. What
must hold: a contract holds for a resource whatever a plan calls the part by which it changes it.
"""

from typing import Any

import pytest

from gateway.core.records.record import Stage
from tests.kit.applying import ask, opened, planned, refused
from tests.kit.gate import ASG, Gate

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]

GROUP = "sg-0abc1234"


def _rule(cidr: str, port: int) -> dict[str, Any]:
    values = {"security_group_id": GROUP, "ip_protocol": "tcp", "from_port": port, "to_port": port, "cidr_ipv4": cidr}
    return planned("aws_vpc_security_group_ingress_rule.it", "create", values=values, region="us-east-1")


def _permits(cidr: str, port: int) -> dict[str, Any]:
    permission = {"IpProtocol": "tcp", "FromPort": port, "ToPort": port, "IpRanges": [{"CidrIp": cidr}]}
    return {"GroupId": GROUP, "IpPermissions": [permission]}


def _schedule(most: int) -> dict[str, Any]:
    sizes = {"min_size": 2, "max_size": most, "desired_capacity": -1}
    values = {"scheduled_action_name": "it", "autoscaling_group_name": ASG, "recurrence": "0 3 * * *", **sizes}
    return planned("aws_autoscaling_schedule.it", "create", values=values, region="us-east-1")


def _sizes(most: int) -> dict[str, Any]:
    return {
        "AutoScalingGroupName": ASG, "ScheduledActionName": "it", "Recurrence": "0 3 * * *", "MinSize": 2, "MaxSize": most,
    }  # fmt: skip


OLDER = planned(
    "aws_security_group_rule.it",
    "create",
    values={
        "security_group_id": GROUP,
        "type": "ingress",
        "protocol": "tcp",
        "from_port": 22,
        "to_port": 22,
        "cidr_blocks": ["192.168.0.0/16"],
    },
)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (_rule("192.168.0.0/16", 22), "bounds.cidr_within"),
        (OLDER, "bounds.cidr_within"),
        (_schedule(500), "bounds.max"),
    ],
)
def test_a_contract_holds_for_what_a_plan_makes_beside_its_resource(gate: Gate, change: Any, rule: str) -> None:
    _, report = ask(gate, "pipeline", change)
    assert report["session"] is None
    denied = [each for each in report["decision"]["findings"] if each["verdict"] == "deny"]
    assert rule in [each["rule"] for each in denied]
    assert {each["address"] for each in denied} <= {
        "aws_security_group.kafka_consumer", "aws_autoscaling_group.kafka_consumer",
    }  # fmt: skip


def test_a_contract_holds_for_the_call_where_the_plan_does_not_tell(gate: Gate) -> None:
    change = _rule("10.0.0.0/8", 8443)
    del change["values"]["cidr_ipv4"]
    ec2 = opened(gate, {**change, "unknown": ["cidr_ipv4"]}).client("ec2")
    said = refused(ec2.authorize_security_group_ingress, **_permits("192.168.0.0/16", 8443))
    assert "aws_security_group.kafka_consumer" in said or "bounds.cidr_within" in said
    assert list(gate.upstream.asked) == []


def test_what_is_within_the_contract_is_applied_and_written_back_where_the_plan_has_it(gate: Gate) -> None:
    applying = opened(gate, _rule("10.1.0.0/16", 8443), _schedule(8))
    applying.client("ec2").authorize_security_group_ingress(**_permits("10.1.0.0/16", 8443))
    applying.client("autoscaling").put_scheduled_update_group_action(**_sizes(8))
    assert list(gate.upstream.asked) == ["AuthorizeSecurityGroupIngress", "PutScheduledUpdateGroupAction"]
    bodies: list[Any] = [each.body for each in gate.records(stage=Stage.DECIDED)[-2:]]
    beside = [each for body in bodies for each in body.effects if each.in_code]
    assert {each.address for each in beside} == {
        "aws_security_group.kafka_consumer", "aws_autoscaling_group.kafka_consumer",
    }  # fmt: skip
    assert all(each.implied for each in beside), "what a plan has elsewhere is written nowhere else"
