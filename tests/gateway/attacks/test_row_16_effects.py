"""Row 16, the effects' part: a call that names two resources at once, and a call that changes what it leaves out.

`ecs:UpdateService` with the ARN of a service in one cluster and `cluster=` another is not understood, so it is held and never sent; so is
every other pair of parameters that name two resources. What an overwriting call leaves out falls back to its default, and is judged.
"""

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from gateway.core.records.record import Stage
from tests.kit.gate import ASG, Gate

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]

OURS = "123456789012"
Attack = Callable[[Gate, str], Any]


def _service(operation: str, service: str, **more: Any) -> Attack:
    return lambda gate, actor: getattr(gate.client("ecs", actor), operation)(service=service, **more)


ARN = f"arn:aws:ecs:us-east-1:{OURS}:service/payments/s"
OTHER_POLICY = (
    f"arn:aws:autoscaling:us-east-1:{OURS}:scalingPolicy:1:autoScalingGroupName/another:policyName/kafka-lag-scaler"
)

CONTRADICTIONS: dict[str, Attack] = {
    "a service of another cluster": _service("update_service", ARN, cluster="test", desiredCount=0),
    "a service of another cluster by ARN": _service(
        "update_service", ARN, cluster=f"arn:aws:ecs:us-east-1:{OURS}:cluster/test", desiredCount=0
    ),
    "deleting a service of another cluster": _service("delete_service", ARN, cluster="test"),
    "the ARN of a cluster as a service": _service(
        "update_service", f"arn:aws:ecs:us-east-1:{OURS}:cluster/payments", desiredCount=0
    ),
    "a path as a service": _service("update_service", "payments/s", cluster="test", desiredCount=0),
    "a policy of another group": lambda gate, actor: gate.client("autoscaling", actor).put_scaling_policy(
        AutoScalingGroupName=ASG, PolicyName=OTHER_POLICY, ScalingAdjustment=1, AdjustmentType="ChangeInCapacity"
    ),
    "executing a policy of another group": lambda gate, actor: gate.client("autoscaling", actor).execute_policy(
        AutoScalingGroupName=ASG, PolicyName=OTHER_POLICY
    ),
    "deleting a policy of another group": lambda gate, actor: gate.client("autoscaling", actor).delete_policy(
        AutoScalingGroupName=ASG, PolicyName=OTHER_POLICY
    ),
    "a template by id and by name": lambda gate, actor: gate.client("ec2", actor).modify_launch_template(
        LaunchTemplateId="lt-0abc1234", LaunchTemplateName="another", DefaultVersion="1"
    ),
    "a new version of two templates": lambda gate, actor: gate.client("ec2", actor).create_launch_template_version(
        LaunchTemplateId="lt-0abc1234", LaunchTemplateName="another", LaunchTemplateData={"InstanceType": "t3.nano"}
    ),
    "a group by id and by name": lambda gate, actor: gate.client("ec2", actor).delete_security_group(
        GroupId="sg-0abc1234", GroupName="another"
    ),
    "a function with two qualifiers": lambda gate, actor: gate.client("lambda", actor).delete_function(
        FunctionName="kafka-rebalancer:1", Qualifier="2"
    ),
    "a permission with two qualifiers": lambda gate, actor: gate.client("lambda", actor).remove_permission(
        FunctionName="kafka-rebalancer:1", StatementId="s", Qualifier="2"
    ),
    "a topic and another target": lambda gate, actor: gate.client("sns", actor).publish(
        TopicArn=f"arn:aws:sns:us-east-1:{OURS}:a", TargetArn=f"arn:aws:sns:us-east-1:{OURS}:b", Message="x"
    ),
}  # fmt: skip


def _judged(gate: Gate) -> dict[str, Any]:
    """The effects of the last decision, by attribute."""
    effects: Any = gate.records(stage=Stage.DECIDED)[-1].body.members["effects"]
    return {effect["attribute"]: effect for effect in effects}


@pytest.mark.parametrize("actor", ["agent", "pipeline"])
@pytest.mark.parametrize("attack", CONTRADICTIONS.values(), ids=CONTRADICTIONS.keys())
def test_a_call_that_names_two_resources_is_never_sent(gate: Gate, attack: Attack, actor: str) -> None:
    with pytest.raises(ClientError):
        attack(gate, actor)
    assert gate.upstream.asked == []
    assert not gate.run(gate.ledger.claims())


def test_an_alarm_without_its_actions_and_unit_is_a_change_of_both(gate: Gate) -> None:
    state = gate.stack / "terraform.tfstate"
    assert '"alarm_actions"' in state.read_text()
    with pytest.raises(ClientError, match="alarm_actions"):
        gate.client("cloudwatch").put_metric_alarm(
            AlarmName="HighConsumerLagAlarm",
            Threshold=100000,
            EvaluationPeriods=1,
            ComparisonOperator="GreaterThanThreshold",
        )
    assert gate.upstream.asked == []
    assert _judged(gate)["alarm_actions"]["value"] == []
