"""A queue's URL that leads to the gateway is AWS's own by the time AWS sees it."""

import json
from dataclasses import replace
from urllib.parse import parse_qs

import pytest

from gateway.aws.door.urls import ReplyUrls, aws_queue_url, through, with_aws_queue_url
from gateway.core.model.mutation import Call
from tests.kit.doubles import inbound

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


HERE = "http://gate:8484"
TERRAFORM = "APN/1.0 HashiCorp/1.0 Terraform/1.11.4 terraform-provider-aws/5.100.0"


def _rewritten(service: str, operation: str, body: bytes, *headers: tuple[str, str]) -> tuple[dict[str, str], bytes]:
    asked = inbound(headers=(("host", "gate:8484"), ("x-forwarded-host", "evil.example")))
    raw = [(name.encode(), value.encode()) for name, value in headers]
    found, changed = ReplyUrls().rewritten(Call(service=service, operation=operation), asked, raw, body)
    return {name.decode(): value.decode() for name, value in found}, changed


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://sqs.us-east-1.amazonaws.com/123456789012/q", f"{HERE}/123456789012/q"),
        ("http://127.0.0.1:5555/123456789012/q", f"{HERE}/123456789012/q"),
        ("https://b.s3.eu-west-1.amazonaws.com/a/b%20c", f"{HERE}/b/a/b%20c"),
        ("https://a.b.s3.amazonaws.com/k", f"{HERE}/a.b/k"),
        ("https://s3.eu-west-1.amazonaws.com/b/k", f"{HERE}/b/k"),
        ("http://b.s3.amazonaws.com/", f"{HERE}/b/"),
        ("dynamodb.us-east-1.amazonaws.com", "gate:8484"),
        ("/bucket", "/bucket"),
        ("http://[broken", "http://[broken"),
    ],
)
def test_a_url_keeps_what_it_names(url: str, expected: str) -> None:
    assert through(url, HERE) == expected


def test_queue_urls_in_json() -> None:
    body = json.dumps({"QueueUrls": ["https://sqs.us-east-1.amazonaws.com/123456789012/q"], "NextToken": "https://t"})
    headers, changed = _rewritten(
        "sqs", "ListQueues", body.encode(), ("Content-Length", str(len(body))), ("x-amz-crc32", "1"), ("x-a", "b")
    )
    assert json.loads(changed) == {"QueueUrls": [f"{HERE}/123456789012/q"], "NextToken": "https://t"}
    assert headers == {"content-length": str(len(changed)), "x-a": "b"}


def test_a_location_in_xml() -> None:
    body = b"<R><Location>https://b.s3.amazonaws.com/a&amp;b</Location><Key>https://b.s3.amazonaws.com/x</Key></R>"
    _, changed = _rewritten("s3", "CompleteMultipartUpload", body)
    assert changed == b"<R><Location>http://gate:8484/b/a&amp;b</Location><Key>https://b.s3.amazonaws.com/x</Key></R>"


def test_a_location_in_a_header() -> None:
    headers, _ = _rewritten("s3", "CreateBucket", b"", ("Location", "http://b.s3.amazonaws.com/"))
    assert headers == {"Location": f"{HERE}/b/"}


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff<", b"<QueueUrl>\xff</QueueUrl>", b"text"])
def test_a_reply_that_cannot_be_read_stays_as_it_is(body: bytes) -> None:
    assert _rewritten("sqs", "GetQueueUrl", body, ("Content-Length", "7")) == ({"Content-Length": "7"}, body)


def test_the_public_url_wins() -> None:
    urls = ReplyUrls(public_url="https://sentinel.example")
    assert urls.origin(inbound(headers=(("host", "10.0.0.1:8484"),))) == "https://sentinel.example"


def test_the_scheme_is_that_of_the_connection() -> None:
    assert ReplyUrls().origin(replace(inbound(headers=(("host", "gate"),)), scheme="https")) == "https://gate"


@pytest.mark.parametrize("name", ["x-forwarded-host", "forwarded", "x-original-host", "x-host"])
def test_no_header_of_a_proxy_changes_where_urls_lead(name: str) -> None:
    """It is not signed, so anyone between could set it."""
    headers = (("host", "gate"), (name, "attacker.example://gate"))
    assert ReplyUrls().origin(inbound(headers=headers)) == "http://gate"


def test_terraform_keeps_awss_urls() -> None:
    """It writes them into its state and into other resources."""
    call = Call(service="sqs", operation="GetQueueUrl")
    assert ReplyUrls().concerns(call, inbound())
    assert not ReplyUrls().concerns(call, inbound(headers=(("user-agent", TERRAFORM),)))
    assert not ReplyUrls().concerns(Call(service="sqs", operation="SendMessage"), inbound())
