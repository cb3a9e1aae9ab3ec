"""Uploads of objects: every way in which AWS's clients sign a body is verified, and what is wrong never reaches its end at AWS."""

import base64
import hashlib
import hmac
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from botocore.auth import S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import ClientError

from gateway.core.settings import ServerSettings, UnsignedUploads
from gateway.identity.canonical import EMPTY_SHA256, signing_key
from tests.kit.gate import Gate
from tests.kit.signed_requests import Answer, Signer, Wire, talk

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]

BODY = b"0123456789abcdef" * 8192
"""128 KiB: more than one piece."""
CRC = base64.b64encode(zlib.crc32(BODY).to_bytes(4, "big")).decode()
SIGNED_CHUNKS = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
UNSIGNED_CHUNKS = "STREAMING-UNSIGNED-PAYLOAD-TRAILER"
LENGTH = {"x-amz-decoded-content-length": str(len(BODY)), "content-encoding": "aws-chunked"}
TRAILER = {**LENGTH, "x-amz-trailer": "x-amz-checksum-crc32"}


def _signer(gate: Gate, actor: str = "service") -> Signer:
    key = gate.keys[actor]
    return Signer(url=gate.url, key_id=key.id, secret=key.secret, service="s3")


def _put(
    gate: Gate, payload: str, body: bytes, headers: dict[str, str] | None = None, target: str = "/bucket/key"
) -> Wire:
    # A signature counts once and names no moment finer than a second, so each request is made another one.
    unique = {**(headers or {}), "x-test-call": uuid4().hex}
    return replace(_signer(gate).signed(method="PUT", target=target, headers=unique, payload=payload), body=body)


def _plain(gate: Gate, body: bytes = BODY) -> Wire:
    return _put(gate, hashlib.sha256(BODY).hexdigest(), body)


def _signed_chunks(gate: Gate, *, trailer: bool = False, change: bytes = b"") -> Wire:
    wire = _put(gate, SIGNED_CHUNKS + ("-TRAILER" if trailer else ""), b"", TRAILER if trailer else LENGTH)
    stamp, seed = wire.header("X-Amz-Date"), wire.header("Authorization").rpartition("=")[2]
    key = signing_key(gate.keys["service"].secret, stamp[:8], "us-east-1", "s3")
    scope = f"{stamp}\n{stamp[:8]}/us-east-1/s3/aws4_request"

    def signature(kind: str, text: str) -> str:
        return hmac.digest(key, f"AWS4-HMAC-SHA256-{kind}\n{scope}\n{text}".encode(), "sha256").hex()

    out, previous = b"", seed
    for at in (*range(0, len(BODY), 65536), len(BODY)):
        data = BODY[at : at + 65536]
        previous = signature("PAYLOAD", f"{previous}\n{EMPTY_SHA256}\n{hashlib.sha256(data).hexdigest()}")
        out += f"{len(data):x};chunk-signature={previous}\r\n".encode() + data + (b"\r\n" if data else b"")
    if trailer:
        field = f"x-amz-checksum-crc32:{CRC}\n"
        end = signature("TRAILER", f"{previous}\n{hashlib.sha256(field.encode()).hexdigest()}")
        out += f"x-amz-checksum-crc32:{CRC}\r\nx-amz-trailer-signature:{end}\r\n".encode()
    out += b"\r\n"
    return replace(wire, body=out.replace(change, b"!" * len(change), 1) if change else out)


def _unsigned_chunks(gate: Gate, crc: str = CRC) -> Wire:
    out = b"".join(b"4000\r\n" + BODY[at : at + 16384] + b"\r\n" for at in range(0, len(BODY), 16384))
    return _put(gate, UNSIGNED_CHUNKS, out + f"0\r\nx-amz-checksum-crc32:{crc}\r\n\r\n".encode(), TRAILER)


def _presigned(gate: Gate, body: bytes = BODY, actor: str = "service") -> Wire:
    return replace(_url(gate, "PUT", actor=actor), body=body)


