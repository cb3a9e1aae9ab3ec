"""The names, ARNs and URLs of one resource give one identity."""

from collections.abc import Callable
from typing import Any

import pytest

from gateway.effects.naming import arn, arn_of, hosted_zone, kms_key, name_or_arn, plain, queue_url, secret_id, topic
from gateway.effects.values import NotUnderstood

TABLE = "arn:aws:dynamodb:eu-west-1:123456789012:table/o"
KEY = {"aws_kms_alias.k": {"name": "alias/k", "target_key_id": "1-2"}}
SECRET = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:"
NAMED = {"aws_secretsmanager_secret.s": {"name": "db-master"}}


@pytest.mark.parametrize(
    ("identify", "text", "identity"),
    [
        (name_or_arn("name", "table"), "o", {"name": "o"}),
        (name_or_arn("name", "table"), TABLE, {"name": "o"}),
        (topic, "arn:aws:sns:eu-west-1:123456789012:t", {"name": "t"}),
        (arn, TABLE, {"arn": TABLE}),
        (arn_of("alarm", "alarm_name"), "arn:aws:cloudwatch:eu-west-1:123456789012:alarm:a:b", {"alarm_name": "a:b"}),
        (plain("identifier", lower=True), "DB", {"identifier": "db"}),
        (queue_url, "https://sqs.eu-west-1.amazonaws.com/123456789012/q.fifo", {"name": "q.fifo"}),
        (queue_url, "http://127.0.0.1:8484/123456789012/q", {"name": "q"}),
        (queue_url, "https://eu-west-1.queue.amazonaws.com/123456789012/q", {"name": "q"}),
        (queue_url, "https://sqs-fips.eu-west-1.amazonaws.com/123456789012/q", {"name": "q"}),
        (queue_url, "https://sqs.eu-west-1.api.aws/123456789012/q", {"name": "q"}),
        (queue_url, "https://vpce-1-a.sqs.eu-west-1.vpce.amazonaws.com/123456789012/q", {"name": "q"}),
        (queue_url, "q", {"name": "q"}),
        (secret_id, "db", {"name": "db"}),
        (secret_id, f"{SECRET}app/s-AbC123", {"name": "app/s"}),
        (secret_id, f"{SECRET}db-master", {"name": "db-master"}),
        (kms_key, "1-2", {"key_id": "1-2"}),
        (kms_key, "alias/k", {"key_id": "1-2"}),
        (kms_key, "arn:aws:kms:eu-west-1:123456789012:key/1-2", {"key_id": "1-2"}),
        (kms_key, "arn:aws:kms:eu-west-1:123456789012:alias/k", {"key_id": "1-2"}),
        (hosted_zone, "/hostedzone/Z1", {"zone_id": "Z1"}),
        (hosted_zone, "Z1", {"zone_id": "Z1"}),
    ],
)
def test_names_arns_and_urls(context: Callable[..., Any], identify: Any, text: str, identity: dict[str, str]) -> None:
    assert identify(context(resources={**KEY, **NAMED}, service=service_of(text)), text) == identity


def service_of(text: str) -> str:
    """The service that takes this name."""
    return text.split(":")[2] if text.startswith("arn:") and text.count(":") > 2 else "x"


@pytest.mark.parametrize(
    ("identify", "text"),
    [
        (name_or_arn("name", "table"), f"{TABLE}/index/g"),
        (name_or_arn("name", "table"), "arn:aws:dynamodb:us-east-1:123456789012:table/o"),
        (name_or_arn("name", "table"), "arn:aws:dynamodb:eu-west-1:999999999999:table/o"),
        (arn, "o"),
        (arn, "arn:aws:x"),
        (plain("bucket"), "arn:aws:s3:eu-west-1:123456789012:accesspoint/a"),
        (queue_url, "https://sqs.eu-west-1.amazonaws.com/999999999999/q"),
        (queue_url, "https://sqs.eu-west-1.amazonaws.com/a/b/c"),
        (kms_key, "alias/unknown"),
        # The same name elsewhere.
        (name_or_arn("name", "table"), "arn:aws-cn:dynamodb:eu-west-1:123456789012:table/o"),
        (name_or_arn("name", "table"), "arn:aws:dynamodb::123456789012:table/o"),
        (name_or_arn("name", "table"), "arn:aws:dynamodb:eu-west-1::table/o"),
        (name_or_arn("name", "table"), "arn:aws:dynamodb:eu-west-1:123456789012:"),
        (topic, "arn:aws:sns:eu-west-1:123456789012:t:0000-1111"),
        (topic, "t"),
        (queue_url, "https://sqs.us-east-1.amazonaws.com/123456789012/q"),
        (queue_url, "https://us-east-1.queue.amazonaws.com/123456789012/q"),
        (queue_url, "https://queue.amazonaws.com/123456789012/q"),
        (queue_url, "https://sqs.amazonaws.com/123456789012/q"),
        (queue_url, "https://sqs-fips.us-east-1.amazonaws.com/123456789012/q"),
        (queue_url, "https://sqs.cn-north-1.amazonaws.com.cn/123456789012/q"),
        (queue_url, "https://vpce-1-a.sqs.us-east-1.vpce.amazonaws.com/123456789012/q"),
        (queue_url, "https://sqs.eu-west-1.amazonaws.com/123456789012/q?x=999999999999/q"),
        (secret_id, "arn:aws:secretsmanager:eu-west-1:999999999999:secret:db"),
        (secret_id, "arn:aws:secretsmanager:us-east-1:123456789012:secret:db-AbC123"),
        (secret_id, "arn:aws:secretsmanager:eu-west-1:123456789012:db"),
        (kms_key, "arn:aws:kms:us-east-1:123456789012:key/1-2"),
        (kms_key, "arn:aws:kms:eu-west-1:999999999999:alias/k"),
        (kms_key, "arn:aws:kms:eu-west-1:123456789012:1-2"),
        (kms_key, "key/1-2"),
        (kms_key, "x/alias/k"),
        (hosted_zone, "Z1/Z2"),
        (hosted_zone, "https://route53.amazonaws.com/2013-04-01/hostedzone/Z1"),
    ],
)
def test_what_may_name_another_resource_is_not_understood(
    context: Callable[..., Any], identify: Any, text: str
) -> None:
    with pytest.raises(NotUnderstood):
        identify(context(resources=KEY, service=service_of(text)), text)


@pytest.mark.parametrize("identify", [arn, arn_of("alarm", "n"), name_or_arn("n", "table"), topic, secret_id, kms_key])
def test_an_arn_of_another_service_is_no_name_of_ours(context: Callable[..., Any], identify: Any) -> None:
    for resource in ("o", "table/o", "alarm:o", "key/o", "alias/k", "secret:o"):
        with pytest.raises(NotUnderstood):
            identify(context(resources=KEY, service="other"), f"arn:aws:dynamodb:eu-west-1:123456789012:{resource}")
