"""The head of a request is validated before routing."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.aws.door.request_head import (
    CredentialScope,
    RequestHead,
    head_of,
    is_form_upload,
    scope_of,
    split_service,
    upload_head,
    without_chunked_encoding,
)
from gateway.core.errors import Malformed
from gateway.core.model.signature import PayloadKind

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


HEAD = RequestHead(
    method="PUT",
    path="/b/k",
    query=(),
    headers={"authorization": "x", "content-length": "10", "content-type": "text/plain"},
    repeated=frozenset(),
    signed=frozenset({"host"}),
    scope=CredentialScope(region="us-east-1", signing="s3"),
    payload=PayloadKind.UNSIGNED,
)
CHUNKED = replace(
    HEAD,
    payload=PayloadKind.UNSIGNED_CHUNKS_TRAILER,
    headers={"authorization": "x", "content-length": "99", "x-amz-decoded-content-length": "10"},
)


def test_the_length_is_that_of_the_object() -> None:
    assert upload_head(HEAD).headers["content-length"] == "10"
    assert upload_head(CHUNKED).headers["content-length"] == "10"


@pytest.mark.parametrize("value", ["", "-1", "1e3", "١"])
def test_a_length_is_a_number(value: str) -> None:
    with pytest.raises(Malformed) as refused:
        upload_head(replace(HEAD, headers={"content-length": value}))
    assert refused.value.aws_code == "MissingContentLength"


def test_a_trailer_is_one_checksum() -> None:
    with pytest.raises(Malformed, match="x-amz-trailer"):
        upload_head(replace(CHUNKED, headers={**CHUNKED.headers, "x-amz-trailer": "x-amz-acl"}))


def test_a_presigned_url_leaves_the_description_to_its_user() -> None:
    presigned = replace(HEAD, headers={"content-length": "1", "content-type": "text/plain"})
    assert "content-type" in upload_head(presigned).signed
    assert "content-type" not in upload_head(HEAD).signed


@pytest.mark.parametrize(("given", "kept"), [("aws-chunked", None), ("aws-chunked, gzip", "gzip"), ("gzip", "gzip")])
def test_the_encoding_in_chunks_is_no_property_of_the_object(given: str, kept: str | None) -> None:
    assert without_chunked_encoding({"content-encoding": given}).get("content-encoding") == kept
