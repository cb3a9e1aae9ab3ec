"""Virtual-hosted style: the signed `Host` may name the bucket, and nothing but the bucket."""

import hashlib
from dataclasses import replace
from typing import Any

import httpx
import pytest
from botocore.auth import S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from gateway.aws.door.bucket_host import BucketHosts
from tests.kit.gate import Gate
from tests.kit.signed_requests import Answer, Signer, Wire, talk

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]

AWS_HOST = "photos.s3.us-east-1.amazonaws.com"


@pytest.mark.parametrize(
    ("host", "bucket"),
    [
        ("127.0.0.1:8484", ""),
        ("[::1]:8484", ""),
        ("gateway:8484", ""),
        ("localhost:8484", ""),
        ("s3.localhost:8484", ""),
        ("photos.localhost:8484", "photos"),
        ("photos.s3.localhost:8484", "photos"),
        ("Photos.S3.LocalHost.:8484", "photos"),
        ("a.dotted.bucket.localhost", "a.dotted.bucket"),
        ("photoslocalhost", ""),
        ("localhost.evil.example", ""),
        # Configured.
        ("photos.gate.internal:8484", "photos"),
        ("gate.internal:8484", ""),
        ("evilgate.internal", ""),
        ("photos.sentinel.example", "photos"),
        ("photos.s3.sentinel.example", "photos"),
        ("s3.sentinel.example", ""),
        # AWS's own names.
        ("s3.amazonaws.com", ""),
        ("s3.eu-west-1.amazonaws.com", ""),
        ("s3-eu-west-1.amazonaws.com", ""),
        ("photos.s3.amazonaws.com", "photos"),
        (AWS_HOST, "photos"),
        ("photos.s3-us-west-2.amazonaws.com", "photos"),
        ("photos.s3.dualstack.eu-west-1.amazonaws.com", "photos"),
        ("photos.s3-fips.us-gov-west-1.amazonaws.com", "photos"),
        ("photos.s3.cn-north-1.amazonaws.com.cn", "photos"),
        ("my.s3.photos.s3.us-east-1.amazonaws.com", "my.s3.photos"),
        ("photos.s3-us-west-2.s3.us-east-1.amazonaws.com", "photos.s3-us-west-2"),
        ("123456789012.s3-control.us-east-1.amazonaws.com", ""),
        # Hosts of AWS that are not a bucket in S3.
        ("point-123456789012.s3-accesspoint.us-east-1.amazonaws.com", None),
        ("photos.s3-website-us-east-1.amazonaws.com", None),
        ("sts.amazonaws.com", None),
        ("photos.s3.evil.amazonaws.com", None),
        ("photos.s3.amazonaws.com.evil.example", ""),
        ("evil.s3.us-east-1.amazonaws.com.localhost", "evil.s3.us-east-1.amazonaws.com"),
    ],
)
def test_what_stands_before_a_known_host_is_a_bucket(host: str, bucket: str | None) -> None:
    hosts = BucketHosts(["gate.internal"], "https://sentinel.example:8443")
    assert hosts.of({"headers": [(b"host", host.encode())]}) == bucket


def test_an_address_as_public_url_names_no_bucket() -> None:
    hosts = BucketHosts(public_url="http://10.0.0.1:8484")
    assert hosts.of({"headers": [(b"host", b"s3.10.0.0.1")]}) == ""
    assert hosts.of({"headers": []}) == ""


def _signer(gate: Gate, host: str, actor: str = "service", service: str = "s3") -> Signer:
    key = gate.keys[actor]
    return Signer(url=f"http://{host}", key_id=key.id, secret=key.secret, service=service)


def _ask(gate: Gate, wire: Wire) -> Answer:
    return talk(gate.url, wire.raw, seconds=300)


def _put(gate: Gate, host: str, target: str = "/key", actor: str = "service") -> Answer:
    body = b"hello"
    signer = _signer(gate, host, actor)
    return _ask(gate, signer.signed(method="PUT", target=target, body=body, payload=hashlib.sha256(body).hexdigest()))


@pytest.mark.parametrize(
    ("host", "target", "asked"),
    [
        ("photos.localhost:8484", "/key", "GET /photos/key"),
        ("photos.s3.localhost:8484", "/a/b", "GET /photos/a/b"),
        (AWS_HOST, "/key?versionId=1", "GET /photos/key"),
        (AWS_HOST, "/", "GET /photos"),
        (AWS_HOST, "/?list-type=2&prefix=a", "GET /photos"),
        (AWS_HOST, "/other/key", "GET /photos/other/key"),
        ("photos.localhost", "/_svc/s3/key", "GET /photos/key"),
        ("localhost:8484", "/photos/key", "GET /photos/key"),
    ],
)
def test_a_read_asks_aws_for_that_bucket(gate: Gate, host: str, target: str, asked: str) -> None:
    assert _ask(gate, _signer(gate, host).signed(method="GET", target=target)).status == 200
    assert gate.upstream.asked == [asked]
    # The call goes where every other one goes.
    assert gate.upstream.headers[0]["Host"] == f"127.0.0.1:{gate.upstream.port}"


