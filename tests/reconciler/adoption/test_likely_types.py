"""A type may be what a call creates only if each word of the call is one of its own; tables say the rest."""

from typing import Any

import pytest

from reconciler.adoption.likely_types import likely_types, stem
from reconciler.changes.event_values import event_values
from tests.reconciler.adoption.conftest import ProviderDouble, event, schema

_TYPES = [
    "aws_alb", "aws_athena_workgroup", "aws_autoscaling_group", "aws_autoscaling_schedule", "aws_cloudwatch_event_rule", "aws_cloudwatch_event_target",
    "aws_db_instance", "aws_db_subnet_group", "aws_default_vpc", "aws_ebs_volume", "aws_iam_role", "aws_iam_role_policy", "aws_lb", "aws_s3_bucket",
    "aws_s3_bucket_cors_configuration", "aws_s3_bucket_public_access_block", "aws_sfn_state_machine", "aws_sns_topic", "aws_sns_topic_subscription",
    "aws_vpc", "aws_vpc_endpoint",
]  # fmt: skip
_PROVIDER: Any = ProviderDouble(dict.fromkeys(_TYPES, schema(name="required")))


@pytest.mark.parametrize(
    ("call", "types"),
    [
        ("ec2:CreateVpc", ("aws_vpc",)),
        ("ec2:CreateVolume", ("aws_ebs_volume",)),
        ("events:PutRule", ("aws_cloudwatch_event_rule",)),
        ("events:PutTargets", ("aws_cloudwatch_event_target",)),
        ("iam:PutRolePolicy", ("aws_iam_role_policy",)),
        ("s3:PutBucketCors", ("aws_s3_bucket_cors_configuration",)),
        ("s3:PutPublicAccessBlock", ("aws_s3_bucket_public_access_block",)),
        ("sns:Subscribe", ("aws_sns_topic_subscription",)),
        ("states:CreateStateMachine", ("aws_sfn_state_machine",)),
        ("rds:CreateDBSubnetGroup", ("aws_db_subnet_group",)),
        ("athena:CreateWorkGroup", ("aws_athena_workgroup",)),
        ("elasticloadbalancing:CreateLoadBalancer", ("aws_lb",)),
        ("autoscaling:PutScheduledUpdateGroupAction", ("aws_autoscaling_schedule",)),
        ("iam:AddRoleToInstanceProfile", ()),
        ("s3:PutBucketTagging", ()),
        ("quicksight:CreateTopic", ()),
    ],
)
def test_the_types_of_a_call(call: str, types: tuple[str, ...]) -> None:
    assert likely_types(event_values(event(call, {}).call), _PROVIDER, ()) == types


def test_a_table_that_names_the_type_wins_over_names() -> None:
    values = event_values(event("ec2:CreateVpc", {}).call)
    assert likely_types(values, _PROVIDER, ["aws_vpc_endpoint", "aws_unknown"]) == ("aws_vpc_endpoint",)


@pytest.mark.parametrize(("word", "root"), [("policies", "policy"), ("targets", "target"), ("access", "access"), ("rds", "rds")])  # fmt: skip
def test_a_plural_is_its_singular(word: str, root: str) -> None:
    assert stem(word) == root
