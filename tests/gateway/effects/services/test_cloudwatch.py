"""Alarms."""

from collections.abc import Callable
from typing import Any

TOPIC = "arn:aws:sns:eu-west-1:123456789012:news"
RESOURCES = {"aws_cloudwatch_metric_alarm.a": {"alarm_name": "a", "threshold": 1, "alarm_actions": [TOPIC]}}


def test_a_threshold_is_set_and_the_actions_of_the_call_are_kept(
    effects_of: Callable[..., Any], values: Callable[..., Any]
) -> None:
    call = {"AlarmName": "a", "Threshold": 500000.0, "AlarmActions": [TOPIC]}
    assert values(effects_of("cloudwatch", "PutMetricAlarm", call, RESOURCES)) == {
        "threshold": 500000,
        "alarm_actions": [TOPIC],
    }


def test_an_attribute_that_the_call_omits_returns_to_its_default(
    effects_of: Callable[..., Any], values: Callable[..., Any]
) -> None:
    effects = effects_of("cloudwatch", "PutMetricAlarm", {"AlarmName": "a", "Threshold": 500000.0}, RESOURCES)
    assert values(effects) == {"threshold": 500000, "alarm_actions": []}


def test_dimensions_are_a_map_and_metrics_are_blocks(
    effects_of: Callable[..., Any], values: Callable[..., Any]
) -> None:
    dimensions = [{"Name": "n", "Value": "v"}]
    stat = {"Metric": {"Namespace": "x", "MetricName": "m", "Dimensions": dimensions}, "Period": 60, "Stat": "Sum"}
    metrics = [{"Id": "e", "Expression": "m*2", "ReturnData": True}, {"Id": "m", "MetricStat": stat}]
    effects = effects_of(
        "cloudwatch", "PutMetricAlarm", {"AlarmName": "a", "Dimensions": dimensions, "Metrics": metrics}, RESOURCES
    )
    metric = {"namespace": "x", "metric_name": "m", "dimensions": {"n": "v"}, "period": 60, "stat": "Sum"}
    assert values(effects) == {
        "alarm_actions": [],
        "dimensions": {"n": "v"},
        "threshold": None,
        "metric_query": [{"id": "e", "expression": "m*2", "return_data": True}, {"id": "m", "metric": [metric]}],
    }


def test_tags_of_another_kind_than_an_alarm_are_not_understood(effects_of: Callable[..., Any]) -> None:
    rule = "arn:aws:cloudwatch:eu-west-1:123456789012:insight-rule/r"
    assert (
        effects_of("cloudwatch", "TagResource", {"ResourceARN": rule, "Tags": [{"Key": "a", "Value": "b"}]}, RESOURCES)
        == ()
    )
