"""The names, ARNs and URLs of one resource give one identity."""

from collections.abc import Callable
from typing import Any

import pytest

from gateway.effects.naming import arn, arn_of, hosted_zone, kms_key, name_or_arn, plain, queue_url, secret_id
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
        (name_or_arn("name"), "arn:aws:sns:eu-west-1:123456789012:t", {"name": "t"}),
        (arn, TABLE, {"arn": TABLE}),
        (arn_of("alarm", "alarm_name"), "arn:aws:cloudwatch:eu-west-1:123456789012:alarm:a:b", {"alarm_name": "a:b"}),
        (plain("identifier", lower=True), "DB", {"identifier": "db"}),
        (queue_url, "https://sqs.eu-west-1.amazonaws.com/123456789012/q.fifo", {"name": "q.fifo"}),
        (queue_url, "http://127.0.0.1:8484/123456789012/q", {"name": "q"}),
        (queue_url, "https://queue.amazonaws.com/q", {"name": "q"}),
        (secret_id, "db", {"name": "db"}),
        (secret_id, f"{SECRET}app/s-AbC123", {"name": "app/s"}),
        (secret_id, f"{SECRET}db-master", {"name": "db-master"}),
        (kms_key, "1-2", {"key_id": "1-2"}),
        (kms_key, "alias/k", {"key_id": "1-2"}),
        (kms_key, "arn:aws:kms:eu-west-1:123456789012:key/1-2", {"key_id": "1-2"}),
        (kms_key, "arn:aws:kms:eu-west-1:123456789012:alias/k", {"key_id": "1-2"}),
        (hosted_zone, "/hostedzone/Z1", {"zone_id": "Z1"}),
    ],
)
def test_names_arns_and_urls(context: Callable[..., Any], identify: Any, text: str, identity: dict[str, str]) -> None:
    assert identify(context(resources={**KEY, **NAMED}), text) == identity


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
    ],
)
def test_what_may_name_another_resource_is_not_understood(
    context: Callable[..., Any], identify: Any, text: str
) -> None:
    with pytest.raises(NotUnderstood):
        identify(context(resources=KEY), text)
