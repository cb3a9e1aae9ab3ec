"""Fourth audit, 1: Sentinel's own ground truth by another of its names.

The attack: Sentinel's role by a policy that is attached to it, a metric that an alarm looks for, a bus that leads to the bus of a signal, the child of a composite alarm with
a bracket in its name. What must hold: every name that AWS takes is known from the states, and what cannot be told counts as Sentinel's.
Of databases and keys, `tests/gateway/line/test_ground_truth.py` has the cases.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from gateway.core.model.caller import ActorKind
from gateway.core.settings import ReconcileSettings
from gateway.core.settings.signals import SignalForm, SignalSourceSettings
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

HERE = "us-east-1:123456789012"
TOPIC = f"arn:aws:sns:{HERE}:alerts"
ROLE = "arn:aws:iam::123456789012:role/sentinel"
POLICY = "arn:aws:iam::123456789012:policy/doors"
UNKNOWN = "arn:aws:iam::123456789012:policy/of-nobody"


def alarm(name: str, **more: Any) -> dict[str, Any]:
    return {"alarm_name": name, "id": name, "alarm_actions": [TOPIC], **more}


def rule(bus: str) -> dict[str, Any]:
    return {"name": bus, "event_bus_name": bus, "event_pattern": json.dumps({"source": ["shop"]})}


RECORDED: dict[str, list[dict[str, Any]]] = {
    "aws_cloudwatch_metric_alarm": [
        alarm("insights", metric_query=[{"id": "q", "expression": 'SELECT MAX(lag) FROM SCHEMA("Kafka/Insights", G)'}]),
        alarm("search", metric_query=[{"id": "q", "expression": "MAX(SEARCH('{Kafka/Search,G} lag', 'Maximum'))"}]),
        {"alarm_name": "lag (prod)", "namespace": "Kafka/Children", "metric_name": "lag"},
    ],
    "aws_cloudwatch_composite_alarm": [alarm("any", alarm_rule='ALARM(          "lag (prod)")')],
    "aws_cloudwatch_event_rule": [rule("apps"), rule("ops")],
    "aws_cloudwatch_event_target": [
        {"rule": "apps", "event_bus_name": "apps", "arn": f"arn:aws:events:{HERE}:event-bus/ops"},
        {"rule": "ops", "event_bus_name": "ops", "arn": TOPIC},
    ],
    "aws_iam_role_policy_attachment": [{"role": "sentinel", "policy_arn": POLICY}],
    "aws_iam_policy": [{"arn": POLICY, "name": "doors"}],
}
BY_NOBODY: dict[str, tuple[str, str, dict[str, Any]]] = {
    "a new version of its policy": (
        "iam",
        "create_policy_version",
        {"PolicyArn": POLICY, "PolicyDocument": "{}", "SetAsDefault": True},
    ),
    "its policy goes": ("iam", "delete_policy", {"PolicyArn": POLICY}),
    "a policy that no state records": ("iam", "delete_policy_version", {"PolicyArn": UNKNOWN, "VersionId": "v1"}),
    "its instance profile": ("iam", "delete_instance_profile", {"InstanceProfileName": "sentinel"}),
}
MADE_UP: dict[str, tuple[str, str, dict[str, Any]]] = {
    **{
        f"a metric of {namespace}": (
            "cloudwatch",
            "put_metric_data",
            {"Namespace": namespace, "MetricData": [{"MetricName": "lag", "Value": 9_000}]},
        )
        for namespace in ("Kafka/Insights", "Kafka/Search", "Kafka/Children")
    },
    **{
        f"an event on {bus}": (
            "events",
            "put_events",
            {"Entries": [{"Source": "shop", "DetailType": "x", "Detail": "{}", "EventBusName": bus}]},
        )
        for bus in ("apps", "ops")
    },
    "the child of an alarm": (
        "cloudwatch",
        "set_alarm_state",
        {"AlarmName": "lag (prod)", "StateValue": "ALARM", "StateReason": "x"},
    ),
}


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    """A gateway that takes signals from a topic, and whose role is known."""
    made = Gate(
        tmp_path_factory.mktemp("gate"),
        signals=(SignalSourceSettings(name="sns", form=SignalForm.SNS, topics=(TOPIC,)),),
        reconcile=ReconcileSettings(gateway_identity=ROLE),
    )
    state = made.stack / "terraform.tfstate"
    document = json.loads(state.read_text())
    provider = 'provider["registry.terraform.io/hashicorp/aws"]'
    for kind, resources in RECORDED.items():
        instances = [{"schema_version": 0, "attributes": each, "index_key": at} for at, each in enumerate(resources)]
        document["resources"].append(
            {"mode": "managed", "type": kind, "name": "recorded", "provider": provider, "instances": instances}
        )
    state.write_text(json.dumps(document))
    with made as running:
        running.issue("app", kind=ActorKind.SERVICE)
        yield running


def attack(gate: Gate, actor: str, call: tuple[str, str, dict[str, Any]]) -> str:
    service, method, parameters = call
    gate.upstream.asked.clear()
    with pytest.raises(ClientError) as refused:
        getattr(gate.client(service, actor), method)(**parameters)
    assert gate.upstream.asked == []
    return str(refused.value)


@pytest.mark.parametrize("actor", ["agent", "app", "human"])
@pytest.mark.parametrize("name", BY_NOBODY)
def test_nobody_changes_what_sentinel_decides_by(gate: Gate, actor: str, name: str) -> None:
    said = attack(gate, actor, BY_NOBODY[name])
    assert "nothing was sent" in said.lower()
    assert "approve" not in said


@pytest.mark.parametrize("actor", ["agent", "app"])
@pytest.mark.parametrize("name", MADE_UP)
def test_nobody_makes_up_what_proves_an_incident(gate: Gate, actor: str, name: str) -> None:
    assert "No contract and no policy opens it" in attack(gate, actor, MADE_UP[name])
