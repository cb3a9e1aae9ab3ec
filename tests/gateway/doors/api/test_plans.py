"""`POST /v1/plans`: one decision for all changes of a plan, by the checks of the line, with nothing sent and no secret kept."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from gateway.core.records.record import Stage
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
ASG = "aws_autoscaling_group.kafka_consumer"
GROUP = "kafka-consumer-processor-asg"


def change(address: str = ASG, action: str = "update", **members: Any) -> dict[str, Any]:
    """One planned change."""
    return {"address": address, "type": address.split(".")[-2], "action": action, **members}


def ask(gate: Gate, actor: str, *changes: dict[str, Any], **members: Any) -> tuple[int, Any]:
    """Check a plan of these changes."""
    headers = {**gate.bearer(actor), "Content-Type": "application/json"}
    reply = httpx.post(f"{gate.url}/v1/plans", headers=headers, json={"changes": changes, **members}, timeout=300)
    return reply.status_code, reply.json()


def rules(report: dict[str, Any]) -> list[str]:
    """The rules that object."""
    return [each["rule"] for each in report["decision"]["findings"]]


@pytest.fixture
def hotfix(gate: Gate) -> Iterator[None]:
    """An agent's capacity for an incident, which holds the attribute."""
    gate.client("autoscaling", "agent").set_desired_capacity(AutoScalingGroupName=GROUP, DesiredCapacity=6)
    yield
    gate.release_all()


def test_an_apply_that_would_undo_a_hotfix_is_foreseen(gate: Gate, hotfix: None) -> None:
    sent = len(gate.upstream.asked)
    status, report = ask(gate, "pipeline", change(values={"desired_capacity": 4}))
    assert (status, report["passes"], rules(report)) == (200, False, ["SEN-A001"])
    [claim] = report["claims"]
    assert (claim["holder"], claim["attribute"], claim["value"], claim["planned"]) == (
        "agent",
        "desired_capacity",
        6,
        4,
    )
    assert (claim["fate"], claim["motive"]["motivation"]) == ("kept", "incident")
    assert report["places"][ASG].startswith("main.tf:")
    assert len(gate.upstream.asked) == sent


def test_a_plan_that_outranks_a_claim_passes_and_says_which_it_ends(gate: Gate) -> None:
    motive = ("cost", "routine")
    gate.client("autoscaling", "agent", motive).set_desired_capacity(AutoScalingGroupName=GROUP, DesiredCapacity=5)
    try:
        why = {"intent": "availability", "motivation": "incident", "evidence": ["A-7"]}
        _, report = ask(gate, "pipeline", change(values={"desired_capacity": 4}), motive=why)
        assert (report["passes"], rules(report)) == (True, [])
        assert [(each["fate"], each["holder"]) for each in report["claims"]] == [("undone", "agent")]
        assert len(gate.run(gate.ledger.claims())) == 1
    finally:
        gate.release_all()


def test_a_close_call_is_for_a_human(gate: Gate) -> None:
    gate.client("autoscaling", "agent", ("cost", "experiment")).set_desired_capacity(
        AutoScalingGroupName=GROUP, DesiredCapacity=5
    )
    try:
        why = {"intent": "cost", "motivation": "routine"}
        _, report = ask(gate, "pipeline", change(values={"desired_capacity": 4}), motive=why)
        assert (report["passes"], rules(report), report["decision"]["verdict"]) == (False, ["SEN-A002"], "hold")
        assert [each["fate"] for each in report["claims"]] == ["held"]
    finally:
        gate.release_all()


def test_one_decision_names_every_bound_and_guardrail(gate: Gate) -> None:
    world = {"from_port": 8443, "to_port": 8443, "protocol": "tcp", "cidr_blocks": ["0.0.0.0/0"]}
    status, report = ask(
        gate,
        "pipeline",
        change(values={"max_size": 40}),
        change("aws_security_group.kafka_consumer", values={"ingress": [world]}),
        change("aws_dynamodb_table.offsets", "delete"),
        change("aws_sqs_queue.fresh", "create", values={"visibility_timeout_seconds": -1}),
    )
    found = set(rules(report))
    assert status == 200
    assert {"bounds.max", "bounds.forbid_world", "bounds.prevent_delete", "SEN-D001", "dependencies.in_use"} <= found
    # What the plan creates has no block in the protected code yet, but the stack's contract holds for it.
    assert "aws_sqs_queue.fresh" in {
        each["address"] for each in report["decision"]["findings"] if each["rule"] == "bounds.min"
    }
    [record] = gate.records(stage=Stage.PLAN_CHECKED, mutation_id=report["plan"]["id"])
    assert (record.actor, '"verdict": "deny"' in json.dumps(record.body.members)) == ("pipeline", True)