def _url(gate: Gate, method: str, target: str = "/bucket/key", actor: str = "service") -> Wire:
    """A request with a presigned URL, as S3's clients make it: the payload is not signed."""
    key = gate.keys[actor]
    request = AWSRequest(method=method, url=gate.url + target)
    S3SigV4QueryAuth(Credentials(key.id, key.secret), "s3", "us-east-1").add_auth(request)
    parts = urlsplit(request.url)
    return Wire(method=method, target=f"{parts.path}?{parts.query}", headers=(("Host", parts.netloc),))


def _answer(gate: Gate, wire: Wire) -> Answer:
    return talk(gate.url, wire.raw, seconds=300)


GOOD: dict[str, Callable[[Gate], Wire]] = {
    "signed hash": _plain,
    "signed chunks": _signed_chunks,
    "signed chunks with a trailer": lambda gate: _signed_chunks(gate, trailer=True),
    "unsigned chunks with a trailer": _unsigned_chunks,
    "unsigned": lambda gate: _put(gate, "UNSIGNED-PAYLOAD", BODY),
    "presigned": _presigned,
    "a part": lambda gate: _put(gate, "UNSIGNED-PAYLOAD", BODY, target="/bucket/key?partNumber=1&uploadId=u"),
}


@pytest.mark.parametrize("name", GOOD)
def test_an_object_arrives_whole_however_it_is_signed(gate: Gate, name: str) -> None:
    answer = _answer(gate, GOOD[name](gate))
    assert answer.status == 200, answer.text
    (sent,), (headers,) = gate.upstream.bodies, gate.upstream.headers
    if "X-Amz-Trailer" in headers or "x-amz-trailer" in headers:
        # The client's checksum goes with it, so that AWS compares it too.
        assert sent.endswith(f"0\r\nx-amz-checksum-crc32:{CRC}\r\n\r\n".encode())
        assert len(sent) == int(headers["Content-Length"])
    else:
        assert sent == BODY


