"""`sentinel resources`, `context` and `history`, against a running gateway."""

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from tests.kit.gate import ASG, Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

Document = Callable[..., tuple[int, Any]]
ADDRESS = "aws_autoscaling_group.kafka_consumer"
PROPOSAL = {
    "service": "autoscaling",
    "operation": "SetDesiredCapacity",
    "parameters": {"AutoScalingGroupName": ASG, "DesiredCapacity": 6},
    "motive": {"intent": "availability", "motivation": "incident", "evidence": ["A-1"]},
}


@pytest.fixture
def held(gate: Gate, speak_as: Callable[..., None]) -> Iterator[str]:
    """A mutation that holds the group's capacity, asked about by a rival."""
    reply = httpx.post(f"{gate.url}/v1/mutations", headers=gate.bearer("agent"), json=PROPOSAL, timeout=300)
    speak_as(gate, "rival")
    yield str(reply.json()["mutation"]["id"])
    gate.release_all()


def test_what_there_is(held: str, sentinel: Callable[..., Any], document: Document) -> None:
    listed = sentinel("resources", "consumer-processor")
    assert listed.exit_code == 0, listed.output
    assert ADDRESS in listed.stdout
    code, reply = document("resources", "--type", "aws_autoscaling_group", "--json")
    assert (code, [each["address"] for each in reply["resources"]]) == (0, [ADDRESS])


def test_what_is_known_of_it(held: str, sentinel: Callable[..., Any], document: Document) -> None:
    shown = sentinel("context", ADDRESS, "desired_capacity")
    assert shown.exit_code == 0, shown.output
    assert all(each in shown.stdout for each in ("min 2, max 16", "agent until", "not_read", "live: not_read"))
    code, reply = document("context", ADDRESS, "desired_capacity", "--max-age", "60", "--json")
    assert (code, reply["attributes"][0]["claim"]["mutation_id"]) == (0, held)


def test_how_it_came_to_be_so(held: str, sentinel: Callable[..., Any], document: Document) -> None:
    shown = sentinel("history", ADDRESS)
    assert shown.exit_code == 0, shown.output
    assert held in shown.stdout
    code, reply = document("history", ADDRESS, "tag", "--json")
    assert (code, reply["history"]) == (0, [])


def test_a_mistake_is_a_sentence(held: str, document: Document) -> None:
    code, reply = document("context", "aws_sqs_queue.none", "--json")
    assert (code, reply["code"]) == (1, "not_found")
