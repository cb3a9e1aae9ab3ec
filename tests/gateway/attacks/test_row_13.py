"""Row 13: capacity by another name. With 8 claimed, `UpdateAutoScalingGroup(MaxSize=5)` passed, and AWS then lowered the capacity to 5.

What a change implies is judged like what it asks: by the bounds of the attribute, and by the claims that others hold on it. It is
recorded as implied, and not written into code as if somebody had asked for it.
"""

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from gateway.core.records.record import Stage
from tests.kit.gate import ASG, Gate

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]

Attack = Callable[[Any], Any]
POLICY = "kafka-lag-scaler"
CAPACITY = "desired_capacity"
WEAK = ("cost", "experiment")


def _judged(gate: Gate) -> dict[str, Any]:
    """The implied effects of the last record, by attribute."""
    effects: Any = gate.records(stage=Stage.DECIDED)[-1].body.members["effects"]
    return {effect["attribute"]: effect for effect in effects if effect["implied"]}


OTHER_NAMES: dict[str, Attack] = {
    "a lower maximum": lambda asg: asg.update_auto_scaling_group(AutoScalingGroupName=ASG, MaxSize=5),
    "a higher minimum": lambda asg: asg.update_auto_scaling_group(AutoScalingGroupName=ASG, MinSize=9),
    "a scheduled action": lambda asg: asg.put_scheduled_update_group_action(
        AutoScalingGroupName=ASG, ScheduledActionName="n", DesiredCapacity=2
    ),
    "a scheduled maximum": lambda asg: asg.put_scheduled_update_group_action(
        AutoScalingGroupName=ASG, ScheduledActionName="n", MaxSize=3
    ),
    "a target-tracking policy": lambda asg: asg.put_scaling_policy(
        AutoScalingGroupName=ASG,
        PolicyName="n",
        PolicyType="TargetTrackingScaling",
        TargetTrackingConfiguration={
            "PredefinedMetricSpecification": {"PredefinedMetricType": "ASGAverageCPUUtilization"},
            "TargetValue": 90.0,
        },
    ),
    "another adjustment of the policy": lambda asg: asg.put_scaling_policy(
        AutoScalingGroupName=ASG, PolicyName=POLICY, ScalingAdjustment=-6, AdjustmentType="ChangeInCapacity"
    ),
    "no more launches": lambda asg: asg.suspend_processes(AutoScalingGroupName=ASG, ScalingProcesses=["Launch"]),
    "no process at all": lambda asg: asg.suspend_processes(AutoScalingGroupName=ASG),
}  # fmt: skip


@pytest.mark.parametrize("kind", ["rival", "pipeline"])
@pytest.mark.parametrize("attack", OTHER_NAMES.values(), ids=OTHER_NAMES.keys())
def test_no_other_name_lowers_a_claimed_capacity(gate: Gate, attack: Attack, kind: str) -> None:
    gate.client("autoscaling").set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=8)
    gate.upstream.asked.clear()
    with pytest.raises(ClientError) as refused:
        attack(gate.client("autoscaling", kind, WEAK))
    assert gate.upstream.asked == []
    assert CAPACITY in _judged(gate)
    assert "held by agent" in refused.value.response["Error"]["Message"]


def test_the_value_that_aws_would_set_is_recorded(gate: Gate) -> None:
    gate.client("autoscaling").set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=8)
    with pytest.raises(ClientError):
        OTHER_NAMES["a lower maximum"](gate.client("autoscaling", "rival", WEAK))
    implied = _judged(gate)[CAPACITY]
    assert (implied["action"], implied["value"], implied["before"]) == ("set", 5, 8)


def test_faking_the_alarm_of_a_policy_is_a_contest_too(gate: Gate) -> None:
    gate.client("autoscaling").set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=8)
    gate.upstream.asked.clear()
    with pytest.raises(ClientError, match="held by agent"):
        gate.client("cloudwatch", "pipeline", WEAK).set_alarm_state(
            AlarmName="HighConsumerLagAlarm", StateValue="ALARM", StateReason="x"
        )
    assert gate.upstream.asked == []


def test_an_implied_step_is_held_against_the_bounds(gate: Gate) -> None:
    """The contract lets agents move the capacity by 4 at most. From 8, a maximum of 3 would move it by 5."""
    asg = gate.client("autoscaling")
    asg.set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=8)
    gate.upstream.asked.clear()
    with pytest.raises(ClientError, match="desired_capacity"):
        asg.update_auto_scaling_group(AutoScalingGroupName=ASG, MaxSize=3)
    assert gate.upstream.asked == []


def test_a_maximum_that_implies_nothing_contests_nothing(gate: Gate) -> None:
    gate.client("autoscaling").set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=8)
    gate.upstream.asked.clear()
    gate.client("autoscaling", "pipeline", WEAK).update_auto_scaling_group(AutoScalingGroupName=ASG, MaxSize=12)
    assert len(gate.upstream.asked) == 1
    assert not _judged(gate)
