"""What motives are proved with is found in the states, and nobody makes it up through the gateway."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from gateway.core.model.mutation import Call
from gateway.line.evidence import NO_EVIDENCE, evidence_of
from tests.kit.growth import assert_linear

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
    assert EVIDENCE.metrics.named == {("Shop", "Lag"), ("Shop", "Errors"), ("Shop", "Orders"), ("Shop", "PassedOn")}
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


def alarm(name: str, **more: Any) -> Mapping[str, Any]:
    return {"alarm_name": name, "alarm_actions": [TOPIC], **more}


def measured_by(*expressions: str) -> Mapping[str, list[Mapping[str, Any]]]:
    queries = [{"id": "q", "expression": text, "metric": []} for text in expressions]
    return {"aws_cloudwatch_metric_alarm": [alarm("a", metric_query=queries)]}


def reached(recorded: Mapping[str, list[Mapping[str, Any]]], name: str, **parameters: Any) -> bool:
    service, _, operation = name.partition(":")
    found = evidence_of(States(recorded), topics=frozenset({TOPIC}), queues=frozenset({"trail"}), endpoints=[])
    return bool(found.reached_by(Call(service=service, operation=operation, parameters=parameters, region="us-east-1")))


@pytest.mark.parametrize(
    ("expression", "namespaces"),
    [
        ('SELECT MAX(lag) FROM SCHEMA("Kafka/Lag", Group)', {"Kafka/Lag"}),
        ("select max(lag) from schema ( Kafka , Group )", {"Kafka"}),
        ("SELECT MAX(lag) FROM \"Kafka/Lag\" WHERE Group = 'x'", {"Kafka/Lag"}),
        ("MAX(SEARCH('{Kafka/Lag,Group} MetricName=\"lag\"', 'Maximum', 60))", {"Kafka/Lag"}),
        ("SUM(SEARCH(' { \"Kafka/Lag\" , Group} lag', 'Sum'))", {"Kafka/Lag"}),
        ("SEARCH('{One,A} x','Sum') + SEARCH('{Two} y','Sum')", {"One", "Two"}),
    ],
)
def test_an_expression_says_in_which_namespaces_it_looks(expression: str, namespaces: set[str]) -> None:
    for namespace in ("One", "Two", "Kafka", "Kafka/Lag", "Shop"):
        data = {"Namespace": namespace, "MetricData": [{"MetricName": "anything"}]}
        assert reached(measured_by(expression), "cloudwatch:PutMetricData", **data) is (namespace in namespaces)


@pytest.mark.parametrize("expression", ["SEARCH('MetricName=\"lag\"', 'Sum')", "SEARCH('{', 'Sum')", "SELECT MAX(lag)"])
def test_an_expression_that_does_not_say_it_looks_everywhere(expression: str) -> None:
    data = {"Namespace": "Any", "MetricData": [{"MetricName": "anything"}]}
    assert reached(measured_by(expression), "cloudwatch:PutMetricData", **data)
    assert not reached(measured_by("m1 + 1"), "cloudwatch:PutMetricData", **data)


def test_an_expression_that_counts_in_logs_makes_them_evidence() -> None:
    recorded = measured_by("INSIGHT_RULE_METRIC('errors', 'UniqueContributors')")
    assert reached(recorded, "logs:PutLogEvents", logGroupName="/any", logEvents=[])


def test_metrics_of_aws_that_callers_make_up_are_evidence() -> None:
    watched = {"aws_cloudwatch_metric_alarm": [alarm("a", namespace="AWS/X-Ray", metric_name="FaultRate")]}
    assert reached(watched, "xray:PutTraceSegments", TraceSegmentDocuments=["{}"])
    plain = {"aws_cloudwatch_metric_alarm": [alarm("a", namespace="AWS/EC2", metric_name="CPUUtilization")]}
    assert not reached(plain, "xray:PutTraceSegments", TraceSegmentDocuments=["{}"])


def test_what_passes_on_to_evidence_is_evidence() -> None:
    def bus(name: str) -> str:
        return f"arn:aws:events:{HERE}:event-bus/{name}"

    rules = [
        {"name": name, "event_bus_name": name, "event_pattern": json.dumps({"source": ["shop"]})}
        for name in ("apps", "middle", "ops", "other")
    ]
    recorded: dict[str, list[Mapping[str, Any]]] = {
        "aws_cloudwatch_event_rule": [*rules],
        "aws_cloudwatch_event_target": [
            {"rule": "apps", "event_bus_name": "apps", "arn": bus("middle")},
            {"rule": "middle", "event_bus_name": "middle", "arn": bus("ops")},
            {"rule": "ops", "event_bus_name": "ops", "arn": TOPIC},
            {"rule": "other", "event_bus_name": "other", "arn": bus("nowhere")},
        ],
        "aws_sns_topic_subscription": [{"topic_arn": f"{TOPIC}-2", "endpoint": f"arn:aws:sqs:{HERE}:trail"}],
        "aws_pipes_pipe": [{"source": f"arn:aws:sqs:{HERE}:inbox", "target": bus("apps")}],
    }
    found = evidence_of(States(recorded), topics=frozenset({TOPIC}), queues=frozenset({"trail"}), endpoints=[])
    assert set(found.buses) == {"apps", "middle", "ops"}
    assert found.topics == {f"{TOPIC}-2"}
    assert found.queues == {"inbox"}


@pytest.mark.parametrize(
    "rule",
    [
        'ALARM("lag (prod)")',
        "ALARM(\"lag (prod)\") AND NOT OK('x')",
        'OK (          "lag (prod)")',
        'insufficient_data("arn:aws:cloudwatch:us-east-1:1:alarm:lag (prod)")',
        'ALARM("lag (prod)") AND NEW_FUNCTION("x")',
        'ALARM("\\"quoted\\" other") OR ALARM(unread',
    ],
)
def test_the_children_of_a_composite_alarm_are_found_or_all_are_evidence(rule: str) -> None:
    recorded: dict[str, list[Mapping[str, Any]]] = {
        "aws_cloudwatch_composite_alarm": [alarm("any", alarm_rule=rule)],
        "aws_cloudwatch_metric_alarm": [{"alarm_name": "lag (prod)", "namespace": "Shop", "metric_name": "Lag"}],
    }
    found = evidence_of(States(recorded), topics=frozenset({TOPIC}), queues=frozenset(), endpoints=[])
    assert "lag (prod)" in found.alarms


def test_quotes_in_the_name_of_a_child_are_read() -> None:
    children = [{"alarm_name": name} for name in ("it's", 'say "so"', "other")]
    composite = alarm("any", alarm_rule='ALARM("it\'s") AND ALARM("say \\"so\\"") AND NOT (TRUE OR FALSE)')
    recorded: dict[str, list[Mapping[str, Any]]] = {
        "aws_cloudwatch_composite_alarm": [composite],
        "aws_cloudwatch_metric_alarm": [*children],
    }
    found = evidence_of(States(recorded), topics=frozenset({TOPIC}), queues=frozenset(), endpoints=[])
    assert found.alarms == {"any", "it's", 'say "so"'}


def test_reading_a_rule_and_an_expression_costs_linear_time() -> None:
    def make(size: int) -> Callable[[], object]:
        texts = ["ALARM(" + " " * size, 'ALARM("' * size, "SEARCH('{" + " " * size, "FROM " * size, "ALARM('\\" * size]
        recorded = {
            "aws_cloudwatch_composite_alarm": [alarm(str(at), alarm_rule=text) for at, text in enumerate(texts)],
            **measured_by(*texts),
        }
        return lambda: evidence_of(States(recorded), topics=frozenset({TOPIC}), queues=frozenset(), endpoints=[])

    assert_linear(make, 1_000)


def test_a_queue_whose_undelivered_messages_arrive_here_passes_on() -> None:
    recorded: dict[str, list[Mapping[str, Any]]] = {
        "aws_sqs_queue": [
            {"name": "jobs", "redrive_policy": json.dumps({"deadLetterTargetArn": f"arn:aws:sqs:{HERE}:trail"})},
            {"name": "other", "redrive_policy": json.dumps({"deadLetterTargetArn": f"arn:aws:sqs:{HERE}:dead"})},
        ],
        "aws_sns_topic_subscription": [
            {
                "topic_arn": f"arn:aws:sns:{HERE}:news",
                "endpoint": "https://elsewhere.example",
                "redrive_policy": json.dumps({"deadLetterTargetArn": f"arn:aws:sqs:{HERE}:jobs"}),
            }
        ],
    }
    found = evidence_of(States(recorded), topics=frozenset(), queues=frozenset({"trail"}), endpoints=[])
    assert found.queues == {"jobs"}
    assert found.topics == {f"arn:aws:sns:{HERE}:news"}


def test_a_rule_that_names_alarms_counts_for_those_that_no_state_records() -> None:
    rule = {"name": "r", "event_pattern": json.dumps({**STATE_CHANGE, "resources": [f"arn:x:{HERE}:alarm:unrecorded"]})}
    recorded: dict[str, list[Mapping[str, Any]]] = {
        "aws_cloudwatch_event_rule": [rule],
        "aws_cloudwatch_event_target": [{"rule": "r", "arn": TOPIC}],
    }
    found = evidence_of(States(recorded), topics=frozenset({TOPIC}), queues=frozenset(), endpoints=[])
    assert found.alarms == {"unrecorded"}
    assert not found.every_alarm


@pytest.mark.parametrize(
    ("call", "namespace"),
    [("rum:PutRumEvents", "RUM/CustomMetrics/Shop"), ("xray:PutTraceSegments", "ApplicationSignals")],
)
def test_what_telemetry_measures_in_other_namespaces_counts(call: str, namespace: str) -> None:
    alarm = {"alarm_name": "a", "alarm_actions": [TOPIC], "namespace": namespace, "metric_name": "m"}
    recorded: dict[str, list[Mapping[str, Any]]] = {"aws_cloudwatch_metric_alarm": [alarm]}
    found = evidence_of(States(recorded), topics=frozenset({TOPIC}), queues=frozenset(), endpoints=[])
    service, _, operation = call.partition(":")
    assert found.reached_by(Call(service=service, operation=operation, parameters={}, account="1", region="us-east-1"))
