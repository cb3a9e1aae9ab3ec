"""EventBridge's events about alarms and about AWS itself."""

from typing import Any

import pytest

from gateway.core.errors import Malformed
from gateway.core.model.signal import SignalState
from gateway.signals.forms.eventbridge import alarm_state, read

ARN = "arn:aws:cloudwatch:us-east-1:123456789012:alarm:Lag"
METRIC = {"namespace": "AWS/AutoScaling", "name": "GroupSize", "dimensions": {"AutoScalingGroupName": "kafka-asg"}}
ALARM: dict[str, Any] = {
    "detail-type": "CloudWatch Alarm State Change",
    "source": "aws.cloudwatch",
    "account": "123456789012",
    "time": "2026-11-22T05:00:00Z",
    "region": "us-east-1",
    "resources": [ARN],
    "detail": {
        "alarmName": "Lag",
        "state": {"value": "ALARM"},
        "configuration": {"metrics": [{"expression": "x"}, {"metricStat": {"metric": METRIC}}]},
    },
}
HEALTH: dict[str, Any] = {
    **ALARM,
    "detail-type": "AWS Health Event",
    "source": "aws.health",
    "detail": {"eventArn": "arn:h", "service": "EC2", "eventTypeCode": "AWS_EC2_ISSUE", "statusCode": "open"},
}


def test_an_alarm_names_its_metric() -> None:
    [event] = read("s", ALARM)
    assert (event.key, event.name, event.state) == (ARN, "Lag", SignalState.OPEN)
    assert (event.labels["AutoScalingGroupName"], event.labels["region"]) == ("kafka-asg", "us-east-1")
    [bare] = read("s", {**ALARM, "resources": [], "detail": {"alarmName": "Lag", "state": {"value": "OK"}}})
    assert (bare.key, bare.state) == ("123456789012:us-east-1:Lag", SignalState.CLOSED)


def test_an_event_of_aws_is_open_while_it_says_so() -> None:
    assert (read("s", HEALTH)[0].key, read("s", HEALTH)[0].state) == ("arn:h", SignalState.OPEN)
    closed = {**HEALTH, "detail": {**HEALTH["detail"], "statusCode": "closed"}}
    assert read("s", closed)[0].state is SignalState.CLOSED


@pytest.mark.parametrize(
    "change", [{"detail-type": "EC2 Instance Launch"}, {"source": "com.mallory"}, {"time": None}, {"detail": []}]
)
def test_anything_else_is_refused(change: dict[str, Any]) -> None:
    for event in (ALARM, HEALTH):
        with pytest.raises(Malformed):
            read("s", {**event, **change})


def test_without_data_an_alarm_is_not_open() -> None:
    assert alarm_state("INSUFFICIENT_DATA") is SignalState.CLOSED
    with pytest.raises(Malformed):
        alarm_state("alarm")
