"""A plan opens a session: what it plans passes, and nothing else."""

import json
from typing import Any

import httpx
import pytest

from gateway.core.records.record import Record, Stage
from tests.kit.applying import ask, opened, planned, refused
from tests.kit.gate import Gate

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]


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


ROLE = "arn:aws:iam::123456789012:role/runs"
LATER = {"Cluster": "main", "Service": "<aws.scheduler.execution-id>", "DesiredCount": 2}
WINDOW = {"Mode": "OFF"}


def schedule(
    role: str | None = None, call: str = "ecs:updateService", **given: Any
) -> tuple[dict[str, Any], dict[str, Any]]:
    """A planned schedule, and the call that makes it."""
    arn, text = f"arn:aws:scheduler:::aws-sdk:{call}", json.dumps(given or LATER)
    target = {"arn": arn, "input": text, **({"role_arn": role} if role else {})}
    values = {
        "name": "night",
        "group_name": "default",
        "schedule_expression": "rate(1 day)",
        "flexible_time_window": [{"mode": "OFF"}],
        "target": [target],
    }
    change = planned("aws_scheduler_schedule.night", "create", values=values)
    sent = {"Name": "night", "GroupName": "default", "ScheduleExpression": "rate(1 day)", "FlexibleTimeWindow": WINDOW}
    return change, {**sent, "Target": {"Arn": arn, "Input": text, "RoleArn": role or ROLE}}


def test_the_role_of_a_planned_schedule_is_judged_although_what_it_calls_is_known_only_then(gate: Gate) -> None:
    change, _ = schedule()
    change["values"]["target"][0]["role_arn"] = ROLE
    _, answer = ask(gate, "pipeline", change)
    assert "SEN-P001" in json.dumps(answer), "nobody has reviewed the role"


def test_a_planned_schedule_that_assumes_a_role_opens_no_session(gate: Gate) -> None:
    change, _ = schedule(call="sts:assumeRole", RoleArn=ROLE)
    _, answer = ask(gate, "pipeline", change)
    assert "never.by_proxy" in json.dumps(answer)
    assert not answer.get("session")


def test_a_call_with_inner_calls_that_are_not_understood_is_explained_by_its_plan(gate: Gate) -> None:
    rule = {"name": "night", "schedule_expression": "rate(1 day)"}
    target = {
        "rule": "night",
        "event_bus_name": "default",
        "target_id": "1",
        "arn": "arn:aws:sagemaker:us-east-1:123456789012:pipeline/p",
    }
    changes = [
        planned("aws_cloudwatch_event_rule.night", "create", values=rule),
        planned("aws_cloudwatch_event_target.night", "create", values=target),
    ]
    events = opened(gate, *changes).client("events")
    aim = {"Id": "1", "Arn": target["arn"]}
    other = {**aim, "Arn": "arn:aws:sagemaker:us-east-1:123456789012:pipeline/q"}
    assert "another value" in refused(events.put_targets, Rule="night", Targets=[other])
    events.put_rule(Name="night", ScheduleExpression="rate(1 day)")
    events.put_targets(Rule="night", Targets=[aim])
    body: Any = last_decision(gate).body
    assert [use.address for use in body.part.uses] == ["aws_cloudwatch_event_target.night"]


def test_an_observed_stack_sends_what_nobody_understands_and_records_it(observing: Gate) -> None:
    applying = opened(observing, planned("aws_sqs_queue.fresh", "create", values={"name": "fresh"}))
    applying.client("sqs").create_queue(QueueName="other")
    assert observing.upstream.asked[-1] == "CreateQueue"
    body: Any = last_decision(observing).body
    assert (body.decision.verdict, body.decision.carried_out, body.part.uses) == ("hold", True, ())
    assert [each.rule for each in body.decision.objections] == ["plan.not_planned"]


def test_a_plan_without_changes_opens_a_session_for_reads_only(gate: Gate) -> None:
    applying = opened(gate)
    applying.client("sqs").list_queues()
    assert "fits no change" in refused(applying.client("sqs").create_queue, QueueName="fresh")
    assert applying.end().json() == {"ended": True}


def test_a_held_call_that_a_person_approves_passes_once(gate: Gate) -> None:
    applying = opened(gate, planned("aws_sqs_queue.fresh", "create", values={"name": "fresh"}))
    create = applying.client("sqs").create_queue
    refused(create, QueueName="beside")
    held = last_decision(gate).mutation_id
    url = f"{gate.url}/v1/mutations/{held}/approve"
    assert httpx.post(url, headers=gate.bearer("human"), json={}, timeout=300).status_code == 200
    create(QueueName="beside")
    refused(create, QueueName="beside")


def test_a_session_wants_nothing_for_a_time(gate: Gate) -> None:
    why = {"intent": "availability", "motivation": "incident", "wanted_for": "1h"}
    status, problem = ask(gate, "pipeline", planned("aws_sqs_queue.fresh", "create", values={}), motive=why)
    assert (status, "for how long" in problem["detail"]) == (400, True)


def test_only_its_own_session_is_ended_with_its_key(gate: Gate) -> None:
    one = opened(gate, planned("aws_sqs_queue.one", "create", values={"name": "one"}))
    other = opened(gate, planned("aws_sqs_queue.other", "create", values={"name": "other"}))
    headers = {**one.bearer(), "Content-Type": "application/json"}
    reply = httpx.request("DELETE", f"{gate.url}/v1/plans/{other.plan}/session", headers=headers, json={}, timeout=300)
    assert reply.status_code == 403
    assert other.end().json() == {"ended": True}


LOGIN = planned(
    "aws_iam_user_login_profile.ops",
    "create",
    values={"user": "ops", "password_reset_required": True},
    computed=["password", "id", "encrypted_password", "key_fingerprint"],
)


def test_a_credential_is_made_by_a_plan_that_a_person_approved_and_not_beside_it(gate: Gate) -> None:
    made = {"UserName": "ops", "Password": "a-long-Passw0rd!", "PasswordResetRequired": True}
    outside = gate.client("iam", "pipeline").create_login_profile
    refused(outside, **made)
    body: Any = last_decision(gate).body
    assert body.decision.verdict == "hold", "a pipeline's own call"

    status, held = ask(gate, "pipeline", LOGIN)
    assert (status, held.get("session")) == (200, None)
    assert "SEN-I014" in json.dumps(held)
    url = f"{gate.url}/v1/mutations/{held['mutation']}/approve"
    assert httpx.post(url, headers=gate.bearer("human"), json={}, timeout=300).status_code == 200
    applying = opened(gate, LOGIN)
    create = applying.client("iam").create_login_profile
    assert "fits no change" in refused(create, **{**made, "UserName": "admin"})
    create(**made)
    assert "fits no change" in refused(create, **made), "once"
    assert "fits no change" in refused(applying.client("iam").update_login_profile, **made)


def test_a_stolen_session_of_a_plan_without_credentials_makes_none(gate: Gate) -> None:
    user = planned("aws_iam_user.ops", "create", values={"name": "ops"})
    applying = opened(gate, user)
    made = {"UserName": "ops", "Password": "a-long-Passw0rd!"}
    assert "fits no change" in refused(applying.client("iam").create_login_profile, **made)
