"""Stops on whole gateways: what one of them is told holds for the next call at the other, through both doors, and reads stay open."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest
from botocore.exceptions import ClientError

from gateway.core.model.caller import ActorKind
from gateway.core.records.record import Stage
from tests.gateway.doors.api.test_waiting import act, cancel_replay, mutation_of
from tests.kit.gate import ASG, Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
REASON = "The scaler runs amok, INC-9"


@pytest.fixture(scope="module")
def gates(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Gate, Gate]]:
    """Two gateways on one ledger, and somebody who may stop."""
    first = Gate(directory=tmp_path_factory.mktemp("first"))
    with first, Gate(directory=tmp_path_factory.mktemp("second"), data=first.directory / "data") as second:
        first.issue("chief", kind=ActorKind.HUMAN, roles=("operator",))
        first.issue("app", kind=ActorKind.SERVICE)
        second.keys.update(first.keys)
        yield first, second


@pytest.fixture
def pair(gates: tuple[Gate, Gate]) -> Iterator[tuple[Gate, Gate]]:
    """The two gateways, with nothing stopped and nothing claimed before and after."""
    yield gates
    for each in listed(gates[0]):
        assert resume(gates[0], each["id"]).is_success
    gates[0].release_all()


def stop(gate: Gate, scope: str = "all", name: str = "", actor: str = "chief", reason: str = REASON) -> httpx.Response:
    body = {"scope": scope, "name": name, "reason": reason}
    return httpx.post(f"{gate.url}/v1/stops", json=body, headers=gate.bearer(actor), timeout=300)


def resume(gate: Gate, stop_id: str, actor: str = "chief") -> httpx.Response:
    return httpx.delete(f"{gate.url}/v1/stops/{stop_id}", headers=gate.bearer(actor), timeout=300)


def listed(gate: Gate, actor: str = "chief", **query: str) -> Any:
    reply = httpx.get(f"{gate.url}/v1/stops", params=query, headers=gate.bearer(actor), timeout=300)
    return reply.json()["stops"]


def scale(gate: Gate, size: int, actor: str = "agent", *, dry_run: bool = False) -> httpx.Response:
    body = {
        "service": "autoscaling",
        "operation": "SetDesiredCapacity",
        "parameters": {"AutoScalingGroupName": ASG, "DesiredCapacity": size},
        "motive": {"intent": "availability", "motivation": "incident", "evidence": ["A-1"]},
        "dry_run": dry_run,
    }
    return httpx.post(f"{gate.url}/v1/mutations", json=body, headers=gate.bearer(actor), timeout=300)


@pytest.mark.parametrize(
    ("scope", "name"), [("all", ""), ("actor", "agent"), ("stack", "kafka"), ("service", "autoscaling")]
)
def test_it_holds_for_the_next_call_at_the_other_gateway(pair: tuple[Gate, Gate], scope: str, name: str) -> None:
    told, other = pair
    assert scale(other, 5).status_code == 200
    made = stop(told, scope, name).json()
    sent = len(other.upstream.asked)
    refused = scale(other, 6)
    assert (refused.status_code, refused.json()["code"]) == (403, "stopped")
    assert "[never.stopped] chief stopped every change" in refused.json()["detail"]
    assert f"{REASON}. Ask chief; reads stay open." in refused.json()["detail"]
    with pytest.raises(ClientError, match=r"never\.stopped") as error:
        other.client("autoscaling").set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=6)
    assert error.value.response["Error"]["Code"] == "AccessDenied"
    dry = scale(other, 6, dry_run=True).json()
    assert "never.stopped" in [finding["rule"] for finding in dry["decision"]["findings"]]
    assert len(other.upstream.asked) == sent
    assert other.client("autoscaling").describe_auto_scaling_groups() is not None, "reads stay open"
    assert resume(other, made["id"]).json()["ended_by"] == "chief"
    assert scale(told, 6).status_code == 200
    assert scale(other, 7).status_code == 200


@pytest.mark.parametrize(("scope", "name"), [("actor", "rival"), ("service", "sqs")])
def test_it_is_about_nothing_else(pair: tuple[Gate, Gate], scope: str, name: str) -> None:
    assert stop(pair[0], scope, name).is_success
    assert scale(pair[1], 5).status_code == 200


def test_a_held_call_waits_until_it_is_resumed(pair: tuple[Gate, Gate]) -> None:
    told, other = pair
    name = f"n-{uuid4()}"
    held = mutation_of(cancel_replay(other, name))
    made = stop(told, "actor", "agent").json()
    refused = act(other, "human", held, "approve")
    assert (refused.status_code, refused.json()["code"]) == (403, "stopped")
    assert REASON in refused.json()["detail"]
    resume(told, made["id"])
    assert act(other, "human", held, "approve").is_success
    again = stop(told, "service", "events").json()
    assert "never.stopped" in cancel_replay(other, name)["Error"]["Message"]
    resume(told, again["id"])
    assert cancel_replay(other, name)["ResponseMetadata"]["HTTPStatusCode"] == 200, "the approval was not spent"


def test_people_without_the_role_and_agents_may_not(pair: tuple[Gate, Gate]) -> None:
    gate = pair[0]
    made = stop(gate, "service", "sqs").json()
    for actor in ("human", "agent", "pipeline", "service"):
        assert stop(gate, actor=actor).status_code == 403
        assert resume(gate, made["id"], actor=actor).status_code == 403
    assert [each["id"] for each in listed(gate)] == [made["id"]]


@pytest.mark.parametrize(
    ("scope", "name", "hint"),
    [("actor", "agnet", "key list"), ("stack", "kafak", "has kafka"), ("service", "autoscalling", "e.g. autoscaling")],
)
def test_a_name_that_nothing_has_stops_nothing_and_says_so(
    pair: tuple[Gate, Gate], scope: str, name: str, hint: str
) -> None:
    reply = stop(pair[0], scope, name)
    assert reply.status_code == 404
    assert "so nothing was stopped" in reply.json()["detail"]
    assert hint in reply.json()["detail"]
    assert listed(pair[0]) == []


@pytest.mark.parametrize(
    ("scope", "name", "reason"),
    [("all", "kafka", REASON), ("actor", "", REASON), ("everything", "", REASON), ("all", "", ""), ("all", "", "a\nb")],
)
def test_a_body_that_is_no_stop_is_refused(pair: tuple[Gate, Gate], scope: str, name: str, reason: str) -> None:
    assert stop(pair[0], scope, name, reason=reason).status_code == 400


def test_agents_see_the_stops_that_are_about_them(pair: tuple[Gate, Gate]) -> None:
    gate = pair[0]
    for scope, name in (("actor", "rival"), ("actor", "agent"), ("stack", "kafka"), ("all", "")):
        assert stop(gate, scope, name).is_success
    assert [(each["scope"], each["name"]) for each in listed(gate, "agent")] == [
        ("actor", "agent"),
        ("stack", "kafka"),
        ("all", ""),
    ]
    assert len(listed(gate, "human")) == 4


def test_what_was_ended_is_listed_with_who_ended_it(pair: tuple[Gate, Gate]) -> None:
    made = stop(pair[0], "service", "sns").json()
    resume(pair[0], made["id"])
    assert listed(pair[0]) == []
    [found] = [each for each in listed(pair[0], every="true") if each["id"] == made["id"]]
    assert found["ended_by"] == "chief"
    assert resume(pair[0], made["id"]).status_code == 404


def test_the_data_plane_of_an_actor_stops_and_that_of_others_does_not(pair: tuple[Gate, Gate]) -> None:
    """At the gateway that was told at once; at another one within seconds, and never on knowledge that is older."""
    gate = pair[0]
    put = {"TableName": "kafka-offsets", "Item": {"id": {"S": "1"}}}
    gate.client("dynamodb", "app", None).put_item(**put)
    made = stop(gate, "actor", "app").json()
    with pytest.raises(ClientError, match=REASON) as error:
        gate.client("dynamodb", "app", None).put_item(**put)
    assert error.value.response["Error"]["Code"] == "AccessDeniedException"
    [turned_away] = [each for each in gate.records(stage=Stage.TURNED_AWAY) if each.body.members["code"] == "stopped"]
    assert turned_away.actor == "app"
    resume(gate, made["id"])
    assert stop(gate, "all").is_success
    gate.client("dynamodb", "app", None).put_item(**put)