def test_a_presigned_url_may_name_it_too(gate: Gate) -> None:
    key = gate.keys["service"]
    request = AWSRequest(method="GET", url="http://photos.localhost:8484/key")
    S3SigV4QueryAuth(Credentials(key.id, key.secret), "s3", "us-east-1").add_auth(request)
    wire = Wire(
        method="GET",
        target=request.url.removeprefix("http://photos.localhost:8484"),
        headers=(("Host", "photos.localhost:8484"),),
    )
    assert _ask(gate, wire).status == 200
    assert gate.upstream.asked == ["GET /photos/key"]
    # The same URL at another host, thus for another bucket, has no valid signature.
    assert _ask(gate, wire.with_header("Host", "secrets.localhost:8484")).code == "SignatureDoesNotMatch"
    assert gate.upstream.asked == ["GET /photos/key"]


def test_an_upload_puts_the_object_there(gate: Gate) -> None:
    assert _put(gate, "photos.localhost:8484").status == 200
    assert (gate.upstream.asked, gate.upstream.bodies) == (["PUT /photos/key"], [b"hello"])


def test_a_change_is_decided_for_the_bucket_of_the_host(gate: Gate) -> None:
    """Without the host, PUT /key would create the bucket `key`, and DELETE / would mean nothing."""
    assert _put(gate, AWS_HOST, actor="agent").status == 403
    _ask(gate, _signer(gate, AWS_HOST, "agent").signed(method="DELETE", target="/"))
    calls: list[Any] = [record.body.members["call"] for record in gate.records()[-2:]]
    assert [(call["operation"], call["parameters"]["Bucket"]) for call in calls] == [
        ("PutObject", "photos"),
        ("DeleteBucket", "photos"),
    ]
    assert gate.upstream.asked == []


@pytest.mark.parametrize(
    "host",
    [
        "ab.localhost",
        "-photos.localhost",
        "photos-.localhost",
        "pho..tos.localhost",
        "pho_tos.localhost",
        f"{'a' * 64}.localhost",
        "point-123456789012.s3-accesspoint.us-east-1.amazonaws.com",
        "photos.s3-website-us-east-1.amazonaws.com",
        "evil.amazonaws.com",
    ],
)
def test_a_host_that_names_no_bucket_of_s3_is_refused_and_recorded(gate: Gate, host: str) -> None:
    before = len(gate.records())
    for wire in (
        _signer(gate, host).signed(method="GET", target="/key"),
        _signer(gate, host).signed(method="DELETE", target="/key"),
    ):
        answer = _ask(gate, wire)
        assert (answer.status, answer.code) == (400, "InvalidRequest"), answer.text
    assert _put(gate, host).status == 400
    assert gate.upstream.asked == []
    assert len(gate.records()) > before


def test_the_host_counts_for_s3_alone(gate: Gate) -> None:
    signer = _signer(gate, "photos.localhost:8484", service="lambda")
    assert _ask(gate, signer.signed(method="GET", target="/2015-03-31/functions/f")).status == 200
    assert len(gate.upstream.asked) == 1
    assert "photos" not in gate.upstream.asked[0]


def test_an_account_before_the_host_of_s3control_is_no_bucket(gate: Gate) -> None:
    signer = _signer(gate, "123456789012.localhost:8484")
    wire = signer.signed(
        method="GET",
        target="/v20180820/configuration/publicAccessBlock",
        headers={"x-amz-account-id": "123456789012"},
    )
    assert _ask(gate, wire).status == 200
    assert gate.upstream.asked == ["GET /v20180820/configuration/publicAccessBlock"]


def test_no_other_header_names_a_bucket(gate: Gate) -> None:
    wire = _signer(gate, "localhost:8484").signed(method="GET", target="/photos/key")
    forwarded = wire.adding("X-Forwarded-Host", "secrets.localhost:8484").adding("Forwarded", "host=secrets.localhost")
    assert _ask(gate, forwarded).status == 200
    assert gate.upstream.asked == ["GET /photos/key"]
    twice = replace(wire, headers=(*wire.headers, ("Host", "secrets.localhost:8484")))
    assert _ask(gate, twice).status == 400


def test_a_form_may_be_sent_to_the_host_of_its_bucket(gate: Gate) -> None:
    form = gate.client("s3", "service", motive=None, signature_version="s3v4").generate_presigned_post("photos", "k")

    def post(host: str, path: str = "/") -> httpx.Response:
        return httpx.post(
            gate.url + path, headers={"Host": host}, data=form["fields"], files={"file": ("k", b"x")}, timeout=300
        )

    answer = post("photos.localhost:8484")
    assert (answer.status_code, answer.headers["location"]) == (204, "http://localhost:8484/photos/k")
    assert gate.upstream.asked == ["PUT /photos/k"]
    # The policy names one bucket, so the form is worth nothing at another host, and an access point is no bucket.
    other = post("secrets.localhost:8484")
    assert (other.status_code, "<Error><Code>AccessDenied</Code>" in other.text) == (403, True)
    point = post("point-123456789012.s3-accesspoint.us-east-1.amazonaws.com")
    assert (point.status_code, "<Error><Code>InvalidRequest</Code>" in point.text) == (400, True), point.text
    assert gate.upstream.asked == ["PUT /photos/k"]