BAD: dict[str, tuple[Callable[[Gate], Wire], str]] = {
    "another body than the signed hash": (lambda gate: _plain(gate, b"!" + BODY[1:]), "XAmzContentSHA256Mismatch"),
    "a changed chunk": (lambda gate: _signed_chunks(gate, change=b"0123"), "SignatureDoesNotMatch"),
    "a changed trailer": (
        lambda gate: _signed_chunks(gate, trailer=True, change=CRC.encode()),
        "SignatureDoesNotMatch",
    ),
    "another checksum": (lambda gate: _unsigned_chunks(gate, "AAAAAA=="), "BadDigest"),
    "too short": (lambda gate: replace(_unsigned_chunks(gate), body=b"0\r\n\r\n"), "IncompleteBody"),
    "chunks that are none": (lambda gate: replace(_unsigned_chunks(gate), body=b"hello\r\n"), "IncompleteBody"),
    "no length": (lambda gate: _put(gate, UNSIGNED_CHUNKS, b"0\r\n\r\n"), "MissingContentLength"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_not_the_signed_object_never_ends_at_aws(gate: Gate, name: str) -> None:
    make, code = BAD[name]
    answer = _answer(gate, make(gate))
    assert (answer.status >= 400, answer.code) == (True, code), answer.text
    # The stub records a request once its body has ended.
    assert gate.upstream.bodies == []


def test_a_client_that_hangs_up_leaves_nothing_at_aws(gate: Gate) -> None:
    raw = _plain(gate).raw
    talk(gate.url, raw[: len(raw) // 2], hang_up=True, seconds=300)
    assert gate.upstream.bodies == []
    assert _answer(gate, _plain(gate)).status == 200


def test_a_presigned_upload_needs_a_key_whose_data_plane_passes(gate: Gate) -> None:
    answer = _answer(gate, _presigned(gate, actor="agent"))
    assert (answer.status, answer.code) == (403, "AccessDenied")
    assert "data_plane" in answer.text
    assert gate.upstream.bodies == []


def test_presigned_calls_are_counted_as_what_they_are(gate: Gate) -> None:
    _answer(gate, _presigned(gate))
    _answer(gate, _url(gate, "GET"))
    _answer(gate, _plain(gate))
    gate.run(gate.app._aws.data._counts.flush())
    passed: list[Any] = [record.body.members for record in gate.records() if record.stage.value == "passed"]
    found = {(body["call"]["operation"], body["call"]["class"], body["door"]) for body in passed}
    assert {
        ("PutObject", "data", "presigned"),
        ("GetObject", "read", "presigned"),
        ("PutObject", "data", "aws"),
    } <= found
    assert gate.run(gate.ledger.verify()) > 0


def test_a_presigned_change_of_anything_else_is_refused(gate: Gate) -> None:
    answer = _answer(gate, _url(gate, "DELETE", "/bucket"))
    assert (answer.status, answer.code) == (403, "AccessDenied")
    assert gate.upstream.asked == []


def test_an_agents_upload_is_decided_by_its_head(gate: Gate) -> None:
    """Nothing of the body is read: the client waits for `100 Continue`, and gets the refusal instead."""
    signer = _signer(gate, "agent")
    wire = signer.signed(method="PUT", target="/anything/key", payload=hashlib.sha256(BODY).hexdigest())
    lines = (*wire.headers, ("Content-Length", str(len(BODY))), ("Expect", "100-continue"), ("Connection", "close"))
    head = "PUT /anything/key HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in lines)
    answer = talk(gate.url, head.encode() + b"\r\n", seconds=300)
    assert answer.status == 403, answer.text
    call: Any = gate.records()[-1].body.members["call"]
    assert call["parameters"]["Body"] == {"bytes": len(BODY), "sha256": hashlib.sha256(BODY).hexdigest()}


def test_a_refused_upload_is_read_so_that_its_client_sees_the_refusal(gate: Gate) -> None:
    with pytest.raises(ClientError) as refused:
        gate.client("s3").put_object(Bucket="anything", Key="k", Body=b"x" * (8 << 20))
    assert refused.value.response["ResponseMetadata"]["HTTPStatusCode"] == 403
    assert gate.upstream.bodies == []


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    """A gateway with small limits, which takes no unsigned bodies."""
    server = ServerSettings(max_object_bytes=100_000, unsigned_uploads=UnsignedUploads.NEVER)
    directory: Path = tmp_path_factory.mktemp("strict")
    with Gate(directory=directory, server=server) as running:
        yield running


def test_the_limit_of_an_object_names_its_setting(strict: Gate) -> None:
    answer = _answer(strict, _plain(strict))
    assert (answer.status, answer.code) == (413, "EntityTooLarge")
    assert "server.max_object_bytes" in answer.text


def test_unsigned_bodies_can_be_forbidden(strict: Gate) -> None:
    wire = _put(strict, "UNSIGNED-PAYLOAD", b"x").with_header("User-Agent", "aws-sdk-js/3.1162.0 api/s3#3")
    answer = _answer(strict, wire)
    assert (answer.status, answer.code) == (403, "AccessDenied")
    assert "JavaScript SDK" in answer.text
    assert "server.unsigned_uploads" in answer.text


@pytest.mark.parametrize(
    ("service", "call", "setting"),
    [
        (
            "dynamodb",
            lambda client: client.put_item(TableName="t", Item={"id": {"S": "x" * (7 << 20)}}),
            "server.max_body_bytes",
        ),
        (
            "lambda",
            lambda client: client.invoke(FunctionName="f", Payload=b"x" * (65 << 20)),
            "server.max_body_bytes",
        ),
    ],
)
def test_every_limit_names_its_setting(gate: Gate, service: str, call: Any, setting: str) -> None:
    with pytest.raises(ClientError, match=setting):
        call(gate.client(service))


def test_a_refused_client_that_waits_with_its_body_sends_its_next_request(gate: Gate) -> None:
    client = gate.client("s3", "agent", None)
    for _ in range(3):
        with pytest.raises(ClientError, match="AccessDenied"):
            client.put_object(Bucket="bucket", Key="key", Body=BODY)
