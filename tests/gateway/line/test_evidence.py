"""What motives are proved with is found in the states, and nobody makes it up through the gateway."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from gateway.core.model.mutation import Call
from gateway.line.evidence import NO_EVIDENCE, evidence_of

HERE = "us-east-1:123456789012"
TOPIC = f"arn:aws:sns:{HERE}:alerts"
STATE_CHANGE = {"source": ["aws.cloudwatch"], "detail-type": ["CloudWatch Alarm State Change"]}
RECORDED: Mapping[str, list[Mapping[str, Any]]] = {
    "aws_cloudwatch_metric_alarm": [
        {"alarm_name": "lag", "alarm_actions": [TOPIC], "namespace": "Shop", "metric_name": "Lag"},
        {"alarm_name": "child", "namespace": "Shop", "metric_name": "Errors"},
        {"alarm_name": "cpu", "ok_actions": [TOPIC], "namespace": "AWS/EC2", "metric_name": "CPUUtilization"},
        {
            "alarm_name": "rate",
            "alarm_actions": [TOPIC],
            "metric_query": [{"id": "m", "metric": [{"namespace": "Shop", "metric_name": "Orders"}]}],
        },
        {"alarm_name": "other", "namespace": "Shop", "metric_name": "Other"},
        {"alarm_name": "passed-on", "namespace": "Shop", "metric_name": "PassedOn"},
    ],
    "aws_cloudwatch_composite_alarm": [
        {"alarm_name": "any", "alarm_actions": [TOPIC], "alarm_rule": 'ALARM("middle") OR ALARM(lag)'},
        {"alarm_name": "middle", "alarm_rule": f"OK ( 'arn:aws:cloudwatch:{HERE}:alarm:child' )"},
    ],
    "aws_cloudwatch_log_metric_filter": [
        {"log_group_name": "/shop", "metric_transformation": [{"namespace": "Shop", "name": "Lag"}]},
        {"log_group_name": "/plain", "metric_transformation": [{"namespace": "Shop", "name": "Other"}]},
    ],
    "aws_cloudwatch_event_api_destination": [
        {"arn": "arn:dest", "invocation_endpoint": "https://sentinel.example/v1/signals/bridge"}
    ],
    "aws_cloudwatch_event_rule": [
        {
            "name": "to-sentinel",
            "event_bus_name": "ops",
            "event_pattern": json.dumps({**STATE_CHANGE, "resources": [f"arn:aws:cloudwatch:{HERE}:alarm:passed-on"]}),
        },
        {"name": "custom", "event_pattern": json.dumps({"source": ["shop.incidents"]})},
        {"name": "trail", "event_pattern": json.dumps({"detail-type": ["AWS API Call via CloudTrail"]})},
        {"name": "elsewhere", "event_bus_name": "apps", "event_pattern": "{}"},
    ],
    "aws_cloudwatch_event_target": [
        {"rule": "to-sentinel", "event_bus_name": "ops", "arn": "arn:dest"},
        {"rule": "custom", "arn": TOPIC},
        {"rule": "trail", "arn": f"arn:aws:sqs:{HERE}:trail"},
        {"rule": "elsewhere", "event_bus_name": "apps", "arn": f"arn:aws:sqs:{HERE}:jobs"},
    ],
}


@dataclass
class States:
    recorded: Mapping[str, list[Mapping[str, Any]]]

    def recorded_of(self, resource_type: str) -> Iterator[Mapping[str, Any]]:
        return iter(self.recorded.get(resource_type, []))


EVIDENCE = evidence_of(
    States(RECORDED), topics=frozenset({TOPIC}), queues=frozenset({"trail"}), endpoints=["/v1/signals/bridge"]
)


def test_it_is_found_from_where_sentinel_listens() -> None:
    assert EVIDENCE.alarms == {"lag", "cpu", "rate", "any", "middle", "child", "passed-on"}
    assert EVIDENCE.metrics == {("Shop", "Lag"), ("Shop", "Errors"), ("Shop", "Orders"), ("Shop", "PassedOn")}
    assert EVIDENCE.logs == {"/shop"}
    assert EVIDENCE.rules == {"to-sentinel", "custom", "trail"}
    assert set(EVIDENCE.buses) == {"ops", "default"}


def test_where_sentinel_listens_to_nothing_there_is_none() -> None:
    assert evidence_of(States(RECORDED), topics=frozenset(), queues=frozenset(), endpoints=[]) is NO_EVIDENCE


def embedded(name: str) -> str:
    about = {"CloudWatchMetrics": [{"Namespace": "Shop", "Metrics": [{"Name": name}]}]}
    return json.dumps({"_aws": about, name: 9_000})


def event(bus: str, source: str, kind: str = "x") -> dict[str, Any]:
    return {"Entries": [{"EventBusName": bus, "Source": source, "DetailType": kind, "Detail": "{}"}]}


MADE_UP: list[tuple[str, dict[str, Any]]] = [
    ("cloudwatch:PutMetricData", {"Namespace": "Shop", "MetricData": [{"MetricName": "x"}, {"MetricName": "Lag"}]}),
    ("cloudwatch:PutMetricData", {"Namespace": "Shop", "EntityMetricData": [{"MetricData": [{"MetricName": "Lag"}]}]}),
    ("logs:PutMetricFilter", {"metricTransformations": [{"metricNamespace": "Shop", "metricName": "Errors"}]}),
    ("logs:PutLogEvents", {"logGroupName": "/shop", "logEvents": [{"message": "ERROR"}]}),
    ("logs:PutLogEvents", {"logGroupName": "/any", "logEvents": [{"message": embedded("Lag")}]}),
    ("logs:PutLogEvents", {"logGroupName": "/any", "logEvents": [{"message": embedded("Lag").replace("_", "\\u005f")}]}),
    ("events:PutEvents", event("default", "shop.incidents")),
    ("events:PutEvents", event(f"arn:aws:events:{HERE}:event-bus/default", "shop.incidents")),
    ("events:PutEvents", {"Entries": [{"Source": "anything", "DetailType": "AWS API Call via CloudTrail"}]}),
    ("events:PutEvents", event("ops", "aws.cloudwatch", "CloudWatch Alarm State Change")),
]  # fmt: skip
PLAIN: list[tuple[str, dict[str, Any]]] = [
    ("cloudwatch:PutMetricData", {"Namespace": "Shop", "MetricData": [{"MetricName": "Other"}]}),
    ("cloudwatch:PutMetricData", {"Namespace": "Lag", "MetricData": [{"MetricName": "Shop"}]}),
    ("cloudwatch:PutMetricData", {"Namespace": "Shop", "MetricData": "nonsense"}),
    ("logs:PutMetricFilter", {"metricTransformations": [{"metricNamespace": "Shop", "metricName": "Other"}]}),
    ("logs:PutLogEvents", {"logGroupName": "/any", "logEvents": [{"message": embedded("Other")}, {"message": "{"}]}),
    ("logs:PutLogEvents", {"logGroupName": "/any", "logEvents": [{"message": '{"_aws": [1]}'}, "x"]}),
    ("events:PutEvents", event("default", "shop.orders")),
    ("events:PutEvents", event("apps", "shop.incidents")),
    ("cloudwatch:PutMetricAlarm", {"Namespace": "Shop", "MetricName": "Lag", "AlarmName": "mine"}),
]


def said(name: str, parameters: dict[str, Any]) -> str:
    service, _, operation = name.partition(":")
    return EVIDENCE.reached_by(Call(service=service, operation=operation, parameters=parameters, region="us-east-1"))


@pytest.mark.parametrize(("name", "parameters"), MADE_UP)
def test_what_makes_it_up_is_known(name: str, parameters: dict[str, Any]) -> None:
    assert said(name, parameters)


@pytest.mark.parametrize(("name", "parameters"), PLAIN)
def test_what_is_beside_it_is_not(name: str, parameters: dict[str, Any]) -> None:
    assert said(name, parameters) == ""
