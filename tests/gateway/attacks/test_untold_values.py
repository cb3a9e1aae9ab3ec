"""What a plan does not tell is judged when it is sent: a client may call any attribute a secret, computed, or known only after the apply."""

import json
from typing import Any

import pytest

from tests.kit.applying import opened, planned, refused
from tests.kit.gate import Gate

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]

ACCOUNT = "123456789012"
GROUP = "sg-0123456789abcdef0"


def document(**statement: Any) -> str:
    """A policy of one statement."""
    return json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", **statement}]})


EVERYBODY = {"Principal": "*"}
TRUST_ALL = document(Action="sts:AssumeRole", **EVERYBODY)
TRUST = document(Action="sts:AssumeRole", Principal={"Service": "ecs-tasks.amazonaws.com"})
RULE = {"security_group_id": GROUP, "ip_protocol": "tcp", "from_port": 22, "to_port": 22}
WORLD = [{"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}]

CALLS: dict[str, tuple[str, dict[str, Any], str, str, dict[str, Any]]] = {
    "trust": (
        "aws_iam_role.fresh",
        {"name": "fresh"},
        "assume_role_policy",
        "iam:create_role",
        {"RoleName": "fresh", "AssumeRolePolicyDocument": TRUST_ALL},
    ),
    "rights": (
        "aws_iam_role_policy.fresh",
        {"name": "fresh", "role": "app"},
        "policy",
        "iam:put_role_policy",
        {"RoleName": "app", "PolicyName": "fresh", "PolicyDocument": document(Action="*", Resource="*")},
    ),
    "bucket": (
        "aws_s3_bucket_policy.fresh",
        {"bucket": "fresh"},
        "policy",
        "s3:put_bucket_policy",
        {"Bucket": "fresh", "Policy": document(Action="s3:*", Resource="*", **EVERYBODY)},
    ),
    "queue": (
        "aws_sqs_queue.fresh",
        {"name": "fresh"},
        "policy",
        "sqs:create_queue",
        {"QueueName": "fresh", "Attributes": {"Policy": document(Action="sqs:*", Resource="*", **EVERYBODY)}},
    ),
    "network": (
        "aws_vpc_security_group_ingress_rule.fresh",
        RULE,
        "cidr_ipv4",
        "ec2:authorize_security_group_ingress",
        {"GroupId": GROUP, "IpPermissions": WORLD},
    ),
    "public": (
        "aws_db_instance.fresh",
        {"identifier": "fresh", "instance_class": "db.t3.micro", "engine": "mysql", "allocated_storage": 20},
        "publicly_accessible",
        "rds:create_db_instance",
        {
            "DBInstanceIdentifier": "fresh", "DBInstanceClass": "db.t3.micro", "Engine": "mysql", "AllocatedStorage": 20,
            "PubliclyAccessible": True,
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("member", ["computed", "unknown"])
@pytest.mark.parametrize("name", CALLS)
def test_a_value_that_the_plan_leaves_open_is_judged_by_the_guardrails(gate: Gate, name: str, member: str) -> None:
    address, values, attribute, operation, parameters = CALLS[name]
    applying = opened(gate, planned(address, "create", values=values, **{member: [attribute]}))
    service, _, method = operation.partition(":")
    assert "SEN-" in refused(getattr(applying.client(service), method), **parameters)
    assert list(gate.upstream.asked) == []


def test_a_part_of_a_document_does_not_open_the_whole(gate: Gate) -> None:
    applying = opened(
        gate,
        planned("aws_iam_role.fresh", "create", values={"name": "fresh"}, computed=["assume_role_policy.Statement"]),
    )
    assert "SEN-" in refused(applying.client("iam").create_role, RoleName="fresh", AssumeRolePolicyDocument=TRUST_ALL)


def test_an_untold_value_that_nothing_objects_to_passes(gate: Gate) -> None:
    applying = opened(
        gate, planned("aws_iam_role.fresh", "create", values={"name": "fresh"}, unknown=["assume_role_policy"])
    )
    applying.client("iam").create_role(RoleName="fresh", AssumeRolePolicyDocument=TRUST)
    assert list(gate.upstream.asked) == ["CreateRole"]


def test_a_role_that_the_plan_makes_may_be_handed_on_and_no_other(gate: Gate) -> None:
    """Its ARN is known after the apply only; the role itself was judged with the plan."""
    arn = f"arn:aws:iam::{ACCOUNT}:role/"
    role = planned("aws_iam_role.fresh", "create", values={"name": "fresh", "assume_role_policy": TRUST})
    queue = planned("aws_sqs_queue.admin", "create", values={"name": "admin"})
    group = planned("aws_autoscaling_group.kafka_consumer", "update", unknown=["service_linked_role_arn"])
    applying = opened(gate, role, queue, group, actor="human")
    applying.client("iam").create_role(RoleName="fresh", AssumeRolePolicyDocument=TRUST)
    update = applying.client("autoscaling").update_auto_scaling_group
    named = {"AutoScalingGroupName": "kafka-consumer-processor-asg"}
    assert "SEN-I010" in refused(update, **named, ServiceLinkedRoleARN=f"{arn}admin")
    update(**named, ServiceLinkedRoleARN=f"{arn}fresh")
    assert list(gate.upstream.asked) == ["CreateRole", "UpdateAutoScalingGroup"]


QUEUE = "https://sqs.us-east-1.amazonaws.com/123456789012/foreign"


@pytest.mark.parametrize(
    ("change", "operation", "parameters"),
    [
        (planned("aws_sqs_queue.ghost", "delete"), "sqs:delete_queue", {"QueueUrl": QUEUE}),
        (
            planned("aws_sqs_queue.ghost", "update", values={"delay_seconds": 5}),
            "sqs:set_queue_attributes",
            {"QueueUrl": QUEUE, "Attributes": {"DelaySeconds": "5"}},
        ),
        (
            planned("aws_sqs_queue.ghost", "update", values={"name": "foreign", "delay_seconds": 5}),
            "sqs:set_queue_attributes",
            {"QueueUrl": QUEUE, "Attributes": {"DelaySeconds": "5"}},
        ),
        (
            planned("aws_autoscaling_group.ghost", "update", values={"desired_capacity": 5}),
            "autoscaling:set_desired_capacity",
            {"AutoScalingGroupName": "foreign", "DesiredCapacity": 5},
        ),
    ],
)
def test_a_change_of_what_no_state_records_is_of_nothing(
    gate: Gate, change: dict[str, Any], operation: str, parameters: dict[str, Any]
) -> None:
    """A plan that claims to change a resource without a name would else change whatever a call names."""
    applying = opened(gate, {**change, "computed": ["name", "url", "id", "arn"]})
    service, _, method = operation.partition(":")
    assert "fits no change" in refused(getattr(applying.client(service), method), **parameters)
    assert list(gate.upstream.asked) == []