def test_what_is_deleted_together_is_judged_together(gate: Gate) -> None:
    _, alone = ask(gate, "human", change("aws_autoscaling_group.kafka_consumer", "delete"))
    assert "dependencies.in_use" in rules(alone)
    _, together = ask(
        gate,
        "human",
        change("aws_autoscaling_group.kafka_consumer", "delete"),
        change("aws_autoscaling_policy.scale_up_lag", "delete"),
        change("aws_cloudwatch_metric_alarm.lag", "delete"),
    )
    assert "dependencies.in_use" not in rules(together)


def test_no_value_of_a_plan_enters_the_record(gate: Gate) -> None:
    status, report = ask(
        gate,
        "human",
        change("aws_db_instance.reports", values={"allocated_storage": 731_731, "password": "hunter2-plain"}),
        change("aws_lambda_function.rebalancer", secrets=["environment.variables"], unknown=["role"]),
    )
    assert status == 200
    [record] = gate.records(stage=Stage.PLAN_CHECKED, mutation_id=report["plan"]["id"])
    text = json.dumps(record.body.members)
    assert "hunter2" not in text + json.dumps(report)
    assert "731731" not in text
    assert '"effects": 4' in text


def test_an_unknown_value_of_a_bounded_attribute_is_held(gate: Gate) -> None:
    _, report = ask(gate, "pipeline", change(unknown=["desired_capacity"]))
    assert (report["passes"], rules(report)) == (False, ["bounds.unforeseeable"])
    _, report = ask(gate, "pipeline", change(unknown=["vpc_zone_identifier"]))
    assert (report["passes"], [each["attribute"] for each in report["unjudged"]]) == (True, ["vpc_zone_identifier"])


def test_an_agent_is_judged_as_an_agent_and_told_no_motive(gate: Gate, hotfix: None) -> None:
    why = {"intent": "cost", "motivation": "routine"}
    _, report = ask(gate, "rival", change(values={"desired_capacity": 4}), motive=why)
    [claim] = report["claims"]
    assert (claim["holder"], claim["motive"], claim["value"], claim["fate"]) == ("agent", None, None, "kept")
    _, report = ask(gate, "rival", change("aws_dynamodb_table.offsets", values={"read_capacity": 3}), motive=why)
    assert "bounds.immutable_skeleton" in rules(report)


def test_a_plan_without_changes_passes(gate: Gate) -> None:
    status, report = ask(gate, "pipeline")
    assert (status, report["passes"], report["decision"]["verdict"]) == (200, True, "allow")


def test_an_observed_stack_passes_and_says_what_would_be(observing: Gate) -> None:
    _, report = ask(observing, "pipeline", change(values={"max_size": 40}))
    assert (report["passes"], report["decision"]["verdict"]) == (True, "deny")


@pytest.mark.parametrize(
    ("members", "status", "sentence"),
    [
        (
            {"changes": [change(values={f"tags.k{n}": "v" for n in range(1000)})]},
            400,
            "1000 with 262144 characters are the most",
        ),
        ({"changes": [], "stack": "other"}, 404, "There is no stack 'other'. The settings have: kafka."),
        ({"changes": [change("aws_sqs_queue.a", values={}) | {"type": "aws_sns_topic"}]}, 400, "is not the address of"),
        ({"changes": [change(action="explode")]}, 400, "action"),
        ({"changes": [change(surplus=1)]}, 400, "surplus"),
    ],
)
def test_a_plan_that_cannot_be_judged_is_refused_in_words(
    gate: Gate, members: dict[str, Any], status: int, sentence: str
) -> None:
    headers = {**gate.bearer("pipeline"), "Content-Type": "application/json"}
    reply = httpx.post(f"{gate.url}/v1/plans", headers=headers, json=members, timeout=300)
    assert (reply.status_code, sentence in reply.json()["detail"]) == (status, True), reply.text


def test_a_stranger_is_refused_before_the_body_is_read(gate: Gate) -> None:
    reply = httpx.post(f"{gate.url}/v1/plans", content=b"{", timeout=300)
    assert reply.status_code == 401
