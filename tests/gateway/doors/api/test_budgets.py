"""Budgets and breakers on whole gateways: two of them on one ledger, every protocol's own way to say later, and what a refusal costs others."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from botocore.exceptions import ClientError

from gateway.core.model.caller import ActorKind
from gateway.core.records.record import Stage
from gateway.core.settings import PolicySettings
from tests.kit.gate import ASG, Gate

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.opa]
POLICIES = Path(__file__).parents[4] / "policies"
IN_A_ROW = 6


@pytest.fixture(scope="module")
def policies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped policies with small numbers for agents."""
    copy = tmp_path_factory.mktemp("own") / "policies"
    shutil.copytree(POLICIES, copy, ignore=shutil.ignore_patterns("bundle"))
    path = copy / "data" / "budgets.json"
    numbers = json.loads(path.read_text())
    numbers["budgets"]["mutations"]["agent"] = {"minute": 1000, "hour": 4}
    numbers["budgets"]["mutations"]["service"] = {"minute": 10000}
    numbers["budgets"]["added_per_day"]["service"] = {"instances": 3}
    numbers["budgets"]["added_per_day"]["pipeline"] = {"monthly_usd": 15}
    numbers["budgets"]["breaker"]["service"] = {"in_a_row": IN_A_ROW, "open_seconds": 3600}
    path.write_text(json.dumps(numbers))
    return copy


@pytest.fixture(scope="module")
def gates(tmp_path_factory: pytest.TempPathFactory, policies: Path) -> Iterator[tuple[Gate, Gate]]:
    """Two gateways on one ledger."""
    settings = PolicySettings(path=policies, green_tests=False, deadline_ms=10_000)
    first = Gate(directory=tmp_path_factory.mktemp("first"), policy=settings)
    with (
        first,
        Gate(directory=tmp_path_factory.mktemp("second"), data=first.directory / "data", policy=settings) as second,
    ):
        first.issue("chief", kind=ActorKind.HUMAN, roles=("operator",))
        second.keys.update(first.keys)
        yield first, second


def agent(gates: tuple[Gate, Gate], name: str, kind: ActorKind = ActorKind.AGENT) -> str:
    """A new actor, known to both."""
    gates[0].issue(name, kind=kind)
    gates[1].keys[name] = gates[0].keys[name]
    return name


def scale(gate: Gate, size: int, actor: str, *, dry_run: bool = False) -> httpx.Response:
    body = {
        "service": "autoscaling",
        "operation": "SetDesiredCapacity",
        "parameters": {"AutoScalingGroupName": ASG, "DesiredCapacity": size},
        "motive": {"intent": "availability", "motivation": "incident", "evidence": ["A-1"]},
        "dry_run": dry_run,
    }
    return httpx.post(f"{gate.url}/v1/mutations", json=body, headers=gate.bearer(actor), timeout=300)


def shares(gate: Gate, caller: str, **query: str) -> Any:
    reply = httpx.get(f"{gate.url}/v1/budgets", params=query, headers=gate.bearer(caller), timeout=300)
    return reply.json()["budgets"]


def test_two_gateways_spend_one_budget(gates: tuple[Gate, Gate]) -> None:
    spender, other = agent(gates, "spender"), agent(gates, "bystander")
    replies = [scale(gates[number % 2], 5 + number % 2, spender) for number in range(8)]
    assert [reply.status_code for reply in replies[:4]] == [200] * 4
    assert [reply.status_code for reply in replies[4:]] == [429] * 4
    refused = replies[-1]
    assert (refused.json()["code"], refused.json()["retry_safe"]) == ("budget_spent", True)
    assert 1 <= int(refused.headers["retry-after"]) <= 900
    assert "has used its budget of 4 mutations an hour" in refused.json()["detail"]
    gates[0].release_all()
    assert scale(gates[0], 5, other).status_code == 200, "a refused call costs nobody else"
    gates[0].release_all()
    [share] = shares(gates[0], other)
    assert (share["actor"], share["mutations"][1]["left"]) == (other, 3)
    [turned_away] = gates[0].records(stage=Stage.TURNED_AWAY, actor=spender)[:1]
    assert turned_away.body.members["code"] == "budget_spent"


def volume(gate: Gate, size: int, actor: str) -> httpx.Response:
    """A new gp3 volume: 8 US cents a month for each GiB."""
    body = {
        "service": "ec2",
        "operation": "CreateVolume",
        "parameters": {"Size": size, "VolumeType": "gp3", "AvailabilityZone": "us-east-1a"},
        "motive": {"intent": "availability", "motivation": "incident", "evidence": ["A-1"]},
    }
    return httpx.post(f"{gate.url}/v1/mutations", json=body, headers=gate.bearer(actor), timeout=300)


def test_what_is_added_to_the_bill_is_charged_at_both_gateways(gates: tuple[Gate, Gate]) -> None:
    spender = agent(gates, "builder", ActorKind.PIPELINE)
    too_large = volume(gates[0], 1000, spender)
    assert too_large.status_code == 403
    assert "This adds 80 monthly_usd, and the whole budget is 15 a day." in too_large.text
    sent = volume(gates[0], 100, spender)
    assert sent.status_code == 200, sent.text
    refused = volume(gates[1], 100, spender)
    assert (refused.status_code, refused.json()["code"]) == (429, "budget_spent"), refused.text
    assert "15 added monthly_usd a day" in refused.json()["detail"]
    [share] = [each for each in shares(gates[1], "chief") if each["actor"] == spender]
    assert "monthly_usd" in json.dumps(share)


