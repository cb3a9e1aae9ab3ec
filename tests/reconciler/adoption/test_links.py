"""A resource belongs to what one of its attributes names, by the attribute's meaning and not by any equal text."""

from collections.abc import Mapping

import pytest

from gateway.core.model.json import Json
from reconciler.adoption.links import Texts, means, owner_link
from tests.reconciler.adoption.conftest import schema

_VPC = "vpc-0123456789abcdef0"


@pytest.mark.parametrize(
    ("attribute", "value", "resource_type", "right"),
    [
        ("vpc_id", _VPC, "aws_vpc", True),
        ("role", "worker", "aws_iam_role", True),
        ("role", "worker", "aws_sns_topic", False),
        ("bucket", "logs", "aws_s3_bucket", True),
        ("bucket", "logs", "aws_s3_bucket_versioning", False),
        ("rule", "nightly", "aws_cloudwatch_event_rule", True),
        ("event_bus_name", "orders", "aws_cloudwatch_event_bus", True),
        ("log_group_name", "/app", "aws_cloudwatch_log_group", True),
        ("rest_api_id", "abcdef", "aws_api_gateway_rest_api", True),
        ("description", "worker", "aws_iam_role", False),
        ("endpoint", "arn:aws:sqs:eu-west-1:1:q", "aws_sqs_queue", True),
        ("policy_arn", "arn:aws:iam::aws:policy/ReadOnlyAccess", "aws_iam_policy", False),
        ("resource_id", "table/orders", "aws_dynamodb_table", True),
        ("resource_id", "table/orders", "aws_sqs_queue", False),
    ],
)
def test_what_an_attribute_means(attribute: str, value: str, resource_type: str, *, right: bool) -> None:
    assert means(attribute, value, resource_type) is right


def test_the_nearest_of_several_is_its_owner() -> None:
    declared = {
        "aws_vpc.main": {"id": _VPC},
        "aws_sns_topic.events": {"arn": "arn:aws:sns:eu-west-1:1:events"},
        "aws_sqs_queue.jobs": {"arn": "arn:aws:sqs:eu-west-1:1:jobs"},
        "data.aws_sns_topic.other": {"arn": "arn:aws:sns:eu-west-1:1:events"},
    }
    live = {"topic_arn": "arn:aws:sns:eu-west-1:1:events", "endpoint": "arn:aws:sqs:eu-west-1:1:jobs"}
    link = owner_link("aws_sns_topic_subscription", live, schema(topic_arn="required", endpoint="required"), declared)
    assert link is not None
    assert (link.address, link.attribute) == ("aws_sns_topic.events", "topic_arn")


def test_a_name_that_only_looks_equal_is_no_link() -> None:
    declared = {"aws_sns_topic.a": {"name": "shop", "id": "shop"}}
    live = {"name": "shop", "description": "shop", "team": "shop"}
    assert owner_link("aws_sqs_queue", live, schema(name="required", description="optional", team="optional"), declared) is None  # fmt: skip


def test_the_keys_of_a_map_say_what_they_mean() -> None:
    declared = {"aws_sqs_queue.mail": {"name": "mail"}, "aws_sns_topic.mail": {"name": "mail"}}
    live: Mapping[str, Json] = {"alarm_name": "x", "dimensions": {"QueueName": "mail"}}
    link = owner_link(
        "aws_cloudwatch_metric_alarm", live, schema(alarm_name="required", dimensions="optional"), declared
    )
    assert link is not None
    assert link.address == "aws_sqs_queue.mail"


_STREAM = {"arn": "arn:aws:kinesis:eu-west-1:1:stream/shop-refunds", "name": "shop-refunds"}
_BUCKET = {"arn": "arn:aws:s3:::shop-refunds", "bucket": "shop-refunds"}


@pytest.mark.parametrize(
    ("resource_type", "named_by", "value", "named"),
    [
        ("aws_kinesis_stream", _STREAM, {"dimensions": {"StreamName": "shop-refunds"}}, True),
        ("aws_kinesis_stream", _STREAM, {"metric_query": [{"metric": [{"dimensions": {"StreamName": "shop-refunds"}}]}]}, True),
        ("aws_kinesis_stream", _STREAM, {"dashboard_body": '{"metrics": [["AWS/Kinesis", "X", "StreamName", "shop-refunds"]]}'}, True),
        ("aws_kinesis_stream", _STREAM, {"environment": [{"variables": {"REFUNDS_STREAM": "shop-refunds"}}]}, True),
        ("aws_kinesis_stream", _STREAM, {"container_definitions": '[{"environment": [{"name": "STREAM", "value": "shop-refunds"}]}]'}, True),
        ("aws_kinesis_stream", _STREAM, {"value": "shop-refunds"}, True),
        ("aws_kinesis_stream", _STREAM, {"policy": {"json": {"Statement": [{"Resource": _STREAM["arn"]}]}}}, True),
        ("aws_kinesis_stream", _STREAM, {"policy": f'{{"Resource": ["{_STREAM["arn"]}/consumer/*"]}}'}, True),
        ("aws_s3_bucket", _BUCKET, {"policy": '{"Resource": "arn:aws:s3:::shop-refunds/*"}'}, True),
        ("aws_db_instance", {"identifier": "shop"}, {"dimensions": {"DBInstanceIdentifier": "shop"}}, True),
        ("aws_lb", {"arn_suffix": "app/web/0123"}, {"dimensions": {"LoadBalancer": "app/web/0123"}}, True),
        ("aws_dynamodb_table", {"name": "refunds"}, {"resource_id": "table/refunds"}, True),
        ("aws_kinesis_stream", _STREAM, {"dimensions": {"QueueName": "shop-refunds"}}, False),
        ("aws_kinesis_stream", _STREAM, {"alarm_name": "shop-refunds", "description": "shop-refunds"}, False),
        ("aws_kinesis_stream", _STREAM, {"dimensions": {"StreamName": "shop-refunds-2"}}, False),
        ("aws_kinesis_stream", _STREAM, {"policy": f'{{"Resource": "{_STREAM["arn"]}-2"}}'}, False),
        ("aws_kinesis_stream", {"name": "refunds"}, {"value": "refunds"}, False),
        ("aws_kinesis_stream", _STREAM, {"tags": {"Stream": "shop-refunds"}}, False),
    ],
)  # fmt: skip
def test_what_a_value_names_anywhere_in_it(
    resource_type: str, named_by: Mapping[str, str], value: Mapping[str, Json], *, named: bool
) -> None:
    assert Texts(value).name_resource(resource_type, named_by) is named
