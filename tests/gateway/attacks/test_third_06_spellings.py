"""Third audit, rows 6 and 9: a declared resource under another spelling, or a name that is not unique.

`KAFKA-Rebalancer` was taken for a role that no code declares, so neither its contract nor its claims held; a security group's name for the
declared group of any VPC. What AWS may take for a declared resource is not understood, and so held, until it is spelled as the code does.
"""

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.kit.gate import Gate

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]

Attack = Callable[[Gate, str], Any]
_HERE = "us-east-1:123456789012"

ATTACKS: dict[str, Attack] = {
    "a role in capitals": lambda gate, actor: gate.client("iam", actor).delete_role(RoleName="KAFKA-Rebalancer"),
    "a role's policy": lambda gate, actor: gate.client("iam", actor).update_assume_role_policy(
        RoleName="Kafka-rebalancer", PolicyDocument="{}"
    ),
    "a group in capitals": lambda gate, actor: gate.client("autoscaling", actor).set_desired_capacity(
        AutoScalingGroupName="Kafka-Consumer-Processor-ASG", DesiredCapacity=5
    ),
    "a group's ARN": lambda gate, actor: gate.client("autoscaling", actor).create_or_update_tags(
        Tags=[
            {
                "ResourceId": f"arn:aws:autoscaling:{_HERE}:autoScalingGroup:1:autoScalingGroupName/other",
                "ResourceType": "auto-scaling-group",
                "Key": "a",
                "Value": "b",
                "PropagateAtLaunch": True,
            }
        ]
    ),
    "an alarm in capitals": lambda gate, actor: gate.client("cloudwatch", actor).delete_alarms(
        AlarmNames=["HIGHCONSUMERLAGALARM"]
    ),
    "an access point's alias": lambda gate, actor: gate.client("s3", actor).delete_bucket_policy(
        Bucket="reports-hrzrlukc5m36ft7okagglf3gmwluquse1b-s3alias"
    ),
    "an object lambda's alias": lambda gate, actor: gate.client("s3", actor).delete_bucket_policy(
        Bucket="my-object-l-1a4n8yjrb3kda96f67zwrwiiuse1a--ol-s3"
    ),
    "a security group by a name that is not unique": lambda gate, actor: gate.client(
        "ec2", actor
    ).authorize_security_group_ingress(
        GroupName="kafka-consumer", IpProtocol="tcp", FromPort=22, ToPort=22, CidrIp="10.0.0.0/8"
    ),
    "a security group deleted by its name": lambda gate, actor: gate.client("ec2", actor).delete_security_group(
        GroupName="kafka-consumer"
    ),
}


@pytest.mark.parametrize("actor", ["agent", "pipeline"])
@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS.keys())
def test_another_spelling_of_a_declared_name_is_not_understood(gate: Gate, attack: Attack, actor: str) -> None:
    with pytest.raises(ClientError):
        attack(gate, actor)
    assert gate.upstream.asked == []
    body: Any = gate.records()[-1].body.members
    assert body["effects"] == [], (
        "the call was taken for one on a resource that nobody declares, or on that of another VPC"
    )
