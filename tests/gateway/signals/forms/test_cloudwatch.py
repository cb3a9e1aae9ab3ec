"""An alarm of CloudWatch as it comes through a topic."""

from typing import Any

import pytest

from gateway.core.errors import Malformed
from gateway.core.model.signal import SignalState
from gateway.signals.forms.cloudwatch import read
from tests.gateway.signals.forms.test_eventbridge import ALARM

MESSAGE: dict[str, Any] = {
    "AlarmName": "Lag",
    "AlarmArn": "arn:aws:cloudwatch:us-east-1:123456789012:alarm:Lag",
    "AWSAccountId": "123456789012",
    "NewStateValue": "ALARM",
    "StateChangeTime": "2026-11-22T05:00:00.000+0000",
    "Region": "US East (N. Virginia)",
    "Trigger": {"MetricName": "Lag", "Namespace": "Kafka", "Dimensions": [{"name": "Group", "value": "g"}]},
}


def test_an_alarm_is_read_with_its_dimensions() -> None:
    [event] = read("s", MESSAGE)
    assert (event.name, event.state, event.at.hour, event.labels["Group"]) == ("Lag", SignalState.OPEN, 5, "g")
    assert read("s", {**MESSAGE, "NewStateValue": "OK", "Trigger": None})[0].state is SignalState.CLOSED


def test_a_rule_of_eventbridge_may_send_to_the_topic_too() -> None:
    assert read("s", ALARM)[0].key == MESSAGE["AlarmArn"]


def test_anything_else_is_refused() -> None:
    with pytest.raises(Malformed):
        read("s", {"AlarmName": "x"})
