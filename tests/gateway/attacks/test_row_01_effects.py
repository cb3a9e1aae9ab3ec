"""Row 1, the effects' part: a small request that names much kept the gateway busy for twenty seconds.

Every call over the limits is refused as a 400 with a sentence before its effects are worked out, it is recorded, and nothing reaches AWS.
"""

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from botocore.exceptions import ClientError

from gateway.core.records.record import Stage
from tests.kit.gate import ASG, Gate

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]

NAMES = [f"alarm-{number}" for number in range(4_000)]
RANGES = [{"CidrIp": f"10.{number // 256}.{number % 256}.0/24"} for number in range(16_000)]
RULE = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443}

Attack = Callable[[Gate], Any]

ATTACKS: dict[str, Attack] = {
    "4,000 alarms": lambda gate: gate.client("cloudwatch").enable_alarm_actions(AlarmNames=NAMES),
    "16,000 ranges": lambda gate: gate.client("ec2").authorize_security_group_ingress(
        GroupId="sg-0abc1234", IpPermissions=[{**RULE, "IpRanges": RANGES}]
    ),
    "16,000 ranges, revoked": lambda gate: gate.client("ec2").revoke_security_group_ingress(
        GroupId="sg-0abc1234", IpPermissions=[{**RULE, "IpRanges": RANGES}]
    ),
    "ranges in many rules": lambda gate: gate.client("ec2").authorize_security_group_ingress(
        GroupId="sg-0abc1234", IpPermissions=[{**RULE, "IpRanges": RANGES[:20]}] * 600
    ),
    "names times tags": lambda gate: gate.client("ec2").create_tags(
        Resources=[f"i-{number:08x}" for number in range(900)], Tags=[{"Key": f"k{n}", "Value": ""} for n in range(900)]
    ),
    "few names times few tags": lambda gate: gate.client("ec2").create_tags(
        Resources=[f"i-{number:08x}" for number in range(50)], Tags=[{"Key": f"k{n}", "Value": ""} for n in range(50)]
    ),
    "instances": lambda gate: gate.client("ec2").terminate_instances(InstanceIds=[f"i-{n:08x}" for n in range(4_000)]),
    "variables": lambda gate: gate.client("lambda").update_function_configuration(
        FunctionName="kafka-rebalancer", Environment={"Variables": dict.fromkeys(NAMES, "")}
    ),
    "subnets in one text": lambda gate: gate.client("autoscaling").update_auto_scaling_group(
        AutoScalingGroupName=ASG, VPCZoneIdentifier=",".join(NAMES)
    ),
    "keys of a queue": lambda gate: gate.client("sqs").untag_queue(
        QueueUrl="https://sqs.us-east-1.amazonaws.com/123456789012/kafka-shard-0", TagKeys=NAMES
    ),
}


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS.keys())
def test_a_call_that_names_too_much_is_refused_in_words(gate: Gate, attack: Attack) -> None:
    with pytest.raises(ClientError) as refused:
        attack(gate)
    answer = refused.value.response
    assert answer["ResponseMetadata"]["HTTPStatusCode"] == 400
    assert gate.upstream.asked == []


def test_the_sentence_says_what_to_do_and_the_record_who_asked(gate: Gate) -> None:
    with pytest.raises(ClientError, match="more than Sentinel judges at once"):
        ATTACKS["few names times few tags"](gate)
    record = gate.records(stage=Stage.TURNED_AWAY)[-1]
    assert record.actor == "agent"
    assert "split it into several calls" in str(record.body)


def test_the_api_refuses_it_too_also_as_a_dry_run(gate: Gate) -> None:
    body = {
        "service": "ec2",
        "operation": "CreateTags",
        "parameters": {
            "Resources": [f"i-{number:08x}" for number in range(50)],
            "Tags": [{"Key": f"k{number}", "Value": ""} for number in range(50)],
        },
        "motive": {"intent": "availability", "motivation": "incident", "evidence": ["A-1"]},
    }
    for dry_run in (False, True):
        answer = httpx.post(f"{gate.url}/v1/mutations", json={**body, "dry_run": dry_run}, headers=gate.bearer())
        assert answer.status_code == 400, answer.text
        assert answer.json()["code"] == "call_too_large"
