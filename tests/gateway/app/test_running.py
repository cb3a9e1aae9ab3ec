"""The gateway end to end: boto3 and HTTP clients, the real checks, policy and ledger, and a scripted AWS."""

from pathlib import Path
from typing import Any

import httpx
import pytest
from botocore.exceptions import ClientError

from gateway.core.records.record import Stage
from tests.kit.gate import ASG, Gate

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]

SET = {"AutoScalingGroupName": ASG, "DesiredCapacity": 6}


def _refused(call: Any, **parameters: Any) -> ClientError:
    with pytest.raises(ClientError) as caught:
        call(**parameters)
    return caught.value


def _propose(gate: Gate, actor: str = "agent", **more: Any) -> httpx.Response:
    headers = {**gate.bearer(actor), **more.pop("headers", {})}
    motive = {"intent": "availability", "motivation": "incident", "evidence": ["A-1"]}
    body = {"service": "autoscaling", "operation": "SetDesiredCapacity", "parameters": SET, "motive": motive, **more}
    return httpx.post(f"{gate.url}/v1/mutations", json=body, headers=headers)


def test_an_allowed_call_is_recorded_sent_once_and_settled(gate: Gate) -> None:
    reply = gate.client("autoscaling").set_desired_capacity(**SET)
    mutation = reply["ResponseMetadata"]["HTTPHeaders"]["x-sentinel-mutation"]
    assert gate.upstream.asked == ["SetDesiredCapacity"]
    decided, settled = gate.records(mutation_id=mutation)
    assert (decided.stage, settled.stage, settled.body.members["outcome"]) == (Stage.DECIDED, Stage.SETTLED, "applied")
    (claim,) = gate.run(gate.ledger.claims(address="aws_autoscaling_group.kafka_consumer"))
    assert (claim.attribute, claim.value, claim.actor) == ("desired_capacity", 6, "agent")


def test_a_mutation_is_serialized_and_signed_by_the_gateway(gate: Gate) -> None:
    gate.upstream.headers.clear()
    gate.client("autoscaling").set_desired_capacity(**SET)
    (headers,) = gate.upstream.headers
    assert gate.keys["agent"].id not in str(headers)
    assert not [name for name in headers if name.lower().startswith("x-sentinel")]


def test_what_is_out_of_bounds_is_refused_before_aws_is_called(gate: Gate) -> None:
    error = _refused(gate.client("autoscaling").set_desired_capacity, AutoScalingGroupName=ASG, DesiredCapacity=20)
    assert error.response["Error"]["Code"] == "AccessDenied"
    assert error.response["ResponseMetadata"]["HTTPStatusCode"] == 403
    assert "kafka.sentinel.hcl:10" in error.response["Error"]["Message"]
    assert gate.upstream.asked == []


def test_an_agent_must_state_a_motive(gate: Gate) -> None:
    error = _refused(gate.client("autoscaling", motive=None).set_desired_capacity, **SET)
    assert "x-sentinel-intent" in error.response["Error"]["Message"]
    assert gate.upstream.asked == []


def test_a_weaker_motive_loses_to_a_standing_claim(gate: Gate) -> None:
    gate.client("autoscaling").set_desired_capacity(**SET)
    rival = gate.client("autoscaling", "rival", ("cost", "budget"))
    error = _refused(rival.set_desired_capacity, AutoScalingGroupName=ASG, DesiredCapacity=5)
    assert "agent" in error.response["Error"]["Message"]
    # Agents are told who holds it and until when, not with which motive: another agent would state the same one.
    assert "availability/incident" not in error.response["Error"]["Message"]
    assert gate.upstream.asked == ["SetDesiredCapacity"]


def test_a_read_passes_unrecorded_and_needs_no_motive(gate: Gate) -> None:
    before = len(gate.records())
    gate.client("autoscaling", motive=None).describe_auto_scaling_groups()
    assert gate.upstream.asked == ["DescribeAutoScalingGroups"]
    assert len(gate.records()) == before


def test_what_is_not_understood_is_held_until_a_human_approves_it_once(gate: Gate) -> None:
    client = gate.client("events", motive=("performance", "schedule"))
    rule = {"ReplayName": "nightly"}
    held = _refused(client.cancel_replay, **rule)
    mutation = held.response["ResponseMetadata"]["HTTPHeaders"]["x-sentinel-mutation"]
    assert f"sentinel approve {mutation}" in held.response["Error"]["Message"]
    assert httpx.post(f"{gate.url}/v1/mutations/{mutation}/approve", headers=gate.bearer("agent")).status_code == 403
    assert gate.upstream.asked == []
    assert httpx.post(f"{gate.url}/v1/mutations/{mutation}/approve", headers=gate.bearer("human")).status_code == 200
    _refused(client.cancel_replay, ReplayName="weekly")
    assert gate.upstream.asked == []
    client.cancel_replay(**rule)
    assert gate.upstream.asked == ["CancelReplay"]
    _refused(client.cancel_replay, **rule)
    assert gate.upstream.asked == ["CancelReplay"]


