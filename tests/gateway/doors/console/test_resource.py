"""A resource: declared, recorded and live, who holds what, the picture of its history, and what depends on it."""

from typing import Any

import pytest

from gateway.doors.console.resource import _matters
from tests.gateway.doors.console.test_approvals import propose
from tests.kit.console import text_of, visitor
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
ADDRESS = "aws_autoscaling_group.kafka_consumer"


def test_resources_are_found_and_paged(gate: Gate) -> None:
    client = visitor(gate, "human")
    shown = text_of(client.get("/console/resources?q=consumer&type=aws_autoscaling_group"))
    assert f"{ADDRESS} aws_autoscaling_group kafka main.tf:8 within its contract" in shown
    assert "No resource matches" in client.get("/console/resources?q=nothing-has-it").text


def test_one_resource_with_its_history_and_holders(gate: Gate) -> None:
    propose(gate, "agent", 6)
    propose(gate, "agent", 8)
    page = visitor(gate, "human").get(f"/console/resource?address={ADDRESS}")
    shown = text_of(page)
    assert "desired_capacity 4 main.tf:12 8 claim min 2 , max 16 , max_step 4" in shown
    assert "desired_capacity : 6 → 8" in shown
    assert "agent set 8 for availability / incident (applied)" in shown
    assert "aws_autoscaling_policy.scale_up_lag: depends on it directly" in shown
    assert "The code that declares it: main.tf:8" in shown
    assert 'resource "aws_autoscaling_group" "kafka_consumer" {' in shown
    assert "agent holds desired_capacity at 8 from" in shown
    assert "agent held desired_capacity at 6 from" in shown
    assert f"sentinel blame {ADDRESS}.desired_capacity" in shown
    assert 'role="img"' in page.text
    gate.release_all()


def test_an_agent_is_shown_holders_without_their_words(gate: Gate) -> None:
    propose(gate, "agent", 6)
    shown = visitor(gate, "rival").get(f"/console/resource?address={ADDRESS}")
    assert shown.status_code == 200
    assert ">agent</a> for availability / incident" in shown.text
    gate.release_all()


def test_live_values_are_read_only_on_demand(gate: Gate) -> None:
    gate.upstream.asked.clear()
    client = visitor(gate, "human")
    client.get(f"/console/resource?address={ADDRESS}")
    assert gate.upstream.asked == []
    assert client.get(f"/console/resource?address={ADDRESS}&live").status_code == 200
    assert gate.upstream.asked


@pytest.mark.parametrize("query", ["", "?address=", "?address=aws_none.x", "?address=%3Cscript%3E"])
def test_what_is_not_there_is_said(gate: Gate, query: str) -> None:
    reply = visitor(gate, "human").get(f"/console/resource{query}")
    assert reply.status_code == 404
    assert "<script>" not in reply.text.partition("<main")[2]


def attribute(name: str, **known: Any) -> dict[str, Any]:
    unknown: dict[str, Any] = {"claim": None, "bounds": None, "recorded": None, "live": {"status": "not_read"}}
    return {"attribute": name, **unknown, **known}


def test_what_is_held_bounded_changed_or_different_comes_first() -> None:
    read = {"live": {"status": "ok", "value": 2}, "recorded": {"value": 1}}
    assert _matters(attribute("a", claim={"holder": "ana"}), [], live=False)
    assert _matters(attribute("a", bounds={"min": 1}), [], live=False)
    assert _matters(attribute("a"), ["b", "a"], live=False)
    assert _matters(attribute("a", **read), [], live=True)
    assert not _matters(attribute("a", **{**read, "recorded": {"value": 2}}), [], live=True)
    assert not _matters(attribute("a"), ["b"], live=True)
