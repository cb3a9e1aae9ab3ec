"""Names match only where they are beyond doubt."""

import pytest

from gateway.effects.matcher import is_wrapper_in_block, match, match_member
from gateway.effects.schema import read_schemas

SCHEMAS = read_schemas(
    ["aws_autoscaling_group", "aws_instance", "aws_lambda_function", "aws_dynamodb_table", "aws_launch_template"]
)


@pytest.mark.parametrize(
    ("resource_type", "path", "attribute"),
    [
        ("aws_autoscaling_group", "DesiredCapacity", "desired_capacity"),
        ("aws_autoscaling_group", "LaunchTemplate.Version", "launch_template.version"),
        ("aws_instance", "InstanceType.Value", "instance_type"),
        ("aws_lambda_function", "Environment.Variables", "environment.variables"),
        ("aws_lambda_function", "Code.S3Bucket", "s3_bucket"),
        ("aws_lambda_function", "KMSKeyArn", "kms_key_arn"),
        ("aws_dynamodb_table", "StreamSpecification.StreamEnabled", "stream_enabled"),
        ("aws_launch_template", "LaunchTemplateData.Placement.Tenancy", "placement.tenancy"),
        ("aws_dynamodb_table", "GlobalSecondaryIndexes", None),
        ("aws_autoscaling_group", "TrafficSources", "traffic_source"),
        ("aws_lambda_function", "DurableConfig.KMSKeyArn", None),
        ("aws_autoscaling_group", "NewInstancesProtectedFromScaleIn", None),
        ("aws_instance", "Id", None),
        ("aws_instance", "IamInstanceProfile.Arn", None),
        ("aws_dynamodb_table", "Arn", None),
    ],
)
def test_names_match_exactly_or_not_at_all(resource_type: str, path: str, attribute: str | None) -> None:
    assert match(SCHEMAS[resource_type], tuple(path.split("."))) == attribute


def test_members_of_a_block_match_within_it() -> None:
    schema = SCHEMAS["aws_launch_template"]
    assert match_member(schema, "block_device_mappings", "Ebs") == "block_device_mappings.ebs"
    assert match_member(schema, "block_device_mappings", "Unheard") is None


def test_only_known_structures_are_left_out_inside_blocks() -> None:
    assert is_wrapper_in_block("Projection")
    assert not is_wrapper_in_block("OnDemandThroughput")
