"""Alarms."""

from collections.abc import Callable
from typing import Any

THINGS = {"aws_cloudwatch_metric_alarm.a": {"alarm_name": "a", "threshold": 1, "alarm_actions": ["x"]}}


def test_a_threshold_is_set_and_what_is_kept_has_no_effect(ask: Callable[..., Any], values: Callable[..., Any]) -> None:
    call = {"AlarmName": "a", "Threshold": 500000.0, "AlarmActions": ["x"]}
    assert values(ask("cloudwatch", "PutMetricAlarm", call, THINGS)) == {"threshold": 500000, "alarm_actions": ["x"]}


def test_what_a_whole_overwrite_leaves_out_is_taken_back(ask: Callable[..., Any], values: Callable[..., Any]) -> None:
    effects = ask("cloudwatch", "PutMetricAlarm", {"AlarmName": "a", "Threshold": 500000.0}, THINGS)
    assert values(effects) == {"threshold": 500000, "alarm_actions": []}


def test_dimensions_are_a_map_and_metrics_are_blocks(ask: Callable[..., Any], values: Callable[..., Any]) -> None:
    dimensions = [{"Name": "n", "Value": "v"}]
    stat = {"Metric": {"Namespace": "x", "MetricName": "m", "Dimensions": dimensions}, "Period": 60, "Stat": "Sum"}
    metrics = [{"Id": "e", "Expression": "m*2", "ReturnData": True}, {"Id": "m", "MetricStat": stat}]
    effects = ask(
        "cloudwatch", "PutMetricAlarm", {"AlarmName": "a", "Dimensions": dimensions, "Metrics": metrics}, THINGS
    )
    metric = {"namespace": "x", "metric_name": "m", "dimensions": {"n": "v"}, "period": 60, "stat": "Sum"}
    assert values(effects) == {
        "alarm_actions": [],
        "dimensions": {"n": "v"},
        "metric_query": [{"id": "e", "expression": "m*2", "return_data": True}, {"id": "m", "metric": [metric]}],
    }


def test_tags_of_something_else_than_an_alarm_are_held(ask: Callable[..., Any]) -> None:
    rule = "arn:aws:cloudwatch:eu-west-1:123456789012:insight-rule/r"
    assert ask("cloudwatch", "TagResource", {"ResourceARN": rule, "Tags": [{"Key": "a", "Value": "b"}]}, THINGS) == ()
