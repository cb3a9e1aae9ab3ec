"""An agent that claims whatever it can to lock others out: it gets its share, others get theirs, and its refusals cost nobody else."""

from collections.abc import Iterator

import httpx
import pytest

from gateway.core.records.record import Stage
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
QUEUES = 70
CLAIMS = 50
"""What one agent may hold, by `claims_per_actor`."""
MOTIVATIONS = ("experiment", "routine", "budget", "schedule", "launch", "vulnerability", "incident")
RESOURCE = f"""
resource "aws_sqs_queue" "wide" {{
  count                      = {QUEUES}
  name                       = "wide-${{count.index}}"
  visibility_timeout_seconds = 30
}}
"""


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    """A gateway of a stack with more attributes than one agent may hold."""
    gate = Gate(directory=tmp_path_factory.mktemp("wide"))
    with (gate.stack / "main.tf").open("a") as code:
        code.write(RESOURCE)
    with gate:
        for actor in ("squatter", "victim", "fixer", "mover", "mover-2"):
            gate.issue(actor)
        yield gate


def hide(gate: Gate, number: int, actor: str, motivation: str, seconds: int = 31) -> httpx.Response:
    """Set an attribute of one of the queues."""
    url = f"https://sqs.us-east-1.amazonaws.com/123456789012/wide-{number}"
    body = {
        "service": "sqs",
        "operation": "SetQueueAttributes",
        "parameters": {"QueueUrl": url, "Attributes": {"VisibilityTimeout": str(seconds)}},
        "motive": {"intent": "cost", "motivation": motivation, "evidence": ["A-1"]},
    }
    return httpx.post(f"{gate.url}/v1/mutations", json=body, headers=gate.bearer(actor), timeout=300)


def held_by(gate: Gate, actor: str) -> int:
    return len(gate.run(gate.ledger.claims(actor=actor)))


@pytest.mark.slow
def test_who_claims_all_gets_no_more_than_its_share_and_others_get_theirs(wide: Gate) -> None:
    taken: dict[int, str] = {}
    for number in range(QUEUES):
        for motivation in MOTIVATIONS[:2]:
            if hide(wide, number, "squatter", motivation).status_code == 200:
                taken[number] = motivation
                break
        wide.close_breakers()
    assert list(taken.values()).count("experiment") == 20, "an experiment gets its own, smaller share"
    refused = hide(wide, QUEUES - 1, "squatter", "experiment")
    assert "[fairness.claims] squatter holds 20 claims for the motivation experiment" in refused.json()["detail"]
    assert held_by(wide, "squatter") == len(taken) == CLAIMS
    free = [number for number in range(QUEUES) if number not in taken]
    assert len(free) == QUEUES - CLAIMS
    for number in free[:5]:
        assert hide(wide, number, "victim", "routine").status_code == 200, "what is free stays free"
    squatted = next(number for number, motivation in taken.items() if motivation == "experiment")
    assert hide(wide, squatted, "fixer", "incident", 32).status_code == 200, "a better reason takes it back"
    wide.release_all()


def test_a_new_reason_each_time_brings_no_more(wide: Gate) -> None:
    replies = [hide(wide, number, "mover", MOTIVATIONS[number % 7]) for number in range(CLAIMS + 5)]
    assert [reply.status_code for reply in replies[:CLAIMS]] == [200] * CLAIMS
    assert {reply.status_code for reply in replies[CLAIMS:]} == {403}
    assert held_by(wide, "mover") == CLAIMS
    wide.release_all()


def test_saying_again_what_is_so_already_holds_nothing(wide: Gate) -> None:
    mutation = hide(wide, 60, "victim", "routine", 40).json()["mutation"]["id"]
    path = f"{wide.url}/v1/mutations/{mutation}/release"
    assert httpx.post(path, headers=wide.bearer("victim"), timeout=300).status_code == 200
    assert hide(wide, 60, "squatter", "incident", 40).status_code == 200
    assert held_by(wide, "squatter") == 0
    wide.release_all()


def test_its_refusals_cost_others_nothing(wide: Gate) -> None:
    """Neither budget nor breaker: what somebody holds is no fault of who asks for it, and who asks pays for it alone."""
    assert hide(wide, 0, "fixer", "incident").status_code == 200
    before = wide.run(wide.ledger.used(wide.records()[-1].at))
    for _ in range(10):
        assert hide(wide, 0, "victim", "experiment", 33).status_code == 403
    after = wide.run(wide.ledger.used(wide.records()[-1].at))
    assert after["victim"].breaker.in_a_row == 0, "a contest that is lost is no failure"
    assert after["fixer"] == before["fixer"]
    assert hide(wide, 1, "victim", "experiment").status_code == 200, "and what is uncontested is not waited for"
    assert not wide.records(stage=Stage.BREAKER)
    wide.release_all()
