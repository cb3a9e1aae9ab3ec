"""Bad inputs at the AWS door: each gets an error in the caller's protocol and is recorded, and nothing is sent.

The cases are numbered through three files: bad inputs (1 to 40) here, malformed HTTP (41 to 49) in `test_bad_http.py`, and well-formed
calls that must be refused (50 to 60) in `test_refused_calls.py`.
"""

import gzip
import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest

from gateway.core.model.caller import ActorKind
from gateway.core.ports import Key
from gateway.core.records.record import Stage
from gateway.core.times import SystemClock
from gateway.identity.master_key import master_key
from gateway.ledger.keyring import SqlKeyRing
from tests.kit.gate import ASG, Gate
from tests.kit.signed_requests import FORM, MOTIVE, Signer, Wire, talk

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

FIELDS = f"Action=SetDesiredCapacity&Version=2011-01-01&AutoScalingGroupName={ASG}&DesiredCapacity=6"
RETENTION = {"logGroupName": "/kafka/consumer/ingest", "retentionInDays": 30}
FORM_HEADERS = {"content-type": FORM, **MOTIVE}
JSON_HEADERS = {"content-type": "application/x-amz-json-1.1", **MOTIVE}
TARGET = "Logs_20140328.PutRetentionPolicy"
DOCTYPE = b'<!DOCTYPE t [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]><Tagging><TagSet><Tag><Key>&b;</Key><Value>x</Value></Tag></TagSet></Tagging>'
LIMIT = 6 * 1024 * 1024
UNKNOWN_KEY = Key(id="SNTL0000000000000000", secret="s" * 40, actor="nobody", kind=ActorKind.AGENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One bad input: how it is made, and what it must get."""

    name: str
    make: Callable[[Gate], Wire]
    status: int
    code: str


def signer(gate: Gate, service: str = "autoscaling", actor: str = "agent", region: str = "us-east-1") -> Signer:
    """Signs as an actor of the gate."""
    key = gate.keys[actor]
    return Signer(url=gate.url, key_id=key.id, secret=key.secret, service=service, region=region)


def query(gate: Gate, body: str = FIELDS, **more: str) -> Wire:
    """A change in the query protocol that would pass."""
    return signer(gate).signed(headers={**FORM_HEADERS, **_named(more)}, body=body.encode())


def as_json(gate: Gate, body: bytes | None = None, target: str = TARGET, **more: str) -> Wire:
    """A change in the JSON protocol that would pass."""
    text = json.dumps(RETENTION).encode() if body is None else body
    return signer(gate, "logs").signed(headers={**JSON_HEADERS, "x-amz-target": target, **_named(more)}, body=text)


def s3(gate: Gate, body: bytes, target: str = "/kafka-bucket?tagging", payload: str = "", **more: str) -> Wire:
    """A change in the rest-xml protocol, by a human."""
    return signer(gate, "s3", "human").signed(
        method="PUT", target=target, headers={**MOTIVE, **_named(more)}, body=body, payload=payload
    )


def _named(more: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in more.items()}


def _by(gate: Gate, key: Key) -> Wire:
    signed = Signer(url=gate.url, key_id=key.id, secret=key.secret)
    return signed.signed(headers=FORM_HEADERS, body=FIELDS.encode())


def _json_by(gate: Gate, key: Key) -> Wire:
    signed = Signer(url=gate.url, key_id=key.id, secret=key.secret, service="logs")
    return signed.signed(headers={**JSON_HEADERS, "X-Amz-Target": TARGET}, body=json.dumps(RETENTION).encode())


def _ended(gate: Gate, *, revoked: bool) -> Key:
    ring = SqlKeyRing(gate.ledger, master=master_key("", gate.directory / "data"), clock=SystemClock())
    life = timedelta(days=1) if revoked else timedelta(seconds=-1)
    key = gate.run(ring.issue(actor="agent", kind=ActorKind.AGENT, lasts=life))
    if revoked:
        gate.run(ring.revoke(key.id))
    return key


def _dated(gate: Gate, minutes: int, service: str = "autoscaling") -> Wire:
    at = datetime.now(UTC) + timedelta(minutes=minutes)
    if service == "s3":
        return signer(gate, "s3").signed(method="GET", target="/bucket/key", at=at, payload="UNSIGNED-PAYLOAD")
    return signer(gate).signed(headers=FORM_HEADERS, body=FIELDS.encode(), at=at)


def _authorization(edit: Callable[[str], str]) -> Callable[[Gate], Wire]:
    return lambda gate: query(gate).editing("Authorization", edit)


def _claims(**more: str) -> bytes:
    return json.dumps({**RETENTION, **more}).encode()


WHO = [
    Case(name="01 unsigned", make=lambda _: Wire(headers=(("Host", "localhost"), ("Content-Type", FORM)), body=FIELDS.encode()), status=403, code="MissingAuthenticationToken"),
    Case(name="02 unknown key", make=lambda gate: _by(gate, UNKNOWN_KEY), status=403, code="SignatureDoesNotMatch"),
    Case(name="02 unknown key, json", make=lambda gate: _json_by(gate, UNKNOWN_KEY), status=403, code="InvalidSignatureException"),
    Case(name="03 wrong secret", make=lambda gate: _by(gate, replace(gate.keys["agent"], secret="w" * 40)), status=403, code="SignatureDoesNotMatch"),
    Case(name="03 wrong secret, json", make=lambda gate: _json_by(gate, replace(gate.keys["agent"], secret="w" * 40)), status=403, code="InvalidSignatureException"),
    Case(name="04 revoked key", make=lambda gate: _by(gate, _ended(gate, revoked=True)), status=403, code="InvalidClientTokenId"),
    Case(name="04 expired key", make=lambda gate: _by(gate, _ended(gate, revoked=False)), status=403, code="InvalidClientTokenId"),
    Case(name="05 a real AWS key", make=lambda gate: _by(gate, replace(UNKNOWN_KEY, id="AKIAIOSFODNN7EXAMPLE")), status=403, code="SignatureDoesNotMatch"),
    Case(name="06 six minutes late", make=lambda gate: _dated(gate, -6), status=403, code="SignatureDoesNotMatch"),
    Case(name="06 six minutes early", make=lambda gate: _dated(gate, 6), status=403, code="SignatureDoesNotMatch"),
    Case(name="06 skewed, s3", make=lambda gate: _dated(gate, -20, "s3"), status=403, code="RequestTimeTooSkewed"),
    Case(name="07 scope of another day", make=lambda gate: query(gate).with_header("X-Amz-Date", "20200101T000000Z"), status=403, code="SignatureDoesNotMatch"),
    Case(name="08 unknown region", make=lambda gate: signer(gate, region="mars-north-1").signed(headers=FORM_HEADERS, body=FIELDS.encode()), status=403, code="AccessDenied"),
    Case(name="08 region that is a host", make=lambda gate: signer(gate, region="evil.example").signed(headers=FORM_HEADERS, body=FIELDS.encode()), status=400, code="IncompleteSignature"),
    Case(name="08 wrong terminator", make=_authorization(lambda text: text.replace("aws4_request", "aws5_request")), status=403, code="SignatureDoesNotMatch"),
    Case(name="09 no signature", make=_authorization(lambda text: text.partition(", Signature")[0]), status=400, code="IncompleteSignature"),
    Case(name="09 two credentials", make=_authorization(lambda text: text + ", Credential=x"), status=400, code="IncompleteSignature"),
    Case(name="10 two Authorization headers", make=lambda gate: query(gate).adding("Authorization", "Bearer x"), status=400, code="IncompleteSignature"),
    Case(name="10 header and query", make=lambda gate: replace(query(gate), target="/?X-Amz-Signature=00"), status=400, code="IncompleteSignature"),
    Case(name="11 host unsigned", make=_authorization(lambda text: text.replace("host;", "")), status=403, code="SignatureDoesNotMatch"),
    Case(name="11 x-amz header unsigned", make=lambda gate: query(gate).adding("X-Amz-Security-Token", "t"), status=403, code="SignatureDoesNotMatch"),
    Case(name="11 motive unsigned", make=lambda gate: query(gate).adding("X-Sentinel-Reason", "t"), status=403, code="SignatureDoesNotMatch"),
    Case(name="12 body changed", make=lambda gate: replace(query(gate), body=FIELDS.replace("=6", "=7").encode()), status=403, code="SignatureDoesNotMatch"),
    Case(name="12 body is not its hash", make=lambda gate: s3(gate, b"<Tagging/>", payload="0" * 64), status=400, code="XAmzContentSHA256Mismatch"),
    Case(name="13 unsigned payload", make=lambda gate: s3(gate, b"<Tagging/>", payload="UNSIGNED-PAYLOAD"), status=403, code="AccessDenied"),
    Case(name="13 unsigned payload, query", make=lambda gate: signer(gate).signed(headers=FORM_HEADERS, body=FIELDS.encode(), payload="UNSIGNED-PAYLOAD"), status=403, code="AccessDenied"),
    Case(name="13 unsigned chunks", make=lambda gate: s3(gate, b"1\r\nx\r\n0\r\n\r\n", "/bucket/key", "STREAMING-UNSIGNED-PAYLOAD-TRAILER"), status=411, code="MissingContentLength"),
    Case(name="14 presigned change", make=lambda gate: signer(gate).presigned(target=f"/?{FIELDS}"), status=403, code="AccessDenied"),
    Case(name="15 signature version 2", make=lambda gate: query(gate).with_header("Authorization", "AWS key:c2ln"), status=400, code="IncompleteSignature"),
    Case(name="15 signature version 4A", make=_authorization(lambda text: text.replace("HMAC", "ECDSA-P256")), status=400, code="IncompleteSignature"),
    Case(name="15 bearer", make=lambda gate: query(gate).with_header("Authorization", "Bearer SNTL.x"), status=400, code="IncompleteSignature"),
]  # fmt: skip

HOW = [
    Case(name="19 empty invocation id", make=lambda gate: query(gate).adding("amz-sdk-invocation-id", ""), status=400, code="ValidationError"),
    Case(name="19 endless invocation id", make=lambda gate: query(gate).adding("amz-sdk-invocation-id", "i" * 256), status=400, code="ValidationError"),
    Case(name="19 invocation id not ASCII", make=lambda gate: query(gate).adding("amz-sdk-invocation-id", "i\xe9"), status=400, code="ValidationError"),
    Case(name="20 no action", make=lambda gate: query(gate, "Version=2011-01-01"), status=400, code="InvalidAction"),
    Case(name="20 unknown action", make=lambda gate: query(gate, FIELDS.replace("SetDesired", "Explode")), status=400, code="InvalidAction"),
    Case(name="20 unknown action, json", make=lambda gate: as_json(gate, target="Logs_20140328.Explode"), status=400, code="UnknownOperationException"),
    Case(name="22 target of another service", make=lambda gate: as_json(gate, target="DynamoDB_20120810.DeleteTable"), status=400, code="UnknownOperationException"),
    Case(name="22 no such service", make=lambda gate: signer(gate, "sentinel").signed(headers=FORM_HEADERS, body=FIELDS.encode()), status=403, code="SignatureDoesNotMatch"),
    Case(name="22 two protocol markers", make=lambda gate: query(gate, x_amz_target=TARGET), status=400, code="ValidationException"),
    Case(name="22 rpc and target", make=lambda gate: as_json(gate, smithy_protocol="rpc-v2-cbor"), status=400, code="ValidationException"),
    Case(name="23 wrong version", make=lambda gate: query(gate, FIELDS.replace("2011", "2012")), status=400, code="NoSuchVersion"),
    Case(name="24 parameter twice", make=lambda gate: query(gate, FIELDS + "&DesiredCapacity=16"), status=400, code="MalformedQueryString"),
    Case(name="24 parameter twice in the query", make=lambda gate: signer(gate).signed(method="GET", target=f"/?{FIELDS}&DesiredCapacity=16", headers=MOTIVE), status=400, code="MalformedQueryString"),
    Case(name="25 parameter in two cases", make=lambda gate: query(gate, FIELDS + "&desiredcapacity=16"), status=400, code="MalformedQueryString"),
    Case(name="26 action in query and body", make=lambda gate: signer(gate).signed(target="/?Action=DescribeTags", headers=FORM_HEADERS, body=FIELDS.encode()), status=400, code="MalformedQueryString"),
    Case(name="27 member twice", make=lambda gate: as_json(gate, b'{"logGroupName": "a", "retentionInDays": 1, "logGroupName": "b"}'), status=400, code="SerializationException"),
    Case(name="28 NaN", make=lambda gate: as_json(gate, b'{"logGroupName": "a", "retentionInDays": NaN}'), status=400, code="SerializationException"),
    Case(name="28 Infinity", make=lambda gate: as_json(gate, b'{"logGroupName": "a", "retentionInDays": -Infinity}'), status=400, code="SerializationException"),
    Case(name="28 1E400", make=lambda gate: as_json(gate, b'{"logGroupName": "a", "retentionInDays": 1E400}'), status=400, code="SerializationException"),
    Case(name="29 a hundred thousand deep", make=lambda gate: as_json(gate, b"[" * 100_000), status=400, code="SerializationException"),
    Case(name="30 five thousand digits", make=lambda gate: as_json(gate, b'{"logGroupName": "a", "retentionInDays": ' + b"9" * 5000 + b"}"), status=400, code="SerializationException"),
    Case(name="31 lone surrogate", make=lambda gate: as_json(gate, b'{"logGroupName": "\\ud800", "retentionInDays": 1}'), status=400, code="SerializationException"),
    Case(name="31 not UTF-8", make=lambda gate: as_json(gate, b'{"logGroupName": "\xff", "retentionInDays": 1}'), status=400, code="SerializationException"),
    Case(name="31 byte order mark", make=lambda gate: as_json(gate, b"\xef\xbb\xbf" + _claims()), status=400, code="SerializationException"),
    Case(name="32 NUL", make=lambda gate: as_json(gate, b'{"logGroupName": "a\\u0000", "retentionInDays": 1}'), status=400, code="SerializationException"),
    Case(name="33 unknown parameter", make=lambda gate: query(gate, FIELDS + "&Colour=red"), status=400, code="ValidationError"),
    Case(name="33 unknown member", make=lambda gate: as_json(gate, _claims(colour="red")), status=400, code="ValidationException"),
    Case(name="34 word for number", make=lambda gate: query(gate, FIELDS.replace("=6", "=abc")), status=400, code="ValidationError"),
    Case(name="34 list for string", make=lambda gate: as_json(gate, b'{"logGroupName": ["a"], "retentionInDays": 1}'), status=400, code="ValidationException"),
    Case(name="35 over 32 bits", make=lambda gate: query(gate, FIELDS.replace("=6", "=2147483648")), status=400, code="ValidationError"),
    Case(name="35 float for integer", make=lambda gate: as_json(gate, b'{"logGroupName": "a", "retentionInDays": 30.5}'), status=400, code="ValidationException"),
    Case(name="36 required parameter missing", make=lambda gate: query(gate, FIELDS.replace("&DesiredCapacity=6", "")), status=400, code="MissingParameter"),
    Case(name="37 entities", make=lambda gate: s3(gate, DOCTYPE), status=400, code="MalformedXML"),
    Case(name="38 json as text", make=lambda gate: as_json(gate, content_type="text/plain"), status=415, code="UnsupportedMediaTypeException"),
    # A form in another type names no action that could be read, and for services without REST routes nothing else says what it is.
    Case(name="38 form as multipart", make=lambda gate: query(gate, content_type="multipart/form-data; boundary=x"), status=400, code="InvalidAction"),
    Case(name="39 gzip", make=lambda gate: as_json(gate, gzip.compress(bytes(LIMIT)), content_encoding="gzip"), status=415, code="UnsupportedMediaTypeException"),
    Case(name="40 one byte too many", make=lambda gate: s3(gate, bytes(LIMIT + 1), "/bucket/key"), status=413, code="EntityTooLarge"),
    Case(name="40 one byte too many, json", make=lambda gate: as_json(gate, bytes(LIMIT + 1)), status=413, code="RequestEntityTooLargeException"),
]  # fmt: skip


@pytest.fixture(autouse=True)
def nothing_asked(gate: Gate) -> Iterator[None]:
    """Each test sees only what it sends."""
    gate.upstream.asked.clear()
    yield
    gate.upstream.behaviour = "ok"
    gate.release_all()


@pytest.mark.parametrize("case", [*WHO, *HOW], ids=lambda case: case.name)
def test_a_bad_input_is_refused_in_its_own_protocol_and_recorded(gate: Gate, case: Case) -> None:
    before = gate.records(stage=Stage.TURNED_AWAY)
    answer = talk(gate.url, case.make(gate).raw)
    assert (answer.status, answer.code) == (case.status, case.code), answer.text
    assert gate.upstream.asked == []
    (record,) = gate.records(stage=Stage.TURNED_AWAY)[len(before) :]
    assert record.stage is Stage.TURNED_AWAY


@pytest.mark.parametrize("make", [query, as_json], ids=["query", "json"])
def test_without_the_defect_the_same_requests_pass(gate: Gate, make: Callable[[Gate], Wire]) -> None:
    answer = talk(gate.url, make(gate).raw)
    assert answer.status == 200, answer.text
    assert len(gate.upstream.asked) == 1


def test_only_the_end_and_a_digest_of_a_foreign_key_are_recorded(gate: Gate) -> None:
    talk(gate.url, _by(gate, replace(UNKNOWN_KEY, id="AKIAIOSFODNN7EXAMPLE")).raw)
    kept = str(gate.records(stage=Stage.TURNED_AWAY)[-1].body.members["key_id"])
    assert kept.startswith("…MPLE sha256:")
    assert "AKIA" not in kept


def test_a_refusal_names_the_authenticated_caller(gate: Gate) -> None:
    talk(gate.url, query(gate, FIELDS + "&DesiredCapacity=16").raw)
    record = gate.records(stage=Stage.TURNED_AWAY)[-1]
    assert (record.actor, record.body.members["key_id"], record.body.members["code"]) == (
        "agent",
        gate.keys["agent"].id,
        "duplicate_parameter",
    )


@pytest.mark.parametrize("invocation", [{}, {"amz_sdk_invocation_id": "one"}], ids=["bare", "with an SDK's id"])
def test_16_the_same_signed_bytes_apply_once_and_are_answered_alike(gate: Gate, invocation: dict[str, str]) -> None:
    # Not what another test sends in the same second: that would be the same signature.
    wire = query(gate, FIELDS.replace("=6", f"={5 + len(invocation) * 2}"), **invocation)
    first, second = talk(gate.url, wire.raw), talk(gate.url, wire.raw)
    assert gate.upstream.asked == ["SetDesiredCapacity"]
    assert (first.status, first.body) == (second.status, second.body) != (0, b"")
    assert "idempotent-replayed" not in first.headers
    assert second.headers["idempotent-replayed"] == "true"


def test_17_one_invocation_id_for_two_calls_is_refused(gate: Gate) -> None:
    talk(gate.url, query(gate, amz_sdk_invocation_id="two").raw)
    other = talk(gate.url, query(gate, FIELDS.replace("=6", "=5"), amz_sdk_invocation_id="two").raw)
    assert (other.status, other.code) == (400, "IdempotentParameterMismatch")
    assert gate.upstream.asked == ["SetDesiredCapacity"]


def test_18_the_same_attempt_while_it_is_carried_out_is_a_conflict(gate: Gate) -> None:
    gate.upstream.behaviour = "slow"
    wire = query(gate, amz_sdk_invocation_id="three")
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda _: talk(gate.url, wire.raw), range(2)))
    assert sorted((answer.status, answer.code) for answer in answers) == [(200, ""), (409, "ConcurrentRequest")]
    assert gate.upstream.asked == ["SetDesiredCapacity"]


def test_40_a_body_shorter_than_announced_is_no_request(gate: Gate) -> None:
    wire = query(gate)
    cut = wire.raw[:-1]
    assert talk(gate.url, cut, hang_up=True).status in (0, 400)
    assert gate.upstream.asked == []