@pytest.mark.parametrize("behaviour", ["cut", "html"])
def test_without_a_trustworthy_answer_the_outcome_is_in_doubt_and_the_claim_stays(gate: Gate, behaviour: str) -> None:
    gate.upstream.behaviour = behaviour
    error = _refused(gate.client("autoscaling").set_desired_capacity, **SET)
    assert error.response["Error"]["Code"] == "OutcomeUnknown"
    assert error.response["ResponseMetadata"]["HTTPStatusCode"] == 409
    assert gate.upstream.asked == ["SetDesiredCapacity"]
    mutation = error.response["ResponseMetadata"]["HTTPHeaders"]["x-sentinel-mutation"]
    assert gate.records(mutation_id=mutation)[-1].body.members["outcome"] == "in_doubt"
    assert [claim.mutation_id for claim in gate.run(gate.ledger.claims())] == [mutation]


def test_what_aws_refuses_is_passed_on_and_its_claim_ends(gate: Gate) -> None:
    gate.upstream.behaviour = "refuse"
    error = _refused(gate.client("autoscaling").set_desired_capacity, **SET)
    assert error.response["Error"] == {"Type": "Sender", "Code": "ValidationError", "Message": "Group not found"}
    assert not gate.run(gate.ledger.claims())


def test_calls_that_hand_out_credentials_are_refused(gate: Gate) -> None:
    error = _refused(gate.client("iam", "human").create_access_key, UserName="agent")
    assert "hands out AWS credentials" in error.response["Error"]["Message"]
    sts = gate.client("sts", "human")
    error = _refused(sts.assume_role, RoleArn="arn:aws:iam::123456789012:role/admin", RoleSessionName="agent")
    assert "may not be assumed by you" in error.response["Error"]["Message"]
    assert gate.upstream.asked == []


def test_an_agent_may_not_read_secret_values(gate: Gate) -> None:
    error = _refused(gate.client("secretsmanager").get_secret_value, SecretId="db")
    assert "secret value" in error.response["Error"]["Message"]
    assert gate.upstream.asked == []


def test_a_session_carries_its_motive(gate: Gate) -> None:
    body = {"motive": {"intent": "availability", "motivation": "incident", "evidence": ["A-2"]}, "lasts": "10m"}
    given = httpx.post(f"{gate.url}/v1/sessions", json=body, headers=gate.bearer()).json()
    client = gate.client("autoscaling", motive=None)
    client._request_signer._credentials.access_key = given["access_key_id"]
    client._request_signer._credentials.secret_key = given["secret_access_key"]
    reply = client.set_desired_capacity(**SET)
    mutation = reply["ResponseMetadata"]["HTTPHeaders"]["x-sentinel-mutation"]
    assert gate.records(mutation_id=mutation)[0].body.members["motive"]["evidence"] == ["A-2"]


def test_the_api_returns_decision_outcome_and_records(gate: Gate) -> None:
    reply = _propose(gate)
    body = reply.json()
    assert (reply.status_code, body["decision"]["verdict"], body["outcome"]["outcome"]) == (200, "allow", "applied")
    life = httpx.get(f"{gate.url}/v1/mutations/{body['mutation']['id']}", headers=gate.bearer()).json()
    assert [record["stage"] for record in life["records"]] == ["decided", "settled"]


def test_another_agent_does_not_see_it(gate: Gate) -> None:
    mutation = _propose(gate).json()["mutation"]["id"]
    assert httpx.get(f"{gate.url}/v1/mutations/{mutation}", headers=gate.bearer("rival")).status_code == 404
    assert httpx.post(f"{gate.url}/v1/mutations/{mutation}/release", headers=gate.bearer("rival")).status_code in (
        403,
        404,
    )


def test_a_dry_run_decides_the_same_and_changes_nothing(gate: Gate) -> None:
    before = len(gate.records())
    body = _propose(gate, dry_run=True).json()
    assert body["decision"]["verdict"] == "allow"
    assert body["outcome"] is None
    assert (gate.upstream.asked, len(gate.records())) == ([], before)
    real = _propose(gate).json()
    assert real["decision"] == body["decision"]


