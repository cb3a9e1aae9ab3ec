"""Resources, their context and history through a running gateway: as agents ask before they act."""

import json
import re
from typing import Any

import httpx
import pytest

from tests.kit.gate import ASG, Gate

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]

ADDRESS = "aws_autoscaling_group.kafka_consumer"
PARAMETERS = {"AutoScalingGroupName": ASG, "DesiredCapacity": 6}
MOTIVE = {"intent": "availability", "motivation": "incident", "evidence": ["A-1"], "text": "private words"}
PROPOSAL = {"service": "autoscaling", "operation": "SetDesiredCapacity", "parameters": PARAMETERS, "motive": MOTIVE}
HEALTH = {"read_at", "age_seconds", "within_requested_age", "code_revision", "state_serial", "sources", "refresh_with"}


def get(gate: Gate, path: str, actor: str = "agent", **query: Any) -> Any:
    reply = httpx.get(f"{gate.url}/v1{path}", headers=gate.bearer(actor), params=query, timeout=300)
    assert reply.status_code == 200, reply.text
    return reply.json()


def propose(gate: Gate, actor: str = "agent") -> str:
    reply = httpx.post(f"{gate.url}/v1/mutations", headers=gate.bearer(actor), json=PROPOSAL, timeout=300)
    assert reply.status_code == 200, reply.text
    return str(reply.json()["mutation"]["id"])


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/resources", {}),
        ("/context", {"address": ADDRESS}),
        ("/history", {"address": ADDRESS}),
        ("/claims", {}),
        ("/drift", {}),
    ],
)
def test_every_answer_has_every_member_of_its_health(gate: Gate, path: str, query: dict[str, str]) -> None:
    assert get(gate, path, "human", **query)["data_health"].keys() == HEALTH


def test_an_agent_finds_a_resource_and_its_bounds(gate: Gate) -> None:
    [found] = get(gate, "/resources", q="consumer-processor")["resources"]
    assert (found["address"], found["type"]) == (ADDRESS, "aws_autoscaling_group")
    answer = get(gate, "/context", address=found["address"], attribute="desired_capacity")
    [entry] = answer["attributes"]
    assert (entry["bounds"]["min"], entry["bounds"]["max"], entry["mutable_by_agent"]) == (2, 16, True)
    assert gate.upstream.asked == []


def test_an_agent_sees_who_holds_what_it_would_touch_and_not_their_words(gate: Gate) -> None:
    mutation = propose(gate)
    [entry] = get(gate, "/context", "rival", address=ADDRESS, attribute="desired_capacity")["attributes"]
    assert entry["recorded"]["from"] == "claim"
    held = entry["claim"]
    assert (held["holder"], held["intent"], held["motivation"], held["mutation_id"]) == ("agent", "availability", "incident", mutation)  # fmt: skip
    assert held["until"]
    [claim] = get(gate, "/claims", "rival", address=ADDRESS)["claims"]
    assert (claim["actor"], claim["motive"]) == ("agent", {"intent": "availability", "motivation": "incident"})
    assert get(gate, "/claims", "rival")["claims"] == []
    for answer in (get(gate, path, "rival", address=ADDRESS) for path in ("/context", "/history", "/claims")):
        assert "private words" not in str(answer)
    assert "private words" in str(get(gate, "/history", "human", address=ADDRESS))
    assert get(gate, "/claims", "agent", address=ADDRESS)["claims"][0]["motive"]["text"] == "private words"


def test_the_history_names_the_change(gate: Gate) -> None:
    mutation = propose(gate)
    newest = get(gate, "/history", address=ADDRESS, attribute="desired_capacity", limit=1)["history"][0]
    assert (newest["mutation_id"], newest["outcome"], newest["operation"]) == (mutation, "applied", "autoscaling:SetDesiredCapacity")  # fmt: skip
    assert newest["changes"][0]["value"] == 6


def test_live_values_are_read_from_aws_when_they_are_asked_for_and_kept(gate: Gate) -> None:
    group = f"<AutoScalingGroupName>{ASG}</AutoScalingGroupName><DesiredCapacity>5</DesiredCapacity>"
    gate.upstream.results["DescribeAutoScalingGroups"] = (
        f"<AutoScalingGroups><member>{group}</member></AutoScalingGroups>"
    )
    try:
        for _ in range(2):
            answer = get(gate, "/context", address=ADDRESS, attribute="desired_capacity", max_age_seconds=3600)
            assert (answer["attributes"][0]["live"]["value"], answer["attributes"][0]["live"]["status"]) == (5, "ok")
            assert answer["data_health"]["within_requested_age"] is True
        assert gate.upstream.asked == ["DescribeAutoScalingGroups"]
    finally:
        gate.upstream.results.clear()


def test_drift_that_sentinel_applied_has_its_cause(gate: Gate) -> None:
    mutation = propose(gate)
    found = get(gate, "/drift", "human", cause="applied", stack="kafka")["drift"]
    assert [(each["attribute"], each["live"], each["origin"]) for each in found] == [
        ("desired_capacity", 6, {"mutation_id": mutation})
    ]
    assert get(gate, "/drift", "human", cause="foreign")["drift"] == []


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/context", 422),
        ("/context?address=aws_sqs_queue.none", 404),
        (f"/context?address={ADDRESS}&max_age_seconds=-1", 422),
        (f"/context?address={ADDRESS}&max_age_seconds=inf", 422),
        (f"/history?address={ADDRESS}&limit=0", 422),
        (f"/history?address={ADDRESS}&before_seq=99999999999999999999", 422),
        ("/resources?stack=none", 404),
        ("/resources?limit=100000", 422),
    ],
)
def test_a_mistake_is_a_problem_document(gate: Gate, path: str, status: int) -> None:
    reply = httpx.get(f"{gate.url}/v1{path}", headers=gate.bearer(), timeout=300)
    assert reply.status_code in (status, 400), reply.text
    assert reply.headers["content-type"] == "application/problem+json"


def test_a_stranger_is_told_nothing(gate: Gate) -> None:
    for path in ("/resources", f"/context?address={ADDRESS}", f"/history?address={ADDRESS}"):
        assert httpx.get(f"{gate.url}/v1{path}", timeout=300).status_code == 401


@pytest.mark.parametrize("address", ["aws_db_instance.reports", "aws_lambda_function.rebalancer"])
def test_no_secret_and_no_digest_of_one_reaches_an_agent(gate: Gate, address: str) -> None:
    seen = {
        actor: json.dumps(get(gate, "/context", actor, address=address)["attributes"]) for actor in ("agent", "human")
    }
    assert "hmac_sha256" in seen["human"]
    digests = re.findall(r'"hmac_sha256": "([^"]*)"', seen["agent"]) + re.findall(r"hmac_sha256:(\w*)", seen["agent"])
    assert set(digests) <= {""}
