"""Attacks by a hijacked agent with a valid key on a whole gateway; each must fail before AWS is called."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import ClientError

from tests.kit.gate import ASG, Gate

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]

QUEUE = "https://sqs.us-east-1.amazonaws.com/123456789012/kafka-shard-0"
FOREIGN_QUEUE = "https://sqs.us-east-1.amazonaws.com/999999999999/kafka-shard-0"
GROUP = "sg-0abc1234"

Attack = Callable[[Gate], Any]


def _authorize(**rule: Any) -> Attack:
    permission = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, **rule}
    return lambda gate: gate.client("ec2").authorize_security_group_ingress(GroupId=GROUP, IpPermissions=[permission])


def _world(*cidrs: str) -> list[dict[str, str]]:
    return [{"CidrIp": cidr} for cidr in cidrs]


REFUSED: dict[str, Attack] = {
    # What an agent may not touch, it may not restate either: that would claim it, or undo what was changed past the gate.
    "restating a value of the skeleton": lambda gate: gate.client("lambda").update_function_configuration(
        FunctionName="kafka-rebalancer", MemorySize=256
    ),
    "restating an attribute nobody gave to agents": lambda gate: gate.client("autoscaling").update_auto_scaling_group(
        AutoScalingGroupName=ASG, MinSize=2
    ),
    # The capacity, by other names.
    "detaching instances": lambda gate: gate.client("autoscaling").detach_instances(
        AutoScalingGroupName=ASG, InstanceIds=["i-1", "i-2"], ShouldDecrementDesiredCapacity=True
    ),
    "attaching instances": lambda gate: gate.client("autoscaling").attach_instances(
        AutoScalingGroupName=ASG, InstanceIds=["i-1"]
    ),
    "entering standby": lambda gate: gate.client("autoscaling").enter_standby(
        AutoScalingGroupName=ASG, InstanceIds=["i-1"], ShouldDecrementDesiredCapacity=True
    ),
    "executing a policy": lambda gate: gate.client("autoscaling").execute_policy(
        AutoScalingGroupName=ASG, PolicyName="kafka-lag-scaler"
    ),
    "terminating an instance of the group": lambda gate: gate.client(
        "autoscaling"
    ).terminate_instance_in_auto_scaling_group(InstanceId="i-1", ShouldDecrementDesiredCapacity=True),
    "capacity later": lambda gate: gate.client("autoscaling").put_scheduled_update_group_action(
        AutoScalingGroupName=ASG, ScheduledActionName="x", DesiredCapacity=1
    ),
    "faking an alarm that fires a policy": lambda gate: gate.client("cloudwatch").set_alarm_state(
        AlarmName="HighConsumerLagAlarm", StateValue="ALARM", StateReason="x"
    ),
    "another launch template by a refresh": lambda gate: gate.client("autoscaling").start_instance_refresh(
        AutoScalingGroupName=ASG,
        DesiredConfiguration={"LaunchTemplate": {"LaunchTemplateName": "evil", "Version": "1"}},
    ),
    # Data.
    "purging a queue": lambda gate: gate.client("sqs").purge_queue(QueueUrl=QUEUE),
    # Another account's thing that is called as ours is.
    "a queue of another account": lambda gate: gate.client("sqs").set_queue_attributes(
        QueueUrl=FOREIGN_QUEUE, Attributes={"VisibilityTimeout": "31"}
    ),
    # Numbers and names in odd notation.
    "a number with an underscore": lambda gate: gate.client("sqs").set_queue_attributes(
        QueueUrl=QUEUE, Attributes={"VisibilityTimeout": "3_1"}
    ),
    "a number in other digits": lambda gate: gate.client("sqs").set_queue_attributes(
        QueueUrl=QUEUE, Attributes={"VisibilityTimeout": "\uff13\uff11"}
    ),
    "a negative number": lambda gate: gate.client("sqs").set_queue_attributes(
        QueueUrl=QUEUE, Attributes={"VisibilityTimeout": "-1"}
    ),
    "a name in other letters": lambda gate: gate.client("autoscaling").set_desired_capacity(
        AutoScalingGroupName=ASG.upper(), DesiredCapacity=5
    ),
    "a name with a space": lambda gate: gate.client("autoscaling").set_desired_capacity(
        AutoScalingGroupName=f"{ASG} ", DesiredCapacity=5
    ),
    "a group of another account by ARN": lambda gate: gate.client("autoscaling").set_desired_capacity(
        AutoScalingGroupName=f"arn:aws:autoscaling:us-east-1:999999999999:autoScalingGroup:1:autoScalingGroupName/{ASG}",
        DesiredCapacity=5,
    ),
    "a whole configuration instead of a value": lambda gate: gate.client("lambda").update_function_configuration(
        FunctionName="arn:aws:lambda:us-east-1:123456789012:function:kafka-rebalancer", Environment={"Variables": {}}
    ),
    "an overwritten alarm without its actions": lambda gate: gate.client("cloudwatch").put_metric_alarm(
        AlarmName="HighConsumerLagAlarm", Threshold=100001, EvaluationPeriods=1, ComparisonOperator="LessThanThreshold"
    ),
    # What a security group lets in.
    "every protocol": _authorize(IpProtocol="-1", IpRanges=_world("10.1.0.0/16")),
    "every protocol by number": _authorize(IpProtocol="256", IpRanges=_world("10.1.0.0/16")),
    "icmp": _authorize(IpProtocol="icmp", FromPort=-1, ToPort=-1, IpRanges=_world("10.1.0.0/16")),
    "ports from minus one": _authorize(FromPort=-1, ToPort=-1, IpRanges=_world("10.1.0.0/16")),
    "a range around the ports": _authorize(FromPort=443, ToPort=8443, IpRanges=_world("10.1.0.0/16")),
    "the world": _authorize(IpRanges=_world("0.0.0.0/0")),
    "the world in halves": _authorize(IpRanges=_world("0.0.0.0/1", "128.0.0.0/1")),
    "the world with host bits": _authorize(IpRanges=_world("10.0.0.1/0")),
    "a net with a leading zero": _authorize(IpRanges=_world("010.0.0.0/8")),
    "the world in IPv6": _authorize(Ipv6Ranges=[{"CidrIpv6": "::/0"}]),
    "IPv4 in IPv6": _authorize(Ipv6Ranges=[{"CidrIpv6": "::ffff:0.0.0.0/96"}]),
    "a prefix list": _authorize(PrefixListIds=[{"PrefixListId": "pl-1"}]),
    "the older form": lambda gate: gate.client("ec2").authorize_security_group_ingress(
        GroupId=GROUP, IpProtocol="tcp", FromPort=22, ToPort=22, CidrIp="0.0.0.0/0"
    ),
    "both forms": lambda gate: gate.client("ec2").authorize_security_group_ingress(
        GroupId=GROUP,
        IpProtocol="tcp",
        FromPort=22,
        ToPort=22,
        CidrIp="0.0.0.0/0",
        IpPermissions=[{"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "IpRanges": _world("10.1.0.0/16")}],
    ),
    "one group by id and another by name": lambda gate: gate.client("ec2").authorize_security_group_ingress(
        GroupId=GROUP,
        GroupName="another",
        IpPermissions=[{"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "IpRanges": _world("10.1.0.0/16")}],
    ),
    "another group's source": lambda gate: gate.client("ec2").authorize_security_group_ingress(
        GroupId=GROUP, SourceSecurityGroupName="x", SourceSecurityGroupOwnerId="999999999999"
    ),
    "a rule nobody knows": lambda gate: gate.client("ec2").modify_security_group_rules(
        GroupId=GROUP, SecurityGroupRules=[{"SecurityGroupRuleId": "sgr-1", "SecurityGroupRule": {"FromPort": 22}}]
    ),
    # Round the table of effects.
    "another service's update of the group": lambda gate: gate.client("cloudcontrol").update_resource(
        TypeName="AWS::AutoScaling::AutoScalingGroup", Identifier=ASG, PatchDocument="[]"
    ),
    "a schedule that calls AWS": lambda gate: gate.client("scheduler").create_schedule(
        Name="x",
        ScheduleExpression="rate(1 minute)",
        FlexibleTimeWindow={"Mode": "OFF"},
        Target={"Arn": "arn:aws:scheduler:::aws-sdk:autoscaling:setDesiredCapacity", "RoleArn": "arn:aws:iam::1:role/r"},
    ),
    "SQL that deletes": lambda gate: gate.client("dynamodb").execute_statement(
        Statement="DELETE FROM \"kafka-offsets\" WHERE \"partition\"='1'"
    ),
    # Keys, by the gate's own rights.
    "opening what is sealed": lambda gate: gate.client("kms").decrypt(CiphertextBlob=b"x"),
    "signing": lambda gate: gate.client("kms").sign(KeyId="k", Message=b"x", SigningAlgorithm="RSASSA_PSS_SHA_256"),
    "another region": lambda gate: _elsewhere(gate).set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=5),
}  # fmt: skip


def _elsewhere(gate: Gate) -> Any:
    client = gate.client("autoscaling")
    client._request_signer._region_name = "eu-west-1"
    return client


@pytest.mark.parametrize("attack", REFUSED.values(), ids=REFUSED.keys())
def test_it_never_reaches_aws_and_claims_nothing(gate: Gate, attack: Attack) -> None:
    with pytest.raises(ClientError):
        attack(gate)
    assert gate.upstream.asked == []
    assert not gate.run(gate.ledger.claims())


# Whose is whose ------------------------------------------------------------------------------------------------------

SIX = {"AutoScalingGroupName": ASG, "DesiredCapacity": 6}
REPLAY = {"ReplayName": "nightly"}
INCIDENT = {"intent": "availability", "motivation": "incident", "evidence": ["A-1"]}


def _post(gate: Gate, path: str, actor: str | dict[str, str], body: Any = None) -> httpx.Response:
    headers = gate.bearer(actor) if isinstance(actor, str) else actor
    return httpx.post(f"{gate.url}/v1/{path}", json=body, headers=headers)


def _propose(gate: Gate, actor: str = "agent", headers: dict[str, str] | None = None, **more: Any) -> httpx.Response:
    body = {"service": "autoscaling", "operation": "SetDesiredCapacity", "parameters": SIX, "motive": INCIDENT, **more}
    return _post(gate, "mutations", {**gate.bearer(actor), **(headers or {})}, body)


def _held(gate: Gate, actor: str = "agent", **more: str) -> str:
    with pytest.raises(ClientError) as caught:
        gate.client("events", actor, ("performance", "schedule")).cancel_replay(**{**REPLAY, **more})
    return str(caught.value.response["ResponseMetadata"]["HTTPHeaders"]["x-sentinel-mutation"])


def _session(gate: Gate, actor: str, lasts: str = "10m") -> dict[str, str]:
    given = _post(gate, "sessions", actor, {"motive": INCIDENT, "lasts": lasts}).json()
    return {"Authorization": f"Bearer {given['access_key_id']}.{given['secret_access_key']}"}


@pytest.mark.parametrize("own", ["standing key", "session key"])
def test_no_actor_approves_its_own_call(gate: Gate, own: str) -> None:
    mutation = _held(gate, "human")
    key = gate.bearer("human") if own == "standing key" else _session(gate, "human")
    assert _post(gate, f"mutations/{mutation}/approve", key).status_code == 403


@pytest.mark.parametrize("actor", ["agent", "rival", "pipeline"])
def test_only_an_approver_may_approve_or_reject(gate: Gate, actor: str) -> None:
    mutation = _held(gate)
    for act in ("approve", "reject"):
        assert _post(gate, f"mutations/{mutation}/{act}", actor, {"reason": "Mine."}).status_code == 403
    assert _post(gate, f"mutations/{mutation}/approve", _session(gate, actor)).status_code == 403


def test_an_approval_is_for_its_actor_and_its_call_alone(gate: Gate) -> None:
    mutation = _held(gate)
    assert _post(gate, f"mutations/{mutation}/approve", "human").status_code == 200
    _held(gate, "rival")
    with pytest.raises(ClientError):
        gate.client("events", motive=("performance", "schedule")).cancel_replay(**{**REPLAY, "ReplayName": "weekly"})
    assert gate.upstream.asked == []


def test_an_expired_approval_lifts_no_hold(gate: Gate) -> None:
    mutation = _held(gate, ReplayName="ended")
    assert _post(gate, f"mutations/{mutation}/approve", "human", {"lasts": "1s"}).status_code == 200
    time.sleep(1.1)
    _held(gate, ReplayName="ended")
    assert gate.upstream.asked == []


def test_an_idempotency_key_is_its_actors_own(gate: Gate) -> None:
    first = _propose(gate, headers={"Idempotency-Key": "shared"}).json()
    other = _propose(gate, "rival", headers={"Idempotency-Key": "shared"}, dry_run=True)
    assert first["outcome"]["outcome"] == "applied"
    assert first["mutation"]["id"] not in other.text


def test_a_rival_neither_sees_nor_ends_what_is_not_its_own(gate: Gate) -> None:
    mutation = _propose(gate).json()["mutation"]["id"]
    rival = gate.bearer("rival")
    assert httpx.get(f"{gate.url}/v1/mutations/{mutation}", headers=rival).status_code == 404
    for path in ("claims", "claims?actor=agent", "records?actor=agent", "records"):
        assert mutation not in httpx.get(f"{gate.url}/v1/{path}", headers=rival).text
    assert _post(gate, f"mutations/{mutation}/release", "rival").status_code == 404
    assert len(gate.run(gate.ledger.claims())) == 1


@pytest.mark.parametrize(
    "call",
    [
        lambda client: client.set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=5),
        lambda client: client.update_auto_scaling_group(AutoScalingGroupName=ASG, DesiredCapacity=5),
        lambda client: client.detach_instances(
            AutoScalingGroupName=ASG, InstanceIds=["i-1"], ShouldDecrementDesiredCapacity=True
        ),
        lambda client: client.delete_auto_scaling_group(AutoScalingGroupName=ASG, ForceDelete=True),
    ],
)
def test_no_other_name_for_a_change_evades_a_standing_claim(gate: Gate, call: Attack) -> None:
    _propose(gate)
    gate.upstream.asked.clear()
    with pytest.raises(ClientError) as caught:
        call(gate.client("autoscaling", "rival", ("cost", "budget")))
    assert "held by agent" in caught.value.response["Error"]["Message"]
    assert gate.upstream.asked == []


ALARM = {
    "AlarmName": "HighConsumerLagAlarm",
    "EvaluationPeriods": 1,
    "ComparisonOperator": "GreaterThanThreshold",
    "AlarmActions": ["arn:aws:autoscaling:us-east-1:123456789012:scalingPolicy:1"],
}


def test_what_was_applied_since_the_state_was_written_is_not_dropped_by_leaving_it_out(gate: Gate) -> None:
    topic = "arn:aws:sns:us-east-1:123456789012:pager"
    gate.client("cloudwatch", "pipeline").put_metric_alarm(**ALARM, Threshold=100000, OKActions=[topic])
    gate.upstream.asked.clear()
    with pytest.raises(ClientError) as caught:
        gate.client("cloudwatch").put_metric_alarm(**ALARM, Threshold=200000)
    assert "ok_actions" in caught.value.response["Error"]["Message"]
    assert gate.upstream.asked == []


def test_rules_add_up_from_one_call_to_the_next(gate: Gate) -> None:
    for number in (1, 2, 3):
        _authorize(IpRanges=_world(f"10.{number}.0.0/16"))(gate)
    bodies: list[Any] = [record.body.members for record in gate.records(resource="aws_security_group.kafka_consumer")]
    (effect,) = bodies[-1]["effects"]
    ranges = {cidr for rule in effect["value"] for cidr in rule["cidr_blocks"]}
    assert ranges >= {"10.1.0.0/16", "10.2.0.0/16", "10.3.0.0/16"}


def test_evidence_that_says_nothing_proves_nothing(gate: Gate) -> None:
    _propose(gate)
    for evidence in ([""], [" "], ["\u200b"], ["\n"]):
        motive = {**INCIDENT, "evidence": evidence}
        reply = _propose(gate, "rival", parameters={**SIX, "DesiredCapacity": 5}, motive=motive)
        assert reply.status_code in (400, 403), evidence


def test_the_same_bytes_again_are_answered_and_not_sent_again(gate: Gate) -> None:
    body = f"Action=SetDesiredCapacity&Version=2011-01-01&AutoScalingGroupName={ASG}&DesiredCapacity=6"
    headers = {
        "content-type": "application/x-www-form-urlencoded; charset=utf-8",
        "x-sentinel-intent": "availability",
        "x-sentinel-motivation": "incident; evidence=A-1",
    }
    request = AWSRequest("POST", f"{gate.url}/", data=body, headers=headers)
    key = gate.keys["agent"]
    SigV4Auth(Credentials(key.id, key.secret), "autoscaling", "us-east-1").add_auth(request)
    answers = []
    for _ in range(3):
        answers.append(httpx.post(f"{gate.url}/", content=body, headers=dict(request.headers.items())))
        gate.release_all()
    assert [answer.status_code for answer in answers] == [200, 200, 200]
    assert gate.upstream.asked == ["SetDesiredCapacity"]


# What is said ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["\x1b[2J", "a\rb", "\u202eevil", "\x00"], ids=ascii)
def test_a_motive_steers_no_terminal_at_any_door(gate: Gate, text: str) -> None:
    for motive in ({**INCIDENT, "text": text}, {**INCIDENT, "evidence": [text]}):
        assert _propose(gate, motive=motive).status_code == 400
        assert _post(gate, "sessions", "agent", {"motive": motive}).status_code == 400


def test_a_session_ends_no_later_than_the_key_it_was_made_with(gate: Gate) -> None:
    short = gate.issue("short", lasts=timedelta(minutes=5))
    given = _post(gate, "sessions", short, {"motive": INCIDENT, "lasts": "12h"}).json()
    left = datetime.fromisoformat(given["expires_at"]) - datetime.now(UTC)
    assert left <= timedelta(minutes=5)


def test_a_key_that_is_revoked_takes_its_sessions_with_it(gate: Gate) -> None:
    stolen = gate.issue("stolen", lasts=timedelta(days=1))
    given = _post(gate, "sessions", stolen, {"motive": INCIDENT}).json()
    session = {"Authorization": f"Bearer {given['access_key_id']}.{given['secret_access_key']}"}
    assert httpx.get(f"{gate.url}/v1/claims", headers=session).status_code == 200
    gate.revoke(stolen)
    end = time.monotonic() + 300
    while time.monotonic() < end and httpx.get(f"{gate.url}/v1/claims", headers=session).status_code == 200:
        time.sleep(0.1)
    assert httpx.get(f"{gate.url}/v1/claims", headers=session).status_code == 401


def test_what_aws_says_of_a_secret_is_not_kept(gate: Gate) -> None:
    gate.upstream.behaviour = "echo"
    canary = "swordfish-echo-9913"
    with pytest.raises(ClientError):
        gate.client("rds", "pipeline").modify_db_instance(
            DBInstanceIdentifier="kafka-reports", MasterUserPassword=canary
        )
    assert gate.upstream.asked == ["ModifyDBInstance"]
    kept = b"".join(path.read_bytes() for path in (gate.directory / "data").rglob("*") if path.is_file())
    assert canary.encode() not in kept
