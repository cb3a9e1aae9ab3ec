"""The head of a request is validated before routing."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.doors.aws.request_head import CredentialScope, head_of, is_form_upload, scope_of, split_service
from gateway.errors import Malformed

BAD_TARGETS = {
    "absolute form": "http://evil.example/",
    "encoded NUL": "/a%00b",
    "broken escape": "/a%4",
    "fragment": "/a#b",
    "backslash": "/a\\b",
    "space": "/a b",
    "raw byte outside ASCII": "/a\xe9",
    "dot segments": "/2015-03-31/functions/../x",
    "encoded dot segments": "/a/%2e%2E/b",
    "double slash": "//evil.example/x",
    "no slash": "a",
    "asterisk": "*",
    "NUL in the query": "/?a=%00",
    "broken escape in the query": "/?a=%zz",
    "no name in the query": "/?=1",
}


@pytest.mark.parametrize("target", BAD_TARGETS.values(), ids=BAD_TARGETS.keys())
def test_a_target_with_more_than_one_reading_is_refused(wire: Any, target: str) -> None:
    with pytest.raises(Malformed):
        head_of(wire.inbound("lambda", method="GET", target=target))


@pytest.mark.parametrize("target", ["/b/a//c", "/b/../k", "/b/.", "/b/%2e%2e/x"])
def test_an_s3_key_is_taken_literally(wire: Any, target: str) -> None:
    assert head_of(wire.inbound("s3", method="GET", target=target)).path == target


@pytest.mark.parametrize(
    "name",
    ["content-type", "x-amz-target", "host", "content-length", "x-amz-date", "x-sentinel-intent", "content-encoding"],
)
def test_a_header_that_decides_may_stand_once(wire: Any, name: str) -> None:
    inbound = wire.inbound("sqs", headers={name: "a"}, more=((name, "a"),))
    with pytest.raises(Malformed):
        head_of(inbound)


@pytest.mark.parametrize("name", ["x-http-method-override", "x-http-method", "x-method-override", "x-original-url"])
def test_a_header_that_changes_the_method_or_target_is_refused(wire: Any, name: str) -> None:
    with pytest.raises(Malformed) as refused:
        head_of(wire.inbound("s3", method="GET", target="/b/k", headers={name: "DELETE"}))
    assert refused.value.code == "method_override"


@pytest.mark.parametrize("method", ["get", "TRACE", "CONNECT", "OPTIONS", "BREW", ""])
def test_a_method_that_no_aws_api_takes_is_refused(wire: Any, method: str) -> None:
    with pytest.raises(Malformed):
        head_of(wire.inbound("s3", method=method, target="/b/k"))


def test_the_signature_of_a_presigned_url_is_no_parameter(wire: Any) -> None:
    inbound = wire.inbound("s3", method="GET", target="/b/k?versionId=7")
    assert head_of(inbound).query == (("versionId", "7"),)


@pytest.mark.parametrize(
    ("target", "service", "rest"),
    [
        ("/_svc/sqs", "sqs", "/"),
        ("/_svc/sqs/", "sqs", "/"),
        ("/_svc/lambda/2015-03-31/functions?MaxItems=1", "lambda", "/2015-03-31/functions?MaxItems=1"),
        ("/_svc/rds?Action=X", "rds", "/?Action=X"),
        ("/bucket/_svc/x", "", "/bucket/_svc/x"),
    ],
)
def test_the_service_named_in_the_path_is_taken_off(wire: Any, target: str, service: str, rest: str) -> None:
    assert split_service(target) == (service, rest)


def test_the_scope_can_be_read_of_a_presigned_url(wire: Any) -> None:
    target = "/b/k?X-Amz-Credential=SNTL%2F20261121%2Feu-west-1%2Fs3%2Faws4_request&X-Amz-Signature=0"
    presigned = replace(wire.inbound("sqs", method="GET", target=target), headers=(("host", "x"),))
    assert scope_of(presigned) == CredentialScope(region="eu-west-1", signing="s3")


def test_no_scope_is_none(wire: Any) -> None:
    assert scope_of(replace(wire.inbound("sqs"), headers=())) is None


@pytest.mark.parametrize(
    ("method", "kind", "path", "bucket", "taken"),
    [
        ("POST", "multipart/form-data; boundary=x", "/bucket", "", True),
        ("POST", "Multipart/Form-Data; boundary=x", "/bucket/", "", True),
        ("POST", "multipart/form-data; boundary=x", "/", "", False),
        ("POST", "multipart/form-data; boundary=x", "/v1/mutations", "", False),
        ("PUT", "multipart/form-data; boundary=x", "/bucket", "", False),
        ("POST", "application/json", "/bucket", "", False),
        ("POST", "multipart/form-data; boundary=x", "/", "bucket", True),
        ("POST", "multipart/form-data; boundary=x", "/key", "bucket", False),
    ],
)
def test_only_a_form_for_a_bucket_is_one(method: str, kind: str, path: str, bucket: str, *, taken: bool) -> None:
    assert is_form_upload(method, kind, path, bucket) is taken
