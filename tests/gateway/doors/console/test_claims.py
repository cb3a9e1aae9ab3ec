"""The claims board: filtered and paged by the ledger, and ended in bulk only as listed."""

import re

import httpx
import pytest

from tests.gateway.doors.console.test_approvals import propose
from tests.kit.console import text_of, visitor
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
ADDRESS = "aws_autoscaling_group.kafka_consumer"


def test_a_claim_says_who_holds_what_and_why(gate: Gate) -> None:
    mutation = propose(gate, "agent", 6).json()["mutation"]["id"]
    for query in ("", f"?address={ADDRESS}", "?actor=agent"):
        page = visitor(gate, "human").get(f"/console/claims{query}")
        shown = text_of(page)
        assert f"{ADDRESS}.desired_capacity 6 agent agent availability / incident" in shown
        assert mutation in page.text
    assert "Nobody holds anything" in visitor(gate, "human").get("/console/claims?actor=nobody").text
    assert mutation not in visitor(gate, "rival").get("/console/claims").text
    gate.release_all()


def test_pages_of_claims_follow_each_other(gate: Gate) -> None:
    gate.release_all()
    queue = {"service": "sqs", "operation": "SetQueueAttributes", "motive": {"intent": "cost", "motivation": "budget"}}
    for number in range(3):
        for shard in (0, 1):
            attributes = {"VisibilityTimeout": str(100 + number)}
            url = f"https://sqs.us-east-1.amazonaws.com/123456789012/kafka-shard-{shard}"
            body = {**queue, "parameters": {"QueueUrl": url, "Attributes": attributes}}
            httpx.post(f"{gate.url}/v1/mutations", headers=gate.bearer("agent"), json=body)
    headers = gate.bearer("human")
    every = httpx.get(f"{gate.url}/v1/claims?every=true", headers=headers).json()["claims"]
    assert len(every) > 2
    first = httpx.get(f"{gate.url}/v1/claims?every=true&limit=2", headers=headers).json()
    rest = httpx.get(f"{gate.url}/v1/claims?every=true&before={first['claims'][-1]['id']}", headers=headers).json()
    assert [each["id"] for each in (*first["claims"], *rest["claims"])] == [each["id"] for each in every]
    assert first["left_off"]
    assert httpx.get(f"{gate.url}/v1/claims?before=clm_none", headers=headers).json()["claims"] == []
    gate.release_all()


def test_bulk_ends_what_was_listed_and_only_for_who_may(gate: Gate) -> None:
    propose(gate, "agent", 6)
    page = visitor(gate, "pipeline").get("/console/claims/release")
    assert "Nothing that you may end matches" in page.text
    page = visitor(gate, "human").get(f"/console/claims/release?address={ADDRESS}")
    [given] = re.findall(r'name="mutations" value="([^"]*)"', page.text)
    refused = visitor(gate, "pipeline").post("/console/claims/release", data={"mutations": given})
    assert refused.status_code == 409
    done = visitor(gate, "human").post("/console/claims/release", data={"mutations": given})
    assert done.headers["location"] == "/console/claims?done=released"
    assert not gate.run(gate.ledger.claims())
    assert visitor(gate, "human").post("/console/claims/release", data={"mutations": ""}).status_code == 400
    gate.release_all()
