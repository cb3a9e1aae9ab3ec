"""The policy of a session is exactly the call: its action, its resources where all are known, and what AWS asks for besides."""

import json
from typing import Any

import pytest

from gateway.aws.client.session_policy import LONGEST, session_policy
from gateway.aws.models.generate_session_actions import build
from gateway.aws.models.session_actions import SHIPPED, shipped
from gateway.core.errors import NotSendable
from gateway.core.model.mutation import Call

ASG = "arn:aws:autoscaling:us-east-1:123456789012:autoScalingGroup:7f0c:autoScalingGroupName/web"
ROLE = "arn:aws:iam::123456789012:role/service/app"


def _call(name: str, **parameters: Any) -> Call:
    service, _, operation = name.partition(":")
    return Call(service=service, operation=operation, parameters=parameters, account="", region="us-east-1")


def _statements(call: Call, *arns: str) -> list[tuple[Any, Any]]:
    document = json.loads(session_policy(call, arns, shipped()).document)
    assert all(statement["Effect"] == "Allow" for statement in document["Statement"])
    return [(statement["Action"], statement["Resource"]) for statement in document["Statement"]]


def test_the_action_on_the_resource_and_nothing_else() -> None:
    call = _call("autoscaling:SetDesiredCapacity", AutoScalingGroupName="web", DesiredCapacity=4)
    assert _statements(call, ASG) == [("autoscaling:SetDesiredCapacity", ASG)]
    assert session_policy(call, (ASG,), shipped()).scope == (
        f"The session was for autoscaling:SetDesiredCapacity on {ASG}."
    )


@pytest.mark.parametrize(
    ("name", "arns", "why"),
    [
        ("autoscaling:SetDesiredCapacity", (), "no state records"),
        ("autoscaling:SetDesiredCapacity", (ASG, "arn:aws:sqs:us-east-1:123456789012:web"), "not of the type"),
        ("rds:ModifyDBInstance", ("arn:aws:rds:us-east-1:123456789012:db:web",), "several types"),
    ],
)
def test_where_a_resource_is_not_known_the_action_stands_alone_and_the_record_says_so(
    name: str, arns: tuple[str, ...], why: str
) -> None:
    assert _statements(_call(name), *arns)[0] == (name, "*")
    assert why in session_policy(_call(name), arns, shipped()).scope


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (_call("lambda:CreateFunction", Role=ROLE), ("iam:PassRole", ROLE)),
        (_call("ec2:RunInstances", IamInstanceProfile={"Name": "app"}), (["iam:PassRole"], "*")),
        (_call("sqs:CreateQueue", QueueName="q", tags={"a": "b"}), (["sqs:TagQueue"], "*")),
        (_call("s3:CopyObject", Bucket="b"), (["s3:GetObject", "s3:GetObjectTagging", "s3:GetObjectVersion"], "*")),
    ],
)
def test_what_aws_asks_for_besides_is_in_the_policy(call: Call, expected: tuple[Any, Any]) -> None:
    found = _statements(call)[1:]
    wanted = expected[0] if isinstance(expected[0], list) else [expected[0]]
    assert any(
        (actions if isinstance(actions, list) else [actions], on) == (wanted, expected[1]) for actions, on in found
    )


def test_a_key_of_kms_may_be_used_by_what_the_call_makes() -> None:
    actions, on = _statements(_call("sqs:SetQueueAttributes", Attributes={"KmsMasterKeyId": "k"}))[1]
    assert on == "*"
    assert {action.partition(":")[0] for action in actions} == {"kms"}


def test_other_names_of_actions() -> None:
    for name, action in {
        "lambda:Invoke": "lambda:InvokeFunction",
        "s3:UploadPart": "s3:PutObject",
        "apigateway:CreateRestApi": "apigateway:POST",
        "elbv2:ModifyListener": "elasticloadbalancing:ModifyListener",
        "stepfunctions:StartExecution": "states:StartExecution",
    }.items():
        assert _statements(_call(name))[0][0] == action


def test_an_action_that_is_not_known_has_no_session() -> None:
    with pytest.raises(NotSendable, match="does not know IAM's action"):
        session_policy(_call("s3:RenameObject"), (), shipped())


def test_too_many_resources_leave_the_action_alone() -> None:
    many = tuple(ASG.replace("web", f"web-{number}") for number in range(40))
    policy = session_policy(_call("autoscaling:SetDesiredCapacity"), many, shipped())
    assert json.loads(policy.document)["Statement"][0]["Resource"] == "*"
    assert f"its 40 resources make the policy longer than the {LONGEST} characters" in policy.scope
    roles = [f"{ROLE}-{number}" for number in range(60)]
    with pytest.raises(NotSendable, match="Split the call"):
        session_policy(_call("autoscaling:SetDesiredCapacity", Roles=roles), (ASG,), shipped())


def test_every_policy_of_the_table_is_short_enough() -> None:
    table = shipped()
    longest = max(
        len(session_policy(_call(f"{service}:{operation}", Tags=[], KmsKeyId=""), (), table).document)
        for service, operations in table.operations.items()
        for operation in operations
    )
    assert longest <= LONGEST


@pytest.mark.slow
def test_the_shipped_table_is_what_the_generator_makes() -> None:
    """To mend it: `python -m gateway.aws.models.generate_session_actions`."""
    import gzip  # noqa: PLC0415

    assert json.loads(gzip.decompress(SHIPPED.read_bytes())) == json.loads(json.dumps(build()))
