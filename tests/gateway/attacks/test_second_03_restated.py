"""Second audit, 03: a value that no contract gives an agent was sent to AWS because it rode along with a change the agent may make.

The attack: somebody raised `MinSize` past Sentinel (an incident, the console), so the state is stale. An agent sends a legal capacity and
beside it the state's old `MinSize`: "nothing changes" there, so no contract was asked, and AWS lowers it again. What must hold: only a value
that the call cannot leave out is excused, since AWS requires it or would reset it.
"""

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.kit.gate import ASG, Gate

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]

Call = Callable[[Gate], Any]


def _updates(**parameters: Any) -> Call:
    return lambda gate: gate.client("autoscaling").update_auto_scaling_group(AutoScalingGroupName=ASG, **parameters)


@pytest.mark.parametrize(
    "attack",
    [
        _updates(DesiredCapacity=6, MinSize=2),
        _updates(MaxSize=9, MinSize=2),
        _updates(DesiredCapacity=7, MaxSize=9, MinSize=2),
    ],
)
def test_an_agent_does_not_send_along_what_it_may_not_set(gate: Gate, attack: Call) -> None:
    with pytest.raises(ClientError, match=r"Agents may not set min_size .* Leave it out of the call"):
        attack(gate)
    assert gate.upstream.asked == []


@pytest.mark.parametrize("call", [_updates(DesiredCapacity=6), _updates(DesiredCapacity=6, MaxSize=10)])
def test_what_the_contract_gives_passes(gate: Gate, call: Call) -> None:
    call(gate)
    assert gate.upstream.asked == ["UpdateAutoScalingGroup"]


@pytest.mark.parametrize("actor", ["pipeline", "human"])
def test_terraform_and_people_send_the_whole_group(gate: Gate, actor: str) -> None:
    client = gate.client("autoscaling", actor, ("consistency", "routine"))
    client.update_auto_scaling_group(AutoScalingGroupName=ASG, DesiredCapacity=6, MinSize=2, MaxSize=10)
    assert gate.upstream.asked == ["UpdateAutoScalingGroup"]


def test_an_agent_repeats_the_rest_of_an_alarm_that_aws_would_reset(gate: Gate) -> None:
    alarm = {
        "AlarmName": "HighConsumerLagAlarm",
        "EvaluationPeriods": 1,
        "ComparisonOperator": "GreaterThanThreshold",
        "AlarmActions": ["arn:aws:autoscaling:us-east-1:123456789012:scalingPolicy:1"],
    }
    gate.client("cloudwatch", "pipeline", ("consistency", "routine")).put_metric_alarm(**alarm, Threshold=100000)
    gate.client("cloudwatch").put_metric_alarm(**alarm, Threshold=200000)
    assert gate.upstream.asked == ["PutMetricAlarm", "PutMetricAlarm"]
