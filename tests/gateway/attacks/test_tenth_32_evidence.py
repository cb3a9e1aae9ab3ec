"""Tenth audit, 32: an application proves an incident with a metric that Sentinel cannot read, or an agent with an alarm of its own.

The attack: a log event in CloudWatch's embedded format, in a form that this program's reader refuses and CloudWatch's may take: a number of five
thousand digits, a name that stands twice, a great depth. Or an alarm that nobody recorded, where a rule passes on what every alarm does. What
must hold: what cannot be read counts as what proves, and so does every alarm that somebody makes.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from gateway.core.model.caller import ActorKind
from gateway.core.settings.signals import SignalForm, SignalSourceSettings
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

TOPIC = "arn:aws:sns:us-east-1:123456789012:alerts"
PROVIDER = 'provider["registry.terraform.io/hashicorp/aws"]'
ALARMS = {"source": ["aws.cloudwatch"], "detail-type": ["CloudWatch Alarm State Change"]}
RECORDED: dict[str, dict[str, Any]] = {
    "aws_cloudwatch_metric_alarm": {"alarm_name": "errors", "namespace": "Shop", "metric_name": "Errors"},
    "aws_cloudwatch_event_rule": {"name": "all", "event_pattern": json.dumps(ALARMS)},
    "aws_cloudwatch_event_target": {"rule": "all", "arn": TOPIC},
}
METRICS = '"_aws": {"Timestamp": 1, "CloudWatchMetrics": [{"Namespace": "Shop", "Metrics": [{"Name": "Errors"}]}]}'
ESCAPED = METRICS.replace("CloudWatchMetrics", "Cloud\\u0057atchMetrics")
EVENTS = {
    "a long number": f'{{{METRICS}, "Errors": {"1" * 5_000}}}',
    "a great depth": f'{{{METRICS}, "Errors": {"[" * 50_000}{"]" * 50_000}}}',
    "a name twice": f'{{{METRICS}, "Errors": 9, "_aws": {{}}}}',
    "a part twice": f'{{{METRICS[:-1]}, "CloudWatchMetrics": []}}, "Errors": 9}}',
    "an escaped name": f'{{{ESCAPED}, "Errors": 9}}',
    "a byte order mark": f'\ufeff{{{METRICS}, "Errors": 9}}',
    "a text behind it": f'{{{METRICS}, "Errors": 9}} and more',
}


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    """A gateway that takes signals from a topic, to which a rule passes on what every alarm does."""
    signals = (SignalSourceSettings(name="sns", form=SignalForm.SNS, topics=(TOPIC,)),)
    made = Gate(tmp_path_factory.mktemp("gate"), signals=signals)
    state = made.stack / "terraform.tfstate"
    document = json.loads(state.read_text())
    document["resources"] += [
        {
            "mode": "managed",
            "type": kind,
            "name": "evidence",
            "provider": PROVIDER,
            "instances": [{"schema_version": 0, "attributes": attributes}],
        }
        for kind, attributes in RECORDED.items()
    ]
    state.write_text(json.dumps(document))
    with made as running:
        running.issue("app", kind=ActorKind.SERVICE)
        yield running


def _put(gate: Gate, message: str) -> None:
    gate.upstream.asked.clear()
    gate.client("logs", "app", None).put_log_events(
        logGroupName="/any", logStreamName="s", logEvents=[{"timestamp": 1, "message": message}]
    )


@pytest.mark.parametrize("form", EVENTS)
def test_a_metric_in_a_log_that_cannot_be_read_counts(gate: Gate, form: str) -> None:
    with pytest.raises(ClientError, match="by which an incident is proved"):
        _put(gate, EVENTS[form])
    assert gate.upstream.asked == []


@pytest.mark.parametrize("message", ["{'a': '\\u0041'}", "{broken", f'{{"x": {"1" * 5_000}}}', "GET / 200"])
def test_other_texts_are_logged_as_ever(gate: Gate, message: str) -> None:
    _put(gate, message)
    assert gate.upstream.asked == ["PutLogEvents"]


@pytest.mark.parametrize("actor", ["agent", "app"])
def test_nobody_makes_an_alarm_where_every_alarm_proves(gate: Gate, actor: str) -> None:
    gate.upstream.asked.clear()
    with pytest.raises(ClientError, match="by which an incident is proved"):
        gate.client("cloudwatch", actor).put_metric_alarm(
            AlarmName="mine",
            Namespace="Mine",
            MetricName="x",
            Period=60,
            EvaluationPeriods=1,
            Threshold=1,
            Statistic="Sum",
            ComparisonOperator="GreaterThanThreshold",
        )
    assert gate.upstream.asked == []