PROTOCOLS: dict[str, tuple[str, dict[str, Any], str, int]] = {
    "sqs": ("create_queue", {"QueueName": "x"}, "ThrottlingException", 429),
    "autoscaling": ("set_desired_capacity", {"AutoScalingGroupName": ASG, "DesiredCapacity": 5}, "Throttling", 429),
    "ec2": ("stop_instances", {"InstanceIds": ["i-0123456789abcdef0"]}, "RequestLimitExceeded", 503),
    "s3": ("delete_bucket", {"Bucket": "some-bucket"}, "SlowDown", 503),
    "lambda": ("delete_function", {"FunctionName": "f"}, "ThrottlingException", 429),
    "route53": ("delete_hosted_zone", {"Id": "Z1"}, "Throttling", 429),
    "cloudwatch": ("delete_alarms", {"AlarmNames": ["a"]}, "ThrottlingException", 429),
}


@pytest.mark.parametrize("service", PROTOCOLS)
def test_each_protocol_says_it_so_that_clients_back_off(gates: tuple[Gate, Gate], service: str) -> None:
    gate, actor = gates[0], agent(gates, f"hasty-{service}")
    operation, parameters, code, status = PROTOCOLS[service]
    for _ in range(8):
        scale(gate, 5, actor)
    client = gate.client(
        service, actor, retries={"total_max_attempts": 2, "mode": "standard" if service == "sqs" else "legacy"}
    )
    with pytest.raises(ClientError) as error:
        getattr(client, operation)(**parameters)
    found: Any = error.value.response
    assert (found["Error"]["Code"], found["ResponseMetadata"]["HTTPStatusCode"]) == (code, status)
    assert found["ResponseMetadata"]["RetryAttempts"] == 1, "the client tried again by itself"
    headers = found["ResponseMetadata"]["HTTPHeaders"]
    assert int(headers["x-amz-retry-after"]) == 1000 * int(headers["retry-after"])
    gate.release_all()


def test_a_dry_run_costs_nothing(gates: tuple[Gate, Gate]) -> None:
    actor = agent(gates, "careful")
    assert {scale(gates[0], 5, actor, dry_run=True).status_code for _ in range(8)} == {200}
    assert shares(gates[0], actor)[0]["mutations"][1]["left"] == 4


def test_what_is_added_in_a_day_is_limited(gates: tuple[Gate, Gate]) -> None:
    gate, actor = gates[0], agent(gates, "grower", ActorKind.SERVICE)
    reply = scale(gate, 12, actor)
    assert reply.status_code == 403
    assert "[fairness.size]" in reply.json()["detail"]


def test_a_breaker_opens_at_both_and_a_person_resets_it(gates: tuple[Gate, Gate]) -> None:
    first, second = gates
    actor = agent(gates, "stuck", ActorKind.SERVICE)
    for _ in range(IN_A_ROW):
        assert scale(first, 99, actor).status_code == 403
    refused = scale(second, 5, actor)
    assert (refused.status_code, refused.json()["code"]) == (429, "breaker_open")
    assert int(refused.headers["retry-after"]) > 3000
    decided = len(first.records(stage=Stage.DECIDED, actor=actor))
    for _ in range(5):
        assert scale(first, 99, actor).status_code == 429
    assert len(first.records(stage=Stage.DECIDED, actor=actor)) == decided, "nothing is evaluated and decided any more"
    [share] = shares(second, "human", actor=actor)
    assert (share["breaker"]["state"], share["breaker"]["refused_in_a_row"]) == ("open", IN_A_ROW)
    path = f"{second.url}/v1/budgets/{actor}/reset"
    body = {"reason": "The limit is understood now"}
    assert httpx.post(path, json=body, headers=second.bearer("human")).status_code == 403
    assert httpx.post(path, json=body, headers=second.bearer("chief")).json() == {"actor": actor, "reset_by": "chief"}
    assert scale(first, 5, actor).status_code in (200, 403)
    assert [each.body.members["state"] for each in first.records(stage=Stage.BREAKER)] == ["open", "closed"]
    first.release_all()


def test_agents_see_their_own_share_and_people_all(gates: tuple[Gate, Gate]) -> None:
    agent(gates, "curious")
    assert [share["actor"] for share in shares(gates[0], "curious")] == ["curious"]
    assert shares(gates[0], "curious", actor="human") == []
    seen = {share["actor"]: share for share in shares(gates[0], "human")}
    assert {"agent", "human", "pipeline", "service", "curious"} <= set(seen)
    assert [(each["per"], each["most"], each["left"]) for each in seen["curious"]["mutations"][:2]] == [
        ("minute", 1000, 1000),
        ("hour", 4, 4),
    ]
    assert seen["human"]["breaker"] == {
        "state": "closed", "refused_in_a_row": 0, "opens_at": None, "within_seconds": None, "until": None, "trial": ""
    }  # fmt: skip
