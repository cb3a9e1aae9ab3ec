"""URLs in replies lead through the gateway, at the host that the client itself signed."""

import json
from dataclasses import replace

import pytest

from gateway.doors.aws.reply_urls import ReplyUrls, through
from gateway.model.mutation import Call
from tests.kit.doubles import inbound

HERE = "http://gate:8484"
TERRAFORM = "APN/1.0 HashiCorp/1.0 Terraform/1.11.4 terraform-provider-aws/5.100.0"


def _rewritten(service: str, operation: str, body: bytes, *headers: tuple[str, str]) -> tuple[dict[str, str], bytes]:
    asked = inbound(headers=(("host", "gate:8484"), ("x-forwarded-host", "evil.example")))
    found, changed = ReplyUrls().rewritten(Call(service=service, operation=operation), asked, headers, body)
    return dict(found), changed


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


def test_terraform_keeps_awss_urls() -> None:
    """It writes them into its state and into other resources."""
    call = Call(service="sqs", operation="GetQueueUrl")
    assert ReplyUrls().concerns(call, inbound())
    assert not ReplyUrls().concerns(call, inbound(headers=(("user-agent", TERRAFORM),)))
    assert not ReplyUrls().concerns(Call(service="sqs", operation="SendMessage"), inbound())
