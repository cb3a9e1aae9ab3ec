"""The head of an upload describes the object, not how it is sent."""

from dataclasses import replace

import pytest

from gateway.authn.payload import PayloadKind
from gateway.doors.aws.request_head import CredentialScope, RequestHead
from gateway.doors.aws.upload_head import upload_head, without_chunked_encoding
from gateway.errors import Malformed

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
