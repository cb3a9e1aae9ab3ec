"""An alarm's action stops or terminates an instance, or starts a function: CloudWatch does it when the alarm goes off, and anyone can set it off.

The alarm was judged as an alarm only. What must hold: an action is judged as the call that AWS makes, alone and in a plan, and held with the
reason where nobody can tell the call. Notifications and declared scaling policies stay what they were. The same holds for who sets off or arms an
alarm that is there, by its state, its switch or the metric that it is measured from.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.kit.applying import ask, opened, planned, refused
from tests.kit.gate import Gate

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]

INSTANCE = "i-0aaaaaaaaaaaaaaaa"
TERMINATE = "arn:aws:automate:us-east-1:ec2:terminate"
WORKFLOW = "arn:aws:swf:us-east-1:123456789012:action/actions/AWS_EC2.InstanceId.Terminate/1.0"
INCIDENT = "arn:aws:ssm-incidents::123456789012:response-plan/p"
TOPIC = "arn:aws:sns:us-east-1:123456789012:news"
SCALES = "arn:aws:autoscaling:us-east-1:123456789012:scalingPolicy:1"


def _alarm(*actions: str, **members: Any) -> dict[str, Any]:
    return {
        "AlarmName": "x", "MetricName": "CPUUtilization", "Namespace": "AWS/EC2", "Statistic": "Average", "Period": 60,
        "Dimensions": [{"Name": "InstanceId", "Value": INSTANCE}], "EvaluationPeriods": 1, "Threshold": 5000.0,
        "ComparisonOperator": "LessThanThreshold", "AlarmActions": list(actions), **members,
    }  # fmt: skip


def _planned(*actions: str, **members: Any) -> dict[str, Any]:
    values = {
        "alarm_name": "x", "metric_name": "CPUUtilization", "namespace": "AWS/EC2", "statistic": "Average", "period": 60,
        "dimensions": {"InstanceId": INSTANCE}, "evaluation_periods": 1, "threshold": 5000,
        "comparison_operator": "LessThanThreshold", **({"alarm_actions": list(actions)} if actions else {}),
    }  # fmt: skip
    return planned("aws_cloudwatch_metric_alarm.x", "create", values=values, **members)


@pytest.mark.parametrize("actor", ["human", "pipeline", "agent"])
@pytest.mark.parametrize("action", [TERMINATE, WORKFLOW])
def test_an_alarm_does_not_end_an_instance_without_a_person(gate: Gate, actor: str, action: str) -> None:
    motive = ("cost", "experiment") if actor == "agent" else None
    said = refused(gate.client("cloudwatch", actor, motive).put_metric_alarm, **_alarm(action))
    assert "SEN-P001" in said
    assert list(gate.upstream.asked) == []


def test_an_alarm_is_judged_as_the_termination_that_it_makes(gate: Gate) -> None:
    """A person watches the instance closely, and holds that: what would end it is refused to others."""
    gate.client("ec2", "human", None).monitor_instances(InstanceIds=[INSTANCE])
    gate.upstream.asked.clear()
    assert "SEN-A001" in refused(gate.client("ec2", "pipeline", None).terminate_instances, InstanceIds=[INSTANCE])
    assert "SEN-A001" in refused(gate.client("cloudwatch", "pipeline", None).put_metric_alarm, **_alarm(TERMINATE))
    assert list(gate.upstream.asked) == []


@pytest.mark.parametrize("actor", ["human", "pipeline"])
def test_an_action_that_cannot_be_unpacked_holds_the_alarm(gate: Gate, actor: str) -> None:
    put = gate.client("cloudwatch", actor, None)
    for given in (_alarm(INCIDENT), _alarm(TERMINATE, Dimensions=[])):
        refused(put.put_metric_alarm, **given)
    refused(put.put_composite_alarm, AlarmName="c", AlarmRule="TRUE", AlarmActions=[TERMINATE])
    assert list(gate.upstream.asked) == []


@pytest.mark.parametrize("change", [_planned(TERMINATE), _planned(WORKFLOW), _planned(INCIDENT)])
@pytest.mark.parametrize("actor", ["human", "pipeline"])
def test_a_plan_with_such_an_alarm_waits_for_a_person(gate: Gate, actor: str, change: Any) -> None:
    status, report = ask(gate, actor, change)
    assert (status, report["session"]) == (200, None), report


@pytest.mark.parametrize("actions", [[TERMINATE], [INCIDENT], [INCIDENT, TERMINATE]])
def test_what_the_plan_did_not_tell_is_judged_when_the_alarm_is_put(gate: Gate, actions: list[str]) -> None:
    put = opened(gate, _planned(unknown=["alarm_actions"])).client("cloudwatch")
    refused(put.put_metric_alarm, **_alarm(*actions))
    assert list(gate.upstream.asked) == []


def test_notifications_and_scaling_policies_stay_what_they_were(gate: Gate) -> None:
    gate.client("cloudwatch", "human", None).put_metric_alarm(**_alarm(TOPIC, SCALES))
    applying = opened(gate, _planned(TOPIC, SCALES))
    applying.client("cloudwatch").put_metric_alarm(**_alarm(TOPIC, SCALES))
    applying.end()
    opened(gate, _planned(unknown=["alarm_actions"])).client("cloudwatch").put_metric_alarm(**_alarm(TOPIC))
    assert list(gate.upstream.asked) == ["PutMetricAlarm"] * 3


ARMED = {"ends": [TERMINATE], "tells": [TOPIC], "opaque": [INCIDENT]}
"""The alarms of a state, with their actions."""


@pytest.fixture(scope="module")
def armed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    """A gateway of a stack whose state records alarms that others have put."""
    gate = Gate(directory=tmp_path_factory.mktemp("armed"))
    file = gate.stack / "terraform.tfstate"
    state = json.loads(file.read_text())
    like = next(each for each in state["resources"] if each["type"] == "aws_cloudwatch_metric_alarm")
    for name, actions in ARMED.items():
        given = {"alarm_name": name, "arn": f"arn:aws:cloudwatch:us-east-1:123456789012:alarm:{name}", "id": name}
        measured = {"namespace": "Own", "metric_name": name, "dimensions": {"InstanceId": INSTANCE}}
        recorded = {
            **like["instances"][0]["attributes"],
            **given,
            **measured,
            "alarm_actions": actions,
            "ok_actions": [],
        }
        instance = {**like["instances"][0], "attributes": recorded}
        state["resources"].append({**like, "name": name, "instances": [instance]})
    file.write_text(json.dumps(state))
    with gate:
        yield gate


@pytest.mark.parametrize("actor", ["human", "pipeline", "service", "agent"])
def test_nobody_ends_an_instance_by_an_alarm_that_is_there(armed: Gate, actor: str) -> None:
    armed.upstream.asked.clear()
    client = armed.client("cloudwatch", actor, ("cost", "experiment") if actor == "agent" else None)
    for name in ("ends", "opaque", "of_no_state")[
        actor == "pipeline" :
    ]:  # one that the code declares passes for a pipeline
        refused(client.set_alarm_state, AlarmName=name, StateValue="ALARM", StateReason="x")
        refused(client.enable_alarm_actions, AlarmNames=["tells", name])
    assert list(armed.upstream.asked) == []


def test_it_is_judged_as_the_call_that_aws_makes_then(armed: Gate) -> None:
    armed.client("ec2", "human", None).monitor_instances(InstanceIds=[INSTANCE])
    by_pipeline = armed.client("cloudwatch", "pipeline", None).set_alarm_state
    assert "SEN-A001" in refused(by_pipeline, AlarmName="ends", StateValue="ALARM", StateReason="x")
    armed.upstream.asked.clear()
    client = armed.client("cloudwatch", "human", None)
    assert "SEN-P001" in refused(client.set_alarm_state, AlarmName="ends", StateValue="ALARM", StateReason="x")
    client.set_alarm_state(AlarmName="ends", StateValue="OK", StateReason="it does nothing then")
    client.set_alarm_state(AlarmName="tells", StateValue="ALARM", StateReason="it tells somebody")
    client.enable_alarm_actions(AlarmNames=["tells"])
    assert list(armed.upstream.asked) == ["SetAlarmState", "SetAlarmState", "EnableAlarmActions"]
    armed.release_all()


def test_an_agent_does_not_make_up_what_such_an_alarm_is_measured_from(armed: Gate) -> None:
    put = armed.client("cloudwatch", "agent").put_metric_data
    data = {"Value": 1.0, "Timestamp": datetime.now(UTC), "Dimensions": [{"Name": "InstanceId", "Value": INSTANCE}]}
    for name in ("ends", "opaque"):
        said = refused(put, Namespace="Own", MetricData=[{"MetricName": "other", **data}, {"MetricName": name, **data}])
        assert f"makes up the metric Own {name}" in said
    assert "makes up" not in refused(put, Namespace="Own", MetricData=[{"MetricName": "tells", **data}])
