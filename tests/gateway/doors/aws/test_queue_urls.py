"""A queue's URL that leads to the gateway is AWS's own by the time AWS sees it."""

import json
from urllib.parse import parse_qs

import pytest

from gateway.doors.aws.queue_urls import aws_queue_url, with_aws_queue_url

OWN = "http://127.0.0.1:8484/123456789012/orders"
AWS = "https://sqs.eu-west-1.amazonaws.com/123456789012/orders"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (OWN, AWS),
        ("https://sentinel.example/123456789012/orders/", AWS),
        ("http://localhost:1/queue/orders", "https://sqs.eu-west-1.amazonaws.com/queue/orders"),
        (AWS, AWS),
        # A queue of AWS's own hosts stays what it is, also in another region: AWS says what is wrong with it.
        (
            "https://sqs.us-east-1.amazonaws.com/123456789012/orders",
            "https://sqs.us-east-1.amazonaws.com/123456789012/orders",
        ),
        ("https://queue.amazonaws.com/123456789012/orders", "https://queue.amazonaws.com/123456789012/orders"),
        ("orders", "orders"),
        ("http://[broken/123456789012/orders", "http://[broken/123456789012/orders"),
        ("http://h/123456789012/orders?x=1", "http://h/123456789012/orders?x=1"),
        ("http://user@h/123456789012/orders", "http://user@h/123456789012/orders"),
        ("http://h/1/orders", "http://h/1/orders"),
        (None, None),
    ],
)
def test_only_a_queue_elsewhere_is_renamed(url: object, expected: object) -> None:
    assert aws_queue_url(url, "eu-west-1") == expected


def test_china_has_a_domain_of_its_own() -> None:
    assert aws_queue_url(OWN, "cn-north-1") == "https://sqs.cn-north-1.amazonaws.com.cn/123456789012/orders"


def test_a_read_in_json_is_rewritten() -> None:
    body = json.dumps({"QueueUrl": OWN, "AttributeNames": ["All"]}).encode()
    assert json.loads(with_aws_queue_url(body, "application/x-amz-json-1.0", "eu-west-1")) == {
        "QueueUrl": AWS,
        "AttributeNames": ["All"],
    }


def test_a_form_is_rewritten() -> None:
    body = b"Action=GetQueueAttributes&QueueUrl=http%3A%2F%2Fh%2F123456789012%2Forders"
    changed = with_aws_queue_url(body, "application/x-www-form-urlencoded", "eu-west-1")
    assert parse_qs(changed.decode())["QueueUrl"] == [AWS]


@pytest.mark.parametrize(
    "body", [b"", b"{}", b'{"QueueUrl"', b'["QueueUrl"]', b'{"QueueUrl": 1}', json.dumps({"QueueUrl": AWS}).encode()]
)
def test_everything_else_keeps_its_bytes(body: bytes) -> None:
    assert with_aws_queue_url(body, "application/x-amz-json-1.0", "eu-west-1") is body
