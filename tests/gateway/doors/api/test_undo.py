"""An applied mutation is undone by a call that Sentinel finds; what was not applied, was changed since, or has no way back is told in a sentence."""

from typing import Any

import httpx
import pytest

from tests.kit.console import held
from tests.kit.gate import ASG, Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
LAG = {"intent": "availability", "motivation": "incident", "text": "The lag grows", "evidence": ["A-1"]}


def capacity(gate: Gate, wanted: int) -> str:
    """Propose a capacity of the group; the id of the mutation."""
    body = {
        "service": "autoscaling",
        "operation": "SetDesiredCapacity",
        "parameters": {"AutoScalingGroupName": ASG, "DesiredCapacity": wanted},
        "motive": LAG,
    }
    reply = httpx.post(f"{gate.url}/v1/mutations", headers=gate.bearer("agent"), json=body)
    return str(reply.json()["mutation"]["id"])


def undo(gate: Gate, mutation: str) -> dict[str, Any]:
    """What the API says a person would have to send."""
    reply = httpx.get(f"{gate.url}/v1/mutations/{mutation}/undo", headers=gate.bearer("human"))
    assert reply.status_code == 200, reply.text
    found: dict[str, Any] = reply.json()
    return found


def test_the_call_sets_back_what_was_before_and_sends_nothing(gate: Gate) -> None:
    first, second = capacity(gate, 6), capacity(gate, 8)
    sent = len(gate.upstream.asked)
    found = undo(gate, second)
    assert found["call"] == {
        "service": "autoscaling",
        "operation": "SetDesiredCapacity",
        "region": "us-east-1",
        "parameters": {"AutoScalingGroupName": ASG, "DesiredCapacity": 6},
    }
    assert len(gate.upstream.asked) == sent
    older = undo(gate, first)
    assert older["call"] is None
    assert second in older["why_not"]


def test_what_was_not_applied_has_nothing_to_undo(gate: Gate) -> None:
    for mutation in (capacity(gate, 60), held(gate)):
        assert undo(gate, mutation) == {
            "call": None,
            "why_not": "It was not applied, so there is nothing to undo.",
        }


def test_more_values_than_are_looked_up_get_a_sentence(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.doors.api.undo.MOST_VALUES", 0)
    found = undo(gate, capacity(gate, 6))
    assert (found["call"], found["why_not"].partition(".")[0]) == (
        None,
        "It changed 1 values, and a way back is sought for at most 0",
    )


def test_a_mutation_that_nobody_made_is_not_found(gate: Gate) -> None:
    reply = httpx.get(f"{gate.url}/v1/mutations/mut_none/undo", headers=gate.bearer("human"))
    assert reply.status_code == 404
