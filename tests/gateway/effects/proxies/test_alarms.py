"""An alarm is judged as what its actions make AWS do; a notification and a scaling policy are none of it."""

from typing import Any

import pytest

from tests.gateway.effects.conftest import ACCOUNT, REGION
from tests.gateway.effects.proxies.conftest import FUNCTION, Understand, inner_effects

INSTANCE = "i-0aaaaaaaaaaaaaaaa"
TOPIC = f"arn:aws:sns:{REGION}:{ACCOUNT}:news"
POLICY = f"arn:aws:autoscaling:{REGION}:{ACCOUNT}:scalingPolicy:1:autoScalingGroupName/a:policyName/p"
RESOURCES = {
    "aws_instance.it": {"id": INSTANCE},
    "aws_lambda_function.worker": {"function_name": "worker", "arn": FUNCTION},
}
ACTIONS = ("AlarmActions", "OKActions", "InsufficientDataActions")


def automate(verb: str, region: str = REGION) -> str:
    return f"arn:aws:automate:{region}:ec2:{verb}"


def workflow(verb: str) -> str:
    return f"arn:aws:swf:{REGION}:{ACCOUNT}:action/actions/AWS_EC2.InstanceId.{verb}/1.0"


def alarm(**members: Any) -> dict[str, Any]:
    dimensions = [{"Name": "InstanceId", "Value": INSTANCE}]
    return {
        "AlarmName": "a",
        "Namespace": "AWS/EC2",
        "MetricName": "CPUUtilization",
        "Dimensions": dimensions,
        **members,
    }


@pytest.mark.parametrize("name", ACTIONS)
@pytest.mark.parametrize(
    ("action", "by", "kind"),
    [
        (automate("stop"), "ec2:StopInstances", "invoke"),
        (automate("terminate"), "ec2:TerminateInstances", "delete"),
        (automate("reboot"), "ec2:RebootInstances", "invoke"),
        (automate("recover"), "ec2:RebootInstances", "invoke"),
        (workflow("Stop"), "ec2:StopInstances", "invoke"),
        (workflow("Terminate"), "ec2:TerminateInstances", "delete"),
        (workflow("Reboot"), "ec2:RebootInstances", "invoke"),
    ],
)
def test_an_action_on_an_instance_is_the_call_that_aws_makes(
    understand: Understand, name: str, action: str, by: str, kind: str
) -> None:
    found = understand("cloudwatch", "PutMetricAlarm", alarm(**{name: [action]}), RESOURCES)
    assert {(each.name, each.call.parameters["InstanceIds"][0]) for each in found.inner} == {(by, INSTANCE)}  # type: ignore[index]  # a list
    assert ("aws_instance.it", "*", kind, None, by) in inner_effects(found)
    assert all(each.implied for each in found.effects if each.by)


@pytest.mark.parametrize("operation", ["PutMetricAlarm", "PutCompositeAlarm"])
def test_a_function_is_invoked(understand: Understand, operation: str) -> None:
    given = (
        alarm(AlarmActions=[FUNCTION])
        if operation == "PutMetricAlarm"
        else {"AlarmName": "c", "AlarmActions": [FUNCTION]}
    )
    found = understand("cloudwatch", operation, given, RESOURCES)
    invoked = [(each.address, each.action.value) for inner in found.inner for each in inner.effects]
    assert invoked == [("aws_lambda_function.worker", "invoke")]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (alarm(AlarmActions=[automate("stop", "eu-north-1")]), "in another region"),
        (alarm(AlarmActions=[automate("hibernate")]), "not unpacked"),
        (alarm(AlarmActions=[automate("stop")], Dimensions=[]), "does not tell the instance"),
        (
            alarm(AlarmActions=[automate("stop")], Dimensions=[{"Name": "InstanceId", "Value": "a"}] * 2),
            "does not tell the instance",
        ),
        (alarm(AlarmActions=[f"arn:aws:ssm:{REGION}:{ACCOUNT}:opsitem:1"]), "not unpacked"),
        (alarm(OKActions=[f"arn:aws:ssm-incidents::{ACCOUNT}:response-plan/p"]), "not unpacked"),
        (alarm(OKActions=[TOPIC, {"a": 1}]), "unknown form"),
        (alarm(AlarmActions=[automate("stop"), workflow("Terminate")]), "two of its calls"),
    ],
)
def test_what_is_not_unpacked_holds_the_alarm_with_the_reason(understand: Understand, given: Any, why: str) -> None:
    found = understand("cloudwatch", "PutMetricAlarm", given, RESOURCES)
    assert (found.effects, why in found.reason) == ((), True), found.reason


def test_a_notification_and_a_scaling_policy_are_no_calls(understand: Understand) -> None:
    found = understand(
        "cloudwatch", "PutMetricAlarm", alarm(AlarmActions=[TOPIC, POLICY], OKActions=[TOPIC]), RESOURCES
    )
    assert (bool(found.effects), found.inner, found.reason) == (True, (), "")


def test_one_action_on_several_states_is_one_call(understand: Understand) -> None:
    given = alarm(**{name: [automate("terminate"), workflow("Terminate")] for name in ACTIONS})
    assert len(understand("cloudwatch", "PutMetricAlarm", given, RESOURCES).inner) == 1
