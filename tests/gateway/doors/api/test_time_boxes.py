"""A change for a time through a running gateway: refused if it could not go back, put back once, moved by who may, left to newer holders."""

import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from botocore.exceptions import ClientError

from gateway.core.model.caller import ActorKind
from gateway.core.records.record import Record, Stage
from tests.kit.gate import ASG, Gate

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]

GROUP = "aws_autoscaling_group.kafka_consumer"
QUEUE = "https://sqs.us-east-1.amazonaws.com/123456789012/kafka-shard-0"
FOREVER = ("availability", "incident; evidence=A-1")


def _for(lasts: str) -> tuple[str, str]:
    return "availability", f"incident; evidence=A-1; for={lasts}"


def _capacity(gate: Gate, value: int, motive: tuple[str, str], actor: str = "agent") -> str:
    gate.client("autoscaling", actor, motive).set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=value)
    return gate.records(stage=Stage.DECIDED)[-1].mutation_id


def _post(gate: Gate, actor: str, mutation: str, action: str, **body: str) -> httpx.Response:
    return httpx.post(
        f"{gate.url}/v1/mutations/{mutation}/{action}", headers=gate.bearer(actor), json=body or None, timeout=300
    )


def _put_back(gate: Gate, mutation: str) -> httpx.Response:
    """The reply to a put-back once the end has come."""
    end = time.time() + 300
    while (reply := _post(gate, "reconciler", mutation, "put-back")).status_code == 403 and "The end of" in reply.text:
        assert time.time() < end, reply.text
        time.sleep(0.1)
    return reply


def _boxes(gate: Gate, mutation: str, actor: str = "human") -> list[Mapping[str, Any]]:
    reply = httpx.get(f"{gate.url}/v1/claims", headers=gate.bearer(actor), timeout=300)
    return [box for box in reply.json()["time_boxes"] if box["mutation_id"] == mutation]


def _sent(gate: Gate) -> list[Any]:
    return [
        record.body.members["call"]
        for record in gate.records(stage=Stage.DECIDED)
        if record.body.members.get("puts_back")
    ]


def _last(gate: Gate, stage: Stage) -> Record:
    return gate.records(stage=stage)[-1]


def test_a_change_goes_back_at_its_end_once_and_by_the_whole_line(gate: Gate) -> None:
    mutation = _capacity(gate, 6, _for("1s"))
    reply = _put_back(gate, mutation)
    assert reply.status_code == 200, reply.text
    decided = _last(gate, Stage.DECIDED)
    body: Any = decided.body.members
    assert decided.actor == "reconciler"
    assert body["puts_back"]["mutation"] == mutation
    assert body["motive"]["evidence"] == [mutation]
    assert {each["check"] for each in body["decision"]["findings"]} >= {"bounds", "policy", "arbitration", "time_box"}
    [effect] = body["effects"]
    assert (effect["attribute"], effect["value"], effect["before"]) == ("desired_capacity", 4, 6)
    again = _post(gate, "reconciler", mutation, "put-back")
    assert (again.status_code, "put_back" in again.text) == (403, True)
    assert not _boxes(gate, mutation)
    assert not gate.run(gate.ledger.claims())
    assert gate.run(gate.ledger.verify())


def test_it_is_put_back_once_by_two_at_a_time(gate: Gate) -> None:
    mutation = _capacity(gate, 6, _for("1s"))
    sent = len(_sent(gate))
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda _: _put_back(gate, mutation), range(8)))
    assert min(reply.status_code for reply in replies) == 200
    assert [reply.status_code for reply in replies].count(200) == 1
    assert len(_sent(gate)) == sent + 1


def test_a_stop_holds_for_a_put_back_which_passes_once_it_is_over(gate: Gate) -> None:
    gate.issue("chief", kind=ActorKind.HUMAN, roles=("operator",))
    chief = gate.bearer("chief")
    mutation = _capacity(gate, 6, _for("1s"))
    body = {"scope": "service", "name": "autoscaling", "reason": "It runs amok."}
    stop = httpx.post(f"{gate.url}/v1/stops", json=body, headers=chief, timeout=300).json()["id"]
    try:
        asked = len(gate.upstream.asked)
        reply = _put_back(gate, mutation)
        assert (reply.status_code, reply.json()["code"]) == (403, "stopped")
        assert len(gate.upstream.asked) == asked
        assert {box["state"] for box in _boxes(gate, mutation)} == {"standing"}
    finally:
        httpx.delete(f"{gate.url}/v1/stops/{stop}", headers=chief, timeout=300).raise_for_status()
    assert _put_back(gate, mutation).status_code == 200


