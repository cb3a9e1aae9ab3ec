"""Row 2: restating passes arbitration.

A (an incident) sets 8, and the call is in flight or in doubt. A rival sends the old value 4: by the last known value that is no
change, so no claim is weighed, it is applied, and the claim still says 8. What must hold: a SET on an attribute under another
actor's claim is a contest unless it asks for exactly the settled value that the claim wants; who agrees gets no claim, and the holder
keeps its own. While a change is not settled, one that agrees too, nobody else sets the attribute.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from botocore.exceptions import ClientError

from gateway.core.model.claim import Claim
from tests.kit.gate import ASG, Gate

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]

QUEUE = "https://sqs.us-east-1.amazonaws.com/123456789012/kafka-shard-0"
COST = ("cost", "experiment")
INCIDENT = ("availability", "incident; evidence=A-1")
ALARM = {
    "AlarmName": "HighConsumerLagAlarm",
    "EvaluationPeriods": 1,
    "ComparisonOperator": "GreaterThanThreshold",
    "AlarmActions": ["arn:aws:autoscaling:us-east-1:123456789012:scalingPolicy:1"],
}
Attack = Callable[[Gate, str, tuple[str, str]], Any]


def _capacity(gate: Gate, actor: str, motive: tuple[str, str], value: int) -> Any:
    return gate.client("autoscaling", actor, motive).set_desired_capacity(
        AutoScalingGroupName=ASG, DesiredCapacity=value
    )


def _claims(gate: Gate) -> list[Claim]:
    return list(gate.run(gate.ledger.claims()))


def _in_doubt(gate: Gate, value: int = 8) -> None:
    """The change of the incident, whose outcome nobody knows."""
    gate.upstream.behaviour = "cut"
    with pytest.raises(ClientError):
        _capacity(gate, "agent", INCIDENT, value)
    gate.upstream.behaviour = "ok"
    gate.upstream.asked.clear()


RESTATED: dict[str, Attack] = {
    "the old value": lambda gate, actor, motive: _capacity(gate, actor, motive, 4),
    "the claimed value": lambda gate, actor, motive: _capacity(gate, actor, motive, 8),
    "a new value": lambda gate, actor, motive: _capacity(gate, actor, motive, 5),
    "by another operation": lambda gate, actor, motive: gate.client(
        "autoscaling", actor, motive
    ).update_auto_scaling_group(AutoScalingGroupName=ASG, DesiredCapacity=4),
    "beside a change": lambda gate, actor, motive: gate.client("autoscaling", actor, motive).update_auto_scaling_group(
        AutoScalingGroupName=ASG, DesiredCapacity=4, MaxSize=15
    ),
    "beside what only stays": lambda gate, actor, motive: gate.client(
        "autoscaling", actor, motive
    ).update_auto_scaling_group(AutoScalingGroupName=ASG, DesiredCapacity=4, MaxSize=16),
}
ACTORS = {
    "a weaker rival": ("rival", COST),
    "an equal rival": ("rival", INCIDENT),
    "a pipeline": ("pipeline", ("consistency", "routine")),
    "a human with the same motive": ("human", INCIDENT),
}


@pytest.mark.parametrize("attack", RESTATED.values(), ids=RESTATED.keys())
@pytest.mark.parametrize(("actor", "motive"), ACTORS.values(), ids=ACTORS.keys())
def test_nobody_sets_what_is_in_doubt(gate: Gate, attack: Attack, actor: str, motive: tuple[str, str]) -> None:
    _in_doubt(gate)
    with pytest.raises(ClientError) as caught:
        attack(gate, actor, motive)
    assert "agent is changing desired_capacity" in caught.value.response["Error"]["Message"]
    assert gate.upstream.asked == []
    assert [(claim.actor, claim.value) for claim in _claims(gate)] == [("agent", 8)]


@pytest.mark.parametrize("value", [4, 5, 8])
def test_not_even_the_holder_sets_what_is_in_doubt(gate: Gate, value: int) -> None:
    _in_doubt(gate)
    with pytest.raises(ClientError):
        _capacity(gate, "agent", INCIDENT, value)
    assert gate.upstream.asked == []
    assert [claim.value for claim in _claims(gate)] == [8]


@pytest.mark.parametrize("value", [4, 5, 8])
def test_nobody_sets_what_is_in_flight(gate: Gate, value: int) -> None:
    gate.upstream.behaviour = "slow"
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(_capacity, gate, "agent", INCIDENT, 8)
        _wait_for_the_first(gate)
        with pytest.raises(ClientError):
            _capacity(gate, "human", INCIDENT, value)
        first.result()
    assert gate.upstream.asked == ["SetDesiredCapacity"]


def test_a_change_does_not_overtake_a_restated_value_that_is_in_flight(gate: Gate) -> None:
    gate.upstream.behaviour = "slow"
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(_capacity, gate, "rival", COST, 4)
        _wait_for_the_first(gate)
        with pytest.raises(ClientError):
            _capacity(gate, "human", INCIDENT, 8)
        first.result()
    assert gate.upstream.asked == ["SetDesiredCapacity"]
    _capacity(gate, "human", INCIDENT, 8)


def _wait_for_the_first(gate: Gate) -> None:
    while not gate.upstream.asked:
        pass


@pytest.mark.parametrize("attack", [name for name in RESTATED if name != "the claimed value"])
def test_a_weaker_rival_does_not_set_what_another_holds(gate: Gate, attack: str) -> None:
    _capacity(gate, "agent", INCIDENT, 8)
    gate.upstream.asked.clear()
    with pytest.raises(ClientError) as caught:
        RESTATED[attack](gate, "rival", COST)
    assert "held by agent" in caught.value.response["Error"]["Message"]
    assert gate.upstream.asked == []


@pytest.mark.parametrize(("actor", "motive"), ACTORS.values(), ids=ACTORS.keys())
def test_who_asks_for_exactly_the_settled_value_agrees_and_takes_no_claim(
    gate: Gate, actor: str, motive: tuple[str, str]
) -> None:
    _capacity(gate, "agent", INCIDENT, 8)
    before = _claims(gate)
    mutation = _capacity(gate, actor, motive, 8)["ResponseMetadata"]["HTTPHeaders"]["x-sentinel-mutation"]
    assert _claims(gate) == before
    assert gate.upstream.asked == ["SetDesiredCapacity"] * 2
    assert [record.stage.value for record in gate.records(mutation_id=mutation)] == ["decided", "settled"]
    with pytest.raises(ClientError, match="held by agent"):
        _capacity(gate, "rival", COST, 7)


def test_while_the_agreement_is_in_flight_its_holder_waits_and_then_has_the_claim_again(gate: Gate) -> None:
    _capacity(gate, "agent", INCIDENT, 8)
    before = _claims(gate)
    gate.upstream.asked.clear()
    gate.upstream.behaviour = "slow"
    with ThreadPoolExecutor(1) as pool:
        agreeing = pool.submit(_capacity, gate, "rival", COST, 8)
        _wait_for_the_first(gate)
        with pytest.raises(ClientError, match="rival is changing desired_capacity"):
            _capacity(gate, "agent", INCIDENT, 9)
        agreeing.result()
    gate.upstream.behaviour = "ok"
    assert _claims(gate) == before
    _capacity(gate, "agent", INCIDENT, 9)
    assert [(claim.actor, claim.value) for claim in _claims(gate)] == [("agent", 9)]


def test_an_agreement_that_aws_refuses_leaves_the_claim_where_it_was(gate: Gate) -> None:
    _capacity(gate, "agent", INCIDENT, 8)
    before = _claims(gate)
    gate.upstream.behaviour = "refuse"
    with pytest.raises(ClientError):
        _capacity(gate, "rival", COST, 8)
    assert _claims(gate) == before


def test_a_stronger_actor_restates_without_taking_the_claim(gate: Gate) -> None:
    _capacity(gate, "agent", COST, 8)
    before = _claims(gate)
    _capacity(gate, "human", INCIDENT, 8)
    assert _claims(gate) == before
    assert gate.upstream.asked == ["SetDesiredCapacity"] * 2


def test_if_the_restated_call_is_in_doubt_the_attribute_is_locked_until_it_is_known(gate: Gate) -> None:
    _capacity(gate, "agent", COST, 8)
    gate.upstream.behaviour = "cut"
    with pytest.raises(ClientError):
        _capacity(gate, "human", INCIDENT, 8)
    gate.upstream.behaviour = "ok"
    gate.upstream.asked.clear()
    for value in (4, 8, 9):
        with pytest.raises(ClientError):
            _capacity(gate, "agent", COST, value)
    assert gate.upstream.asked == []


def test_a_value_that_the_claim_disputes_is_a_change_even_if_the_code_declares_it(gate: Gate) -> None:
    _capacity(gate, "agent", COST, 8)
    _capacity(gate, "human", INCIDENT, 4)
    assert [(claim.actor, claim.value) for claim in _claims(gate)] == [("human", 4)]


def test_a_part_of_a_claimed_map_is_contested_too(gate: Gate) -> None:
    gate.client("sqs", "pipeline", INCIDENT).tag_queue(QueueUrl=QUEUE, Tags={"owner": "streaming", "tier": "1"})
    gate.upstream.asked.clear()
    with pytest.raises(ClientError) as caught:
        gate.client("sqs", "agent", COST).tag_queue(QueueUrl=QUEUE, Tags={"owner": "thief"})
    assert "held by pipeline" in caught.value.response["Error"]["Message"]
    assert gate.upstream.asked == []


def test_an_operation_that_sends_every_member_again_contests_each_that_it_changes(gate: Gate) -> None:
    gate.client("cloudwatch", "human", INCIDENT).put_metric_alarm(**ALARM, Threshold=200000)
    before = _claims(gate)
    gate.upstream.asked.clear()
    routine = gate.client("cloudwatch", "pipeline", ("consistency", "routine"))
    for periods, threshold in ((1, 100000), (2, 200000)):
        with pytest.raises(ClientError) as caught:
            routine.put_metric_alarm(**{**ALARM, "EvaluationPeriods": periods}, Threshold=threshold)
        assert "held by human" in caught.value.response["Error"]["Message"]
    assert gate.upstream.asked == []
    routine.put_metric_alarm(**ALARM, Threshold=200000)
    assert _claims(gate) == before


def test_a_dry_run_says_the_same(gate: Gate) -> None:
    _in_doubt(gate)
    body = {
        "service": "autoscaling",
        "operation": "SetDesiredCapacity",
        "parameters": {"AutoScalingGroupName": ASG, "DesiredCapacity": 4},
        "motive": {"intent": "availability", "motivation": "incident", "evidence": ["A-2"]},
        "dry_run": True,
    }
    reply = httpx.post(f"{gate.url}/v1/mutations", json=body, headers=gate.bearer("human")).json()
    assert reply["decision"]["verdict"] == "deny"
    assert {finding["rule"] for finding in reply["decision"]["findings"]} >= {"SEN-A005"}
