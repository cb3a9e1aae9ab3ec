"""Third audit, 1, the evidence: whoever makes up what an alarm measures proves an incident that is none.

The attack: an application's key sends the metric that an alarm with a topic of signals watches (or logs in CloudWatch's embedded format, or an
event on the bus of a rule that feeds the topic), waits for the alarm, and changes what only an incident opens. What must hold: alarms, their
metrics, the logs of which these are made, and rules with their buses are known from the states, and nobody makes them up through the gateway.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from gateway.core.model.caller import ActorKind
from gateway.core.settings.signals import SignalForm, SignalSourceSettings
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

HERE = "us-east-1:123456789012"
TOPIC = f"arn:aws:sns:{HERE}:alerts"
RECORDED: dict[str, list[dict[str, Any]]] = {
    "aws_cloudwatch_metric_alarm": [
        {"alarm_name": "errors", "alarm_actions": [TOPIC], "namespace": "Shop", "metric_name": "Errors"}
    ],
    "aws_cloudwatch_event_rule": [
        {"name": "incidents", "event_bus_name": "default", "event_pattern": json.dumps({"source": ["shop.incidents"]})}
    ],
    "aws_cloudwatch_event_target": [{"rule": "incidents", "event_bus_name": "default", "arn": TOPIC}],
}
EMBEDDED = {
    "_aws": {"Timestamp": 1, "CloudWatchMetrics": [{"Namespace": "Shop", "Metrics": [{"Name": "Errors"}]}]},
    "Errors": 9_000,
}
ENTRY = {"Source": "shop.incidents", "DetailType": "x", "Detail": "{}"}
ATTACKS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "its metric": (
        "cloudwatch",
        "put_metric_data",
        {"Namespace": "Shop", "MetricData": [{"MetricName": "Errors", "Value": 9_000}]},
    ),
    "its metric in a log": (
        "logs",
        "put_log_events",
        {
            "logGroupName": "/any",
            "logStreamName": "s",
            "logEvents": [{"timestamp": 1, "message": json.dumps(EMBEDDED)}],
        },
    ),
    "its metric by a filter": (
        "logs",
        "put_metric_filter",
        {
            "logGroupName": "/any",
            "filterName": "f",
            "filterPattern": "",
            "metricTransformations": [{"metricName": "Errors", "metricNamespace": "Shop", "metricValue": "9000"}],
        },
    ),
    "an event of its rule": ("events", "put_events", {"Entries": [ENTRY]}),
    "its rule": ("events", "put_rule", {"Name": "incidents", "EventPattern": "{}"}),
    "its alarm": ("cloudwatch", "set_alarm_state", {"AlarmName": "errors", "StateValue": "ALARM", "StateReason": "x"}),
}


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    """A gateway that takes signals from a topic, on which a recorded alarm acts."""
    signals = (SignalSourceSettings(name="sns", form=SignalForm.SNS, topics=(TOPIC,)),)
    made = Gate(tmp_path_factory.mktemp("gate"), signals=signals)
    _record(made.stack / "terraform.tfstate")
    with made as running:
        running.issue("app", kind=ActorKind.SERVICE)
        yield running


def _record(state: Path) -> None:
    document = json.loads(state.read_text())
    provider = 'provider["registry.terraform.io/hashicorp/aws"]'
    for kind, resources in RECORDED.items():
        instances = [{"schema_version": 0, "attributes": each, "index_key": at} for at, each in enumerate(resources)]
        document["resources"].append(
            {"mode": "managed", "type": kind, "name": "evidence", "provider": provider, "instances": instances}
        )
    state.write_text(json.dumps(document))


FOR_PEOPLE = {"its rule", "its alarm"}
"""What people may change, and are judged for as ever."""


@pytest.mark.parametrize(
    ("actor", "attack"),
    [
        (actor, attack)
        for actor in ("agent", "app", "human")
        for attack in ATTACKS
        if (actor, attack) not in {("human", each) for each in FOR_PEOPLE}
    ],
)
def test_nobody_makes_up_what_proves_an_incident(gate: Gate, actor: str, attack: str) -> None:
    service, method, parameters = ATTACKS[attack]
    gate.upstream.asked.clear()
    with pytest.raises(ClientError, match="No contract and no policy opens it"):
        getattr(gate.client(service, actor), method)(**parameters)
    assert gate.upstream.asked == []


def test_what_an_application_measures_for_itself_passes(gate: Gate) -> None:
    gate.upstream.asked.clear()
    data = [{"MetricName": "Orders", "Value": 1}]
    gate.client("cloudwatch", "app").put_metric_data(Namespace="Shop", MetricData=data)
    assert gate.upstream.asked == ["PutMetricData"]
