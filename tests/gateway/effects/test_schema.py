"""The reduced schema has the attributes that a call can set."""

import pytest

from gateway.effects.schema import (
    Schemas,
    folded,
    is_wrapper_in_block,
    known_schemas,
    match,
    match_member,
    read_schemas,
    snake,
)


def test_kinds_of_attributes_blocks_and_objects() -> None:
    kinds = read_schemas(["aws_security_group", "aws_autoscaling_group"])
    group = kinds["aws_autoscaling_group"].kinds
    assert group["desired_capacity"] == "number"
    assert group["launch_template"] == "block"
    assert group["launch_template.version"] == "string"
    assert group["tag"] == "set(block)"
    assert kinds["aws_security_group"].kinds["ingress.cidr_blocks"] == "list(string)"


def test_computed_attributes_are_left_out() -> None:
    assert "arn" not in read_schemas(["aws_sqs_queue"])["aws_sqs_queue"].kinds


def test_attributes_that_the_provider_marks_are_sensitive() -> None:
    schemas = read_schemas(["aws_db_instance", "aws_ssm_parameter"])
    assert schemas["aws_db_instance"].is_sensitive("password")
    assert schemas["aws_ssm_parameter"].is_sensitive("value")
    assert not schemas["aws_ssm_parameter"].is_sensitive("type")


def test_keys_of_maps_are_attributes_and_others_are_not() -> None:
    queue = read_schemas(["aws_sqs_queue"])["aws_sqs_queue"]
    assert queue.knows("tags.owner")
    assert not queue.knows("tags.")
    assert not queue.knows("policy.x")
    assert not queue.knows("unheard_of")


def test_a_type_that_the_provider_does_not_have_is_an_error() -> None:
    with pytest.raises(KeyError, match="aws_unheard_of"):
        read_schemas(["aws_unheard_of"])


def test_of_several_types_those_that_are_known_are_read() -> None:
    assert set(known_schemas({"aws_sqs_queue", "random_id"})) == {"aws_sqs_queue"}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("HealthCheckGracePeriod", "health_check_grace_period"),
        ("MultiAZ", "multi_az"),
        ("KMSMasterKeyId", "kms_master_key_id"),
        ("desiredCount", "desired_count"),
        ("OKActions", "ok_actions"),
        ("SSEAlgorithm", "sse_algorithm"),
    ],
)
def test_names_become_snake_case(name: str, words: str) -> None:
    assert snake(name) == words


def test_plurals_and_underscores_fold_away_but_short_words_and_double_s_stay() -> None:
    assert folded("step_adjustments") == folded("step_adjustment")
    assert folded("ok_actions") == folded("o_k_action")
    assert folded("dns_access") == "dnsaccess"


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


def test_a_schema_is_read_when_it_is_asked_for_and_forgotten_if_others_are() -> None:
    schemas = Schemas(most_paths=1)

    assert schemas["aws_sqs_queue"] == read_schemas(["aws_sqs_queue"])["aws_sqs_queue"]
    assert schemas["aws_sqs_queue"] is schemas["aws_sqs_queue"]
    first = schemas["aws_sqs_queue"]
    assert "delay_seconds" in first.steps
    assert schemas["aws_sns_topic"] is schemas["aws_sns_topic"]
    assert schemas["aws_sqs_queue"] is not first
    with pytest.raises(KeyError, match="aws_unheard_of"):
        schemas["aws_unheard_of"]


def test_the_types_are_known_without_their_schemas() -> None:
    schemas = Schemas()

    assert "aws_sqs_queue" in schemas
    assert "random_id" not in schemas
    assert len(list(schemas)) == len(schemas) > 1_000