def test_the_same_idempotency_key_applies_once(gate: Gate) -> None:
    first = _propose(gate, headers={"Idempotency-Key": "k1"}).json()
    second = _propose(gate, headers={"Idempotency-Key": "k1"}).json()
    assert gate.upstream.asked == ["SetDesiredCapacity"]
    assert second["mutation"]["id"] == first["mutation"]["id"]
    assert second["outcome"] == first["outcome"]
    other = _propose(gate, headers={"Idempotency-Key": "k1"}, parameters={**SET, "DesiredCapacity": 5})
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_mismatch")


def test_a_refusal_is_a_problem_document_with_the_nearest_legal_value(gate: Gate) -> None:
    reply = _propose(gate, parameters={**SET, "DesiredCapacity": 20})
    assert reply.headers["content-type"] == "application/problem+json"
    assert (reply.status_code, reply.json()["code"]) == (403, "refused")
    offers = [finding["offer"]["nearest"] for finding in reply.json()["decision"]["findings"] if finding.get("offer")]
    assert offers
    assert (
        _propose(gate, parameters={**SET, "DesiredCapacity": offers[0]}, dry_run=True).json()["decision"]["verdict"]
        == "allow"
    )


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        (
            {"service": "autoscaling", "operation": "SetDesiredCapacity", "parameters": {"DesiredCapacity": "six"}},
            400,
            "DesiredCapacity",
        ),
        (
            {"service": "autoscaling", "operation": "SetDesiredCapacity", "parameters": {**SET, "Colour": 1}},
            400,
            "Colour",
        ),
        ({"service": "autoscaling", "operation": "Explode", "parameters": {}}, 400, "no operation"),
        ({"service": "autoscaling", "operation": "DescribeTags", "parameters": {}}, 400, "reads"),
        (
            {"service": "autoscaling", "operation": "SetDesiredCapacity", "parameters": SET, "status": "approved"},
            400,
            "status",
        ),
        (
            {"service": "autoscaling", "operation": "SetDesiredCapacity", "parameters": SET, "region": "evil.com/#"},
            400,
            "region",
        ),
        (
            {
                "service": "autoscaling",
                "operation": "SetDesiredCapacity",
                "parameters": SET,
                "motive": {"intent": "fun", "motivation": "incident"},
            },
            400,
            "intent",
        ),
        ([1], 400, "proposal"),
    ],
)
def test_an_invalid_proposal_gets_the_reason(gate: Gate, body: Any, status: int, says: str) -> None:
    reply = httpx.post(f"{gate.url}/v1/mutations", json=body, headers=gate.bearer())
    assert reply.status_code == status
    assert says in reply.json()["detail"]
    assert gate.upstream.asked == []


@pytest.mark.parametrize("token", ["", "Bearer x", "Bearer SNTLAAAAAAAAAAAAAAAA.wrong", "Basic YTpi"])
def test_an_unauthenticated_request_is_refused_and_recorded(gate: Gate, token: str) -> None:
    reply = httpx.post(f"{gate.url}/v1/mutations", content=b"{", headers={"Authorization": token} if token else {})
    assert reply.status_code == 401
    assert gate.records(stage=Stage.TURNED_AWAY)
    assert gate.upstream.asked == []


def test_ready_names_code_policy_and_stacks(gate: Gate) -> None:
    ready = httpx.get(f"{gate.url}/readyz").json()
    assert (ready["status"], ready["stacks"]) == ("ready", {"kafka": "enforce"})
    assert len(ready["policy"]) == len(ready["code"]) == 64


def test_the_ledger_of_a_gateway_verifies(tmp_path: Path) -> None:
    with Gate(tmp_path) as own:
        own.client("autoscaling").set_desired_capacity(**SET)
        _refused(own.client("autoscaling").set_desired_capacity, AutoScalingGroupName=ASG, DesiredCapacity=20)
        assert own.run(own.ledger.verify()) == len(own.records()) > 3


def test_observing_applies_and_returns_the_verdict(observing: Gate) -> None:
    reply = observing.client("autoscaling").set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=20)
    headers = reply["ResponseMetadata"]["HTTPHeaders"]
    assert headers["x-sentinel-would"] == "deny"
    assert observing.upstream.asked == ["SetDesiredCapacity"]
    decided, settled = observing.records(mutation_id=headers["x-sentinel-mutation"])
    assert decided.body.members["decision"]["verdict"] == "deny"
    assert settled.body.members["outcome"] == "applied"


def test_observing_still_refuses_credentials(observing: Gate) -> None:
    _refused(observing.client("iam", "human").create_access_key, UserName="agent")
    assert "CreateAccessKey" not in observing.upstream.asked