def test_who_is_stopped_extends_nothing(gate: Gate) -> None:
    gate.issue("chief", kind=ActorKind.HUMAN, roles=("operator",))
    chief = gate.bearer("chief")
    mutation = _capacity(gate, 6, _for("1h"))
    body = {"scope": "actor", "name": "agent", "reason": "It runs amok."}
    stop = httpx.post(f"{gate.url}/v1/stops", json=body, headers=chief, timeout=300).json()["id"]
    try:
        reply = _post(gate, "agent", mutation, "extend", lasts="2h")
        assert (reply.status_code, reply.json()["code"]) == (403, "stopped")
    finally:
        httpx.delete(f"{gate.url}/v1/stops/{stop}", headers=chief, timeout=300).raise_for_status()
    assert _post(gate, "agent", mutation, "extend", lasts="2h").status_code == 200


def test_it_is_shown_with_its_end(gate: Gate) -> None:
    mutation = _capacity(gate, 6, _for("1h"))
    [box] = _boxes(gate, mutation)
    assert (box["mutation_id"], box["attribute"], box["value"], box["goes_back_to"]) == (
        mutation,
        "desired_capacity",
        6,
        4,
    )
    assert (box["actor"], box["state"]) == ("agent", "standing")
    claims = httpx.get(f"{gate.url}/v1/claims", headers=gate.bearer("human"), timeout=300).json()["claims"]
    assert [claim["goes_back_at"] for claim in claims] == [box["goes_back_at"]]
    assert len(_boxes(gate, mutation, "agent")) == 1
    assert not _boxes(gate, mutation, "rival")


REFUSED: dict[str, tuple[str, str, Mapping[str, Any], str]] = {
    "a new resource": ("sqs", "create_queue", {"QueueName": "new"}, "created"),
    "a deletion": ("sqs", "delete_queue", {"QueueUrl": QUEUE}, "deleted"),
    "an action": ("sqs", "purge_queue", {"QueueUrl": QUEUE}, "an action"),
    "a value that only AWS knows": (
        "autoscaling", "execute_policy", {"AutoScalingGroupName": ASG, "PolicyName": "x"}, "an action",
    ),
    "a call that nobody understands": (
        "autoscaling", "put_notification_configuration",
        {"AutoScalingGroupName": ASG, "TopicARN": "arn:aws:sns:us-east-1:123456789012:t", "NotificationTypes": ["x"]},
        "is not known",
    ),
    "a resource that nothing records": (
        "autoscaling", "set_desired_capacity", {"AutoScalingGroupName": "other", "DesiredCapacity": 3}, "not recorded",
    ),
}  # fmt: skip


@pytest.mark.parametrize("actor", ["agent", "human"])
@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_go_back_is_refused_at_the_door(gate: Gate, case: str, actor: str) -> None:
    service, operation, parameters, why = REFUSED[case]
    asked = len(gate.upstream.asked)
    with pytest.raises(ClientError) as refused:
        getattr(gate.client(service, actor, _for("1h")), operation)(**parameters)
    assert "wanted for a time only" in str(refused.value)
    assert why in str(refused.value)
    assert "time_box.no_way_back" in str(gate.records(stage=Stage.DECIDED)[-1].body.members["decision"])
    assert len(gate.upstream.asked) == asked


def test_traffic_of_the_data_plane_is_no_change_for_a_time(gate: Gate) -> None:
    with pytest.raises(ClientError) as refused:
        gate.client("sqs", "agent", _for("1h")).send_message(QueueUrl=QUEUE, MessageBody="x")
    assert "time only" not in str(refused.value)


def test_a_second_change_over_the_first_goes_back_to_what_was_there_before_the_first(gate: Gate) -> None:
    first = _capacity(gate, 6, _for("1s"))
    second = _capacity(gate, 8, _for("2s"))
    assert [box["goes_back_to"] for box in _boxes(gate, second)] == [4]
    assert _put_back(gate, second).status_code == 200
    assert _last(gate, Stage.DECIDED).body.members["effects"][0]["value"] == 4
    reply = _put_back(gate, first)
    assert (reply.status_code, "Others have" in reply.text) == (403, True)


def test_the_same_change_again_prolongs_it(gate: Gate) -> None:
    first = _capacity(gate, 6, _for("1s"))
    second = _capacity(gate, 6, _for("1h"))
    assert _put_back(gate, first).status_code == 403
    [later] = _boxes(gate, second)
    assert later["goes_back_to"] == 4


def test_the_same_value_for_good_keeps_it(gate: Gate) -> None:
    first = _capacity(gate, 6, _for("1s"))
    _capacity(gate, 6, FOREVER)
    reply = _put_back(gate, first)
    assert (reply.status_code, "Others have" in reply.text) == (403, True)


