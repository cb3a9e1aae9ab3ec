"""`sentinel left`, against a running gateway: what was not written into code, and outcomes that nothing showed."""

from collections.abc import Callable
from typing import Any

import pytest

from gateway.cli import drift
from gateway.core.model.json import Json
from gateway.core.times import SystemClock
from tests.kit.bodies import written_back
from tests.kit.gate import ASG, Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

Document = Callable[..., tuple[int, Any]]
CHAIN = ["main.tf:3: max(…)"]
LEFT: dict[str, Json] = {
    "address": "aws_autoscaling_group.kafka_consumer",
    "attribute": "desired_capacity",
    "value": 6,
    "reason": "A function computes it.",
    "chain": CHAIN,
}


def test_what_is_left_is_listed_until_it_is_done(
    gate: Gate, speak_as: Callable[..., None], sentinel: Callable[..., Any], document: Document
) -> None:
    speak_as(gate, "human")
    assert sentinel("left").stdout == "Nothing is left to you.\n"
    now = SystemClock().now()
    reply = gate.client("autoscaling").set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=6)
    mutation = reply["ResponseMetadata"]["HTTPHeaders"]["x-sentinel-mutation"]
    gate.run(gate.ledger.record_reconciliation(mutation, at=now, body=written_back({"left": [LEFT]})))
    (entry,) = document("left")[1]["left"]
    assert (entry["mutation_id"], entry["actor"], entry["kind"], entry["chain"]) == (
        mutation,
        "agent",
        "write_back",
        CHAIN,
    )
    line = sentinel("left").stdout.splitlines()[2]
    for part in (
        "aws_autoscaling_group.kafka_consumer.desired_capacity = 6",
        "A function computes it.",
        "main.tf:3",
        mutation,
    ):
        assert part in line
    gate.run(gate.ledger.record_reconciliation(mutation, at=now, body=written_back({"merged": True})))
    assert document("left") == (0, {"left": [], "more": False})


def test_an_outcome_that_nothing_showed_is_left_until_it_is_settled(
    gate: Gate, speak_as: Callable[..., None], sentinel: Callable[..., Any], document: Document
) -> None:
    gate.release_all()
    gate.upstream.behaviour = "cut"
    client = gate.client("autoscaling")
    with pytest.raises(client.exceptions.ClientError) as doubtful:
        client.set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=5)
    gate.upstream.behaviour = "ok"
    mutation = doubtful.value.response["ResponseMetadata"]["HTTPHeaders"]["x-sentinel-mutation"]
    speak_as(gate, "human")
    assert document("left")[1] == {"left": [], "more": False}
    gate.run(gate.ledger.leave_to_human(mutation, "Nothing showed it.", SystemClock().now()))
    (entry,) = document("left")[1]["left"]
    assert (entry["kind"], entry["reason"], entry["mutation_id"]) == ("in_doubt", "Nothing showed it.", mutation)
    assert f"sentinel settle {mutation}" in sentinel("left").stdout
    speak_as(gate, "rival")
    assert document("left") == (0, {"left": [], "more": False})
    speak_as(gate, "human")
    assert sentinel("settle", mutation, "--failed", "--reason", "I looked.").exit_code == 0
    assert document("left") == (0, {"left": [], "more": False})


def test_a_list_that_goes_on_says_so(monkeypatch: pytest.MonkeyPatch, sentinel: Callable[..., Any]) -> None:
    entry = {
        **LEFT,
        "since": "2026-11-28T08:00:00Z",
        "actor": "agent",
        "stack": "s",
        "kind": "write_back",
        "mutation_id": "mut_1",
    }

    async def answered(*_: object, **__: object) -> dict[str, Json]:
        return {"left": [entry], "more": True}

    monkeypatch.setattr(drift, "call_api_as", answered)
    assert "There is more, of older reports" in sentinel("left").stdout
