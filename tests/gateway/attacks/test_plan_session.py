"""What a stolen session of a harmless plan can do: what the plan says, in the place that it says, as often as it says, and nothing else."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import httpx
import pytest
from botocore.exceptions import ClientError

from gateway.core.model.caller import ActorKind
from gateway.core.records.record import Stage
from tests.kit.applying import Applying, ask, opened, planned, refused
from tests.kit.gate import ASG, Gate

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]
QUEUE = planned("aws_sqs_queue.fresh", "create", values={"name": "fresh", "tags.team": "shop"}, region="us-east-1")
GROUP = "aws_autoscaling_group.kafka_consumer"
TRUST = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "ecs-tasks.amazonaws.com"}}],
}
ROLE = planned(
    "aws_iam_role.fresh", "create", values={"name": "fresh", "path": "/", "assume_role_policy": json.dumps(TRUST)}
)


def sent(gate: Gate) -> list[str]:
    """What AWS was asked."""
    return list(gate.upstream.asked)


def test_the_plan_in_another_region_is_another_plan(gate: Gate) -> None:
    applying = opened(gate, QUEUE)
    refused(applying.client("sqs", "eu-west-1").create_queue, QueueName="fresh")
    assert sent(gate) == []


def test_a_creation_is_sent_once_however_many_ask_at_once(gate: Gate) -> None:
    applying = opened(gate, QUEUE)

    def create(number: int) -> bool:
        client = applying.client("sqs")
        client.meta.events.register(
            "before-call", lambda params, **_: params["headers"].update({"x-test-call": str(number)})
        )
        try:
            client.create_queue(QueueName="fresh")
        except ClientError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(create, range(8)))
    assert sum(done) == 1
    assert sent(gate) == ["CreateQueue"]


def test_a_request_is_not_sent_again(gate: Gate) -> None:
    applying = opened(gate, planned(GROUP, "update", values={"desired_capacity": 5}))
    client = applying.client("autoscaling")
    headers: dict[str, Any] = {}
    client.meta.events.register("before-send", lambda request, **_: headers.update(request.headers.items()))
    client.set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=5)
    body = gate.upstream.bodies[-1]
    again = {name: value if isinstance(value, str) else value.decode() for name, value in headers.items()}
    httpx.post(gate.url, headers=again, content=body, timeout=300)
    assert len(sent(gate)) == 1


def test_a_trust_policy_is_not_swapped(gate: Gate) -> None:
    applying = opened(gate, ROLE)
    wider = json.dumps(TRUST).replace("ecs-tasks.amazonaws.com", "lambda.amazonaws.com")
    message = refused(applying.client("iam").create_role, RoleName="fresh", Path="/", AssumeRolePolicyDocument=wider)
    assert "assume_role_policy" in message
    applying.client("iam").create_role(RoleName="fresh", Path="/", AssumeRolePolicyDocument=json.dumps(TRUST, indent=2))
    assert sent(gate) == ["CreateRole"]


@pytest.mark.parametrize(
    ("service", "method", "parameters"),
    [
        ("iam", "put_role_policy", {"RoleName": "fresh", "PolicyName": "p", "PolicyDocument": "{}"}),
        ("iam", "attach_role_policy", {"RoleName": "fresh", "PolicyArn": "arn:aws:iam::aws:policy/ReadOnlyAccess"}),
        ("iam", "create_access_key", {"UserName": "fresh"}),
        ("organizations", "leave_organization", {}),
    ],
)
def test_a_planned_role_gets_no_rights_that_are_not_planned(
    gate: Gate, service: str, method: str, parameters: dict[str, Any]
) -> None:
    applying = opened(gate, ROLE)
    refused(getattr(applying.client(service), method), **parameters)
    assert sent(gate) == []


def test_a_machine_is_not_a_hundred(gate: Gate) -> None:
    machine = planned("aws_instance.fresh", "create", values={"ami": "ami-1", "instance_type": "t3.micro"})
    applying = opened(gate, machine)
    run = applying.client("ec2").run_instances
    given = {"ImageId": "ami-1", "InstanceType": "t3.micro"}
    assert "creates several" in refused(run, **given, MinCount=1, MaxCount=100)
    assert "instance_type" in refused(run, **given | {"InstanceType": "p5.48xlarge"}, MinCount=1, MaxCount=1)
    assert sent(gate) == []
    run(**given, MinCount=1, MaxCount=1)


def test_tags_are_those_of_the_plan(gate: Gate) -> None:
    applying = opened(gate, QUEUE)
    url = f"{gate.url}/123456789012/fresh"
    refused(applying.client("sqs").tag_queue, QueueUrl=url, Tags={"owner": "intruder"})
    refused(applying.client("sqs").tag_queue, QueueUrl=f"{gate.url}/123456789012/other", Tags={"team": "shop"})
    refused(applying.client("sqs").tag_queue, QueueUrl=url, Tags={"team": "shop"})  # it is not there yet
    applying.client("sqs").create_queue(QueueName="fresh")
    applying.client("sqs").tag_queue(QueueUrl=url, Tags={"team": "shop"})
    assert sent(gate) == ["CreateQueue", "TagQueue"]


def test_another_resource_of_the_planned_type_is_not_touched(gate: Gate) -> None:
    applying = opened(gate, planned(GROUP, "update", values={"desired_capacity": 5}))
    client = applying.client("autoscaling")
    refused(client.set_desired_capacity, AutoScalingGroupName="somebody-elses", DesiredCapacity=5)
    refused(client.set_desired_capacity, AutoScalingGroupName=ASG, DesiredCapacity=4)
    refused(client.delete_auto_scaling_group, AutoScalingGroupName=ASG, ForceDelete=True)
    refused(client.update_auto_scaling_group, AutoScalingGroupName=ASG, MaxSize=100, DesiredCapacity=5)
    assert sent(gate) == []


@pytest.mark.parametrize(
    ("service", "method", "parameters"),
    [
        ("s3", "delete_object", {"Bucket": "uploads", "Key": "a"}),
        ("s3", "put_object", {"Bucket": "uploads", "Key": "a", "Body": b"x"}),
        ("sqs", "purge_queue", {"QueueUrl": "https://sqs.us-east-1.amazonaws.com/123456789012/kafka-shard-0"}),
        ("dynamodb", "put_item", {"TableName": "offsets", "Item": {"LockID": {"S": "elsewhere/state"}}}),
        ("lambda", "invoke", {"FunctionName": "rebalancer"}),
        ("ssm", "send_command", {"DocumentName": "AWS-RunShellScript", "InstanceIds": ["i-1"]}),
    ],
)
def test_data_and_code_are_out_of_reach(gate: Gate, service: str, method: str, parameters: dict[str, Any]) -> None:
    applying = opened(gate, QUEUE)
    refused(getattr(applying.client(service), method), **parameters)
    assert sent(gate) == []


def test_other_doors_judge_by_the_plan_too(gate: Gate) -> None:
    applying = opened(gate, QUEUE)
    proposal = {
        "service": "autoscaling",
        "operation": "SetDesiredCapacity",
        "parameters": {"AutoScalingGroupName": ASG, "DesiredCapacity": 5},
    }
    headers = {**applying.bearer(), "Content-Type": "application/json"}
    reply = httpx.post(f"{gate.url}/v1/mutations", headers=headers, json=proposal, timeout=300)
    assert (reply.status_code, "fits no change of plan" in reply.text) == (202, True)
    assert sent(gate) == []


def test_a_persons_session_approves_nothing(gate: Gate) -> None:
    held = opened(gate, QUEUE)
    refused(held.client("sqs").create_queue, QueueName="other")
    mutation = gate.records(stage=Stage.DECIDED)[-1].mutation_id
    person = gate.issue("operator", kind=ActorKind.HUMAN, roles=("approver", "operator", "break-glass"))
    status, report = ask(gate, person, planned("aws_sqs_queue.more", "create", values={"name": "more"}))
    assert status == 200
    applying = Applying(gate, report)
    for act, body in (("approve", {}), ("break-glass", {"reason": "Now."})):
        url = f"{gate.url}/v1/mutations/{mutation}/{act}"
        reply = httpx.post(url, headers=applying.bearer(), json=body, timeout=300)
        assert reply.status_code == 403, reply.text


def test_what_somebody_claimed_since_is_theirs(gate: Gate) -> None:
    why = {"intent": "cost", "motivation": "routine"}
    applying = opened(gate, planned(GROUP, "update", values={"desired_capacity": 4, "max_size": 12}), motive=why)
    gate.client("autoscaling", "agent").set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=6)
    message = refused(
        applying.client("autoscaling").update_auto_scaling_group, AutoScalingGroupName=ASG, DesiredCapacity=4
    )
    assert "plan.claimed_since" in message
    applying.client("autoscaling").update_auto_scaling_group(AutoScalingGroupName=ASG, MaxSize=12)
    assert sent(gate) == ["SetDesiredCapacity", "UpdateAutoScalingGroup"]


def test_a_stop_stops_a_session_too(gate: Gate) -> None:
    applying = opened(gate, QUEUE)
    gate.issue("stopper", kind=ActorKind.HUMAN, roles=("operator",))
    headers = {**gate.bearer("stopper"), "Content-Type": "application/json"}
    stop = httpx.post(
        f"{gate.url}/v1/stops",
        headers=headers,
        json={"scope": "actor", "name": "pipeline", "reason": "Stolen."},
        timeout=300,
    )
    assert stop.status_code < 300, stop.text
    try:
        assert "Stolen" in refused(applying.client("sqs").create_queue, QueueName="fresh")
    finally:
        url = f"{gate.url}/v1/stops/{stop.json()['id']}"
        httpx.request("DELETE", url, headers=headers, json={"reason": "Found."}, timeout=300)
    assert sent(gate) == []


def test_an_approval_is_for_one_session(gate: Gate) -> None:
    table = planned("aws_ecr_repository.old", "delete")
    status, report = ask(gate, "pipeline", table)
    assert (status, report["session"], report["decision"]["verdict"]) == (200, None, "hold"), report
    for person in ("human", gate.issue("second", kind=ActorKind.HUMAN, roles=("approver",))):
        url = f"{gate.url}/v1/mutations/{report['mutation']}/approve"
        assert httpx.post(url, headers=gate.bearer(person), json={}, timeout=300).status_code == 200
    assert ask(gate, "pipeline", table)[1]["session"] is not None
    assert ask(gate, "pipeline", table)[1]["session"] is None


@pytest.mark.parametrize("member", ["secrets", "unknown"])
def test_an_approval_is_for_these_secrets_and_this_code(gate: Gate, member: str) -> None:
    database = planned("aws_db_instance.fresh", "create", values={"identifier": "fresh", "publicly_accessible": True})
    one, other = ({**database, member: ["password"], "marks": {"password": digit * 64}} for digit in "ab")
    _, report = ask(gate, "pipeline", one)
    assert report["decision"]["verdict"] == "hold", report
    for person in ("human", gate.issue("second", kind=ActorKind.HUMAN, roles=("approver",))):
        url = f"{gate.url}/v1/mutations/{report['mutation']}/approve"
        assert httpx.post(url, headers=gate.bearer(person), json={}, timeout=300).status_code == 200
    assert ask(gate, "pipeline", other)[1]["session"] is None
    assert ask(gate, "pipeline", one)[1]["session"] is not None


def test_a_mark_is_of_a_secret_or_of_what_is_unknown(gate: Gate) -> None:
    status, report = ask(gate, "pipeline", {**QUEUE, "marks": {"name": "a" * 64}})
    assert (status, "neither a secret nor unknown" in json.dumps(report)) == (400, True)


def test_the_destruction_of_a_resource_sets_nothing_in_it(gate: Gate) -> None:
    applying = opened(gate, planned("aws_cognito_identity_pool.old", "delete"))
    identity = applying.client("cognito-identity")
    given = {"IdentityPoolId": "us-east-1:1", "IdentityPoolName": "old", "AllowUnauthenticatedIdentities": True}
    refused(identity.update_identity_pool, **given)
    applying = opened(gate, planned("aws_kinesis_stream_consumer.old", "delete"))
    monitor = applying.client("kinesis").enable_enhanced_monitoring
    refused(monitor, StreamName="events", ShardLevelMetrics=["IncomingBytes"])
    assert sent(gate) == []


def test_what_makes_aws_call_others_is_the_planned_one(gate: Gate) -> None:
    values = {"api_id": "a1", "integration_type": "MOCK", "connection_type": "INTERNET"}
    applying = opened(gate, planned("aws_apigatewayv2_integration.fresh", "create", values=values))
    create = applying.client("apigatewayv2").create_integration
    given = {"ApiId": "a1", "IntegrationType": "MOCK"}
    role = "arn:aws:iam::123456789012:role/admin"
    refused(
        create, **given | {"IntegrationType": "AWS_PROXY"}, IntegrationSubtype="SQS-SendMessage", CredentialsArn=role
    )
    refused(create, **given, CredentialsArn=role)
    refused(create, **given, IntegrationUri="INTERNET")
    refused(create, **given, Description="a1")
    assert sent(gate) == []
    with suppress(ClientError):  # the scripted AWS has no reply to it
        create(**given, ConnectionType="INTERNET")
    assert sent(gate) == ["POST /v2/apis/a1/integrations"]


def test_a_planned_update_takes_nobody_else_out_of_a_group(gate: Gate) -> None:
    members = planned("aws_iam_group_membership.fresh", "update", values={"users": ["a"]})
    applying = opened(gate, members)
    refused(applying.client("iam").remove_user_from_group, GroupName="fresh", UserName="a")
    refused(applying.client("iam").remove_user_from_group, GroupName="admins", UserName="b")
    assert sent(gate) == []