def test_another_actor_cannot_shorten_it_by_wishing_the_same(gate: Gate) -> None:
    first = _capacity(gate, 6, _for("1h"))
    second = _capacity(gate, 6, _for("1s"), "human")
    reply = _put_back(gate, second)
    assert (reply.status_code, "Others have" in reply.text) == (403, True)
    [kept] = _boxes(gate, first)
    assert kept["state"] == "standing"


def test_a_change_that_was_superseded_does_not_prolong_a_later_one(gate: Gate) -> None:
    first = _capacity(gate, 6, _for("1h"))
    _capacity(gate, 8, FOREVER)
    later = _capacity(gate, 6, _for("1s"))
    assert _put_back(gate, later).status_code == 200
    effects: Any = _last(gate, Stage.DECIDED).body.members["effects"]
    assert effects[0]["value"] == 8
    assert _boxes(gate, first)


def test_a_newer_holder_keeps_it(gate: Gate) -> None:
    first = _capacity(gate, 6, _for("1s"))
    _capacity(gate, 8, ("availability", "incident; evidence=A-2"), "human")
    sent = len(_sent(gate))
    assert _put_back(gate, first).status_code == 403
    assert len(_sent(gate)) == sent


def test_of_several_attributes_only_those_go_back_that_nobody_else_has(gate: Gate) -> None:
    gate.client("autoscaling", "human", _for("1s")).update_auto_scaling_group(
        AutoScalingGroupName=ASG, MinSize=3, MaxSize=14
    )
    mutation = gate.records(stage=Stage.DECIDED)[-1].mutation_id
    gate.client("autoscaling", "human", FOREVER).update_auto_scaling_group(AutoScalingGroupName=ASG, MinSize=2)
    reply = _put_back(gate, mutation)
    assert reply.status_code == 200, reply.text
    effects: Any = _last(gate, Stage.DECIDED).body.members["effects"]
    assert [each["attribute"] for each in effects] == ["max_size"]


def test_only_a_service_puts_back(gate: Gate) -> None:
    mutation = _capacity(gate, 6, _for("1s"))
    for actor in ("agent", "human", "pipeline"):
        assert _post(gate, actor, mutation, "put-back").status_code == 403
    assert _post(gate, "reconciler", "mut_nosuch", "put-back").status_code == 404
    assert _post(gate, "service", "mut_nosuch", "put-back").status_code == 403, "an application is no reconciler"


def test_holder_and_approver_extend_it_and_end_it_early(gate: Gate) -> None:
    mutation = _capacity(gate, 6, _for("10m"))
    [before] = _boxes(gate, mutation)
    for actor in ("agent", "human"):
        assert _post(gate, actor, mutation, "extend", lasts="1h", reason="not over").status_code == 200
        record = _last(gate, Stage.RESCHEDULED)
        assert (record.actor, record.body.members["reason"], record.body.members["holder"]) == (
            actor,
            "not over",
            "agent",
        )
    [after] = _boxes(gate, mutation)
    assert after["goes_back_at"] > before["goes_back_at"]
    [claim] = gate.run(gate.ledger.claims())
    assert claim.until is not None
    assert _post(gate, "rival", mutation, "extend", lasts="1h").status_code == 404
    assert _post(gate, "rival", mutation, "end").status_code == 404
    assert _post(gate, "agent", mutation, "end", reason="done").status_code == 200
    assert not gate.run(gate.ledger.claims())
    assert _put_back(gate, mutation).status_code == 200
    assert _post(gate, "agent", mutation, "extend", lasts="1h").status_code == 403
    assert _post(gate, "agent", mutation, "end").status_code == 403


def test_an_extension_has_a_cap(gate: Gate) -> None:
    mutation = _capacity(gate, 6, _for("1h"))
    reply = _post(gate, "agent", mutation, "extend", lasts="8d")
    assert (reply.status_code, "7 days" in reply.text) == (403, True)
    assert _post(gate, "human", mutation, "extend", lasts="8d").status_code == 200


def test_what_aws_refuses_can_be_put_back_again(gate: Gate) -> None:
    mutation = _capacity(gate, 6, _for("1s"))
    gate.upstream.behaviour = "refuse"
    reply = _put_back(gate, mutation)
    assert reply.status_code == 422, reply.text
    gate.upstream.behaviour = "ok"
    assert _put_back(gate, mutation).status_code == 200


def test_a_change_that_aws_refused_has_nothing_to_go_back(gate: Gate) -> None:
    gate.upstream.behaviour = "refuse"
    with pytest.raises(ClientError):
        _capacity(gate, 6, _for("1s"))
    assert not _boxes(gate, gate.records(stage=Stage.DECIDED)[-1].mutation_id)
