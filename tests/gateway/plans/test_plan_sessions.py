"""A plan opens a session: what it plans passes, and nothing else."""

from collections.abc import Mapping
from typing import Any

import boto3
import httpx
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from gateway.core.records.record import Record, Stage
from tests.kit.gate import Gate

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]


def planned(address: str, action: str, **members: Any) -> dict[str, Any]:
    """One planned change."""
    return {"address": address, "type": address.split(".")[-2], "action": action, **members}


def ask(gate: Gate, actor: str, *changes: Mapping[str, Any], lasts: str = "10m", **members: Any) -> tuple[int, Any]:
    """Ask for a session in which these changes are applied."""
    headers = {**gate.bearer(actor), "Content-Type": "application/json"}
    body = {"changes": changes, "open_session": {"lasts": lasts}, **members}
    reply = httpx.post(f"{gate.url}/v1/plans", headers=headers, json=body, timeout=300)
    return reply.status_code, reply.json()


class Applying:
    """The clients of one session."""

    def __init__(self, gate: Gate, report: Mapping[str, Any]) -> None:
        assert report["session"], report
        self.gate, self.plan, self.key = gate, report["mutation"], report["session"]

    def client(self, service: str, region: str = "us-east-1") -> Any:
        """A boto3 client with the session's key."""
        return boto3.client(
            service,
            endpoint_url=self.gate.url,
            region_name=region,
            aws_access_key_id=self.key["access_key_id"],
            aws_secret_access_key=self.key["secret_access_key"],
            config=Config(retries={"total_max_attempts": 1}),
        )

    def bearer(self) -> dict[str, str]:
        """Its key at the API."""
        return {"Authorization": f"Bearer {self.key['access_key_id']}.{self.key['secret_access_key']}"}

    def end(self, **body: Any) -> httpx.Response:
        """End the session with its own key."""
        headers = {**self.bearer(), "Content-Type": "application/json"}
        url = f"{self.gate.url}/v1/plans/{self.plan}/session"
        return httpx.request("DELETE", url, headers=headers, json=body, timeout=300)


def opened(gate: Gate, *changes: Mapping[str, Any], actor: str = "pipeline", **members: Any) -> Applying:
    """A session for these changes."""
    status, report = ask(gate, actor, *changes, **members)
    assert status == 200, report
    return Applying(gate, report)


def refused(call: Any, **parameters: Any) -> str:
    """Why a call is refused."""
    with pytest.raises(ClientError) as caught:
        call(**parameters)
    return str(caught.value)


def last_decision(gate: Gate) -> Record:
    """The latest decision."""
    return gate.records(stage=Stage.DECIDED)[-1]


def test_what_is_planned_passes_and_is_recorded_as_its_part(gate: Gate) -> None:
    applying = opened(gate, planned("aws_sqs_queue.fresh", "create", values={"name": "fresh", "delay_seconds": 5}))
    applying.client("sqs").create_queue(QueueName="fresh", Attributes={"DelaySeconds": "5"})
    record = last_decision(gate)
    body: Any = record.body
    assert (body.part.plan, [use.address for use in body.part.uses]) == (applying.plan, ["aws_sqs_queue.fresh"])
    assert {effect.address for effect in body.effects} == {"aws_sqs_queue.fresh"}
    assert body.claims == ()
    [plan] = gate.records(stage=Stage.DECIDED, mutation_id=applying.plan)
    assert plan.body.members["plan"]["key"] == applying.key["access_key_id"]
    [checked] = [
        each for each in gate.records(stage=Stage.PLAN_CHECKED) if each.body.members.get("mutation") == applying.plan
    ]
    assert checked.actor == "pipeline"
    applying.end()
    assert gate.run(gate.ledger.verify())


@pytest.mark.parametrize(
    ("service", "method", "parameters", "why"),
    [
        ("sqs", "create_queue", {"QueueName": "other"}, "does not create this aws_sqs_queue"),
        ("sqs", "create_queue", {"QueueName": "fresh", "Attributes": {"DelaySeconds": "6"}}, "delay_seconds"),
        ("sns", "create_topic", {"Name": "fresh"}, "does not create this aws_sns_topic"),
        ("iam", "create_user", {"UserName": "intruder"}, "fits no change"),
        (
            "autoscaling",
            "set_desired_capacity",
            {"AutoScalingGroupName": "kafka-consumer-processor-asg", "DesiredCapacity": 5},
            "fits no change",
        ),
        ("events", "put_rule", {"Name": "intruder"}, "fits no change"),
    ],
)
def test_what_is_not_planned_is_held_with_the_reason(
    gate: Gate, service: str, method: str, parameters: dict[str, Any], why: str
) -> None:
    applying = opened(gate, planned("aws_sqs_queue.fresh", "create", values={"name": "fresh", "delay_seconds": 5}))
    sent = len(gate.upstream.asked)
    message = refused(getattr(applying.client(service), method), **parameters)
    assert why in message
    assert applying.plan in message
    assert len(gate.upstream.asked) == sent


def test_a_planned_creation_is_carried_out_once(gate: Gate) -> None:
    applying = opened(gate, planned("aws_sqs_queue.fresh", "create", values={"name": "fresh"}))
    applying.client("sqs").create_queue(QueueName="fresh")
    assert "no more such changes" in refused(applying.client("sqs").create_queue, QueueName="fresh")


def test_a_session_ends_and_its_key_with_it(gate: Gate) -> None:
    applying = opened(gate, planned("aws_sqs_queue.fresh", "create", values={"name": "fresh"}))
    assert applying.end(exit_code=1).json() == {"ended": True}
    assert "The key has ended" in refused(applying.client("sqs").create_queue, QueueName="fresh")
    [record] = gate.records(stage=Stage.PLAN_ENDED, mutation_id=applying.plan)
    body = record.body.members
    assert (body["end"], body["exit_code"], body["unused"]) == ("ended", 1, ["aws_sqs_queue.fresh"])


def test_a_session_opens_no_other(gate: Gate) -> None:
    applying = opened(gate, planned("aws_sqs_queue.fresh", "create", values={"name": "fresh"}))
    headers = {**applying.bearer(), "Content-Type": "application/json"}
    body = {"changes": [planned("aws_sqs_queue.more", "create", values={"name": "more"})], "open_session": {}}
    reply = httpx.post(f"{gate.url}/v1/plans", headers=headers, json=body, timeout=300)
    assert (reply.status_code, "standing key" in reply.text) == (403, True)
    motive = {"intent": "availability", "motivation": "incident"}
    reply = httpx.post(f"{gate.url}/v1/sessions", headers=headers, json={"motive": motive}, timeout=300)
    assert reply.status_code == 403


def test_an_agent_opens_none(gate: Gate) -> None:
    status, problem = ask(gate, "agent", planned("aws_sqs_queue.fresh", "create", values={"name": "fresh"}))
    assert (status, "plans.open_sessions" in problem["detail"]) == (403, True)
