"""Third audit, 04: four identical signed data calls were sent four times.

The attack: somebody who saw one signed write of an application (a proxy, a log) sends the same bytes again while the signature is valid. The
promise that a signature counts once held only for calls that are decided. What must hold at one gateway: a signature that covers the nonce
of its call counts once; one that does not, which boto3 gives to equal calls of one second, counts once for each nonce, for two seconds at
most. What does not hold, and why, stands in SECURITY.md.
"""

import hashlib
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import boto3
import httpx
import pytest

from gateway.core.model.caller import ActorKind
from gateway.core.records.record import Stage
from tests.kit.gate import Gate
from tests.kit.signed_requests import Answer, Signer, Wire, talk

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]
INVOCATION = "amz-sdk-invocation-id"
ATTEMPT = "amz-sdk-request"
UNSIGNED = {"x-amz-content-sha256": "UNSIGNED-PAYLOAD"}
REFUSED = (400, "ThrottlingException")
_CALLS = count()


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    """A gateway with the key of an application."""
    with Gate(directory=tmp_path_factory.mktemp("gate")) as running:
        running.issue("app", kind=ActorKind.SERVICE)
        yield running


def write(gate: Gate, *, signed: str = "", at: datetime | None = None) -> Wire:
    """A write of an application that passes; with `signed`, an invocation id that the signature covers."""
    key = gate.keys["app"]
    body = b'{"TableName":"kafka-offsets","Item":{"id":{"S":"%d"}}}' % next(_CALLS)
    headers = {"content-type": "application/x-amz-json-1.0", "x-amz-target": "DynamoDB_20120810.PutItem"}
    signer = Signer(url=gate.url, key_id=key.id, secret=key.secret, service="dynamodb")
    return signer.signed(headers={**headers, **({INVOCATION: signed} if signed else {})}, body=body, at=at)


def answers(gate: Gate, *wires: Wire) -> list[Answer]:
    return [talk(gate.url, wire.raw) for wire in wires]


def codes(found: list[Answer]) -> list[tuple[int, str]]:
    return [(answer.status, answer.code if answer.status >= 400 else "") for answer in found]


@pytest.mark.parametrize("signed", ["", "call-1"], ids=["without a nonce", "with a signed nonce"])
def test_identical_bytes_are_sent_once(gate: Gate, signed: str) -> None:
    wire = write(gate, signed=signed)
    found = answers(gate, wire, wire, wire, wire)
    assert codes(found) == [(200, ""), REFUSED, REFUSED, REFUSED]
    assert gate.upstream.asked == ["PutItem"]
    assert found[1].headers["retry-after"] == "1"
    assert gate.records(stage=Stage.TURNED_AWAY)[-1].actor == "app"


REPLAYS: dict[str, Any] = {
    "another attempt": lambda wire: wire.with_header(ATTEMPT, "attempt=2; max=3"),
    "another user agent": lambda wire: wire.with_header("User-Agent", "curl"),
    "blanks in the proof": lambda wire: wire.editing("Authorization", lambda proof: proof.replace(", ", ",   ")),
    "an id of another name": lambda wire: wire.adding("aws-sdk-invocation-id", "x"),
}


@pytest.mark.parametrize("replay", REPLAYS)
def test_a_signature_that_covers_its_nonce_counts_once_whatever_else_changes(gate: Gate, replay: str) -> None:
    wire = write(gate, signed=f"call-{next(_CALLS)}")
    assert codes(answers(gate, wire, REPLAYS[replay](wire))) == [(200, ""), REFUSED]
    assert gate.upstream.asked == ["PutItem"]


def test_a_signature_of_boto3_is_good_for_its_second_and_never_later(gate: Gate) -> None:
    wire = write(gate)
    end = time.monotonic() + 300
    while codes(answers(gate, wire.adding(INVOCATION, f"call-{next(_CALLS)}"))) != [REFUSED]:
        assert time.monotonic() < end
        time.sleep(0.2)
    sent = len(gate.upstream.asked)
    assert codes(answers(gate, *(wire.adding(INVOCATION, f"call-{next(_CALLS)}") for _ in range(3)))) == [REFUSED] * 3
    assert len(gate.upstream.asked) == sent


def test_bytes_of_boto3_are_sent_once_too(gate: Gate) -> None:
    wire = write(gate).adding(INVOCATION, "call").adding(ATTEMPT, "attempt=1; max=3")
    assert codes(answers(gate, wire, wire)) == [(200, ""), REFUSED]


def test_an_application_that_makes_equal_calls_at_once_is_not_slowed_down(gate: Gate) -> None:
    """Polls of one queue have one signature in one second: they are different calls."""
    key = gate.keys["app"]
    client = boto3.client(
        "sqs",
        endpoint_url=gate.url,
        region_name="us-east-1",
        aws_access_key_id=key.id,
        aws_secret_access_key=key.secret,
    )
    url = "https://sqs.us-east-1.amazonaws.com/123456789012/kafka-shard-0"
    for _ in range(20):
        assert client.receive_message(QueueUrl=url)["ResponseMetadata"]["RetryAttempts"] == 0
    assert gate.upstream.asked == ["ReceiveMessage"] * 20


def test_a_signature_that_aws_refused_is_good_again(gate: Gate) -> None:
    wire = write(gate, signed=f"call-{next(_CALLS)}")
    gate.upstream.behaviour = "refuse"
    assert answers(gate, wire)[0].code.endswith("ResourceNotFoundException")
    gate.upstream.behaviour = "ok"
    assert codes(answers(gate, wire, wire)) == [(200, ""), REFUSED]


def test_a_call_whose_answer_was_lost_is_not_sent_again_by_its_signature(gate: Gate) -> None:
    wire = write(gate, signed=f"call-{next(_CALLS)}")
    gate.upstream.behaviour = "cut"
    assert answers(gate, wire)[0].status == 503
    gate.upstream.behaviour = "ok"
    assert codes(answers(gate, wire)) == [REFUSED]
    assert gate.upstream.asked == ["PutItem"]


def test_what_was_signed_before_the_gateway_started_is_signed_again(gate: Gate) -> None:
    """It may have passed before a restart, which a new process does not know."""
    early = write(gate, at=datetime.now(UTC) - timedelta(seconds=250))
    [answer] = answers(gate, early)
    assert ((answer.status, answer.code), "before this gateway started" in answer.text) == (REFUSED, True)
    assert gate.upstream.asked == []


def test_an_object_is_stored_once_by_its_signature(gate: Gate) -> None:
    key = gate.keys["app"]
    signer = Signer(url=gate.url, key_id=key.id, secret=key.secret, service="s3")
    wire = signer.signed(
        method="PUT",
        target="/b/k",
        body=b"x",
        payload="2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881",
    )
    assert codes(answers(gate, wire, wire)) == [(200, ""), REFUSED]
    assert len(gate.upstream.asked) == 1


def _presigned(gate: Gate, name: str) -> str:
    client = gate.client("s3", "app", motive=None, signature_version="s3v4")
    url: str = client.generate_presigned_url("put_object", Params={"Bucket": "b", "Key": name}, ExpiresIn=86_400)
    return url


def test_a_presigned_url_writes_once(gate: Gate) -> None:
    url = _presigned(gate, "once")
    found = [httpx.put(url, content=body, headers=UNSIGNED) for body in (b"mine", b"theirs", b"mine")]
    assert [answer.status_code for answer in found] == [200, 400, 400]
    assert "A presigned URL writes once" in found[1].text
    assert len(gate.upstream.asked) == 1
    assert httpx.put(_presigned(gate, "another"), content=b"x", headers=UNSIGNED).status_code == 200


def test_a_presigned_url_that_aws_refused_is_good_again(gate: Gate) -> None:
    url = _presigned(gate, "again")
    gate.upstream.behaviour = "refuse"
    assert httpx.put(url, content=b"x", headers=UNSIGNED).status_code >= 400
    gate.upstream.behaviour = "ok"
    assert [httpx.put(url, content=b"x", headers=UNSIGNED).status_code for _ in range(2)] == [200, 400]


def test_a_presigned_url_reads_as_often_as_it_is_asked(gate: Gate) -> None:
    client = gate.client("s3", "app", motive=None, signature_version="s3v4")
    url = client.generate_presigned_url("get_object", Params={"Bucket": "b", "Key": "k"})
    assert len({httpx.get(url).status_code for _ in range(3)}) == 1
    assert len(gate.upstream.asked) == 3


def test_an_upload_that_broke_off_is_sent_again_by_its_signature(gate: Gate) -> None:
    """AWS stores nothing of it, and its client tries again."""
    key = gate.keys["app"]
    signer = Signer(url=gate.url, key_id=key.id, secret=key.secret, service="s3")
    body = b"y" * 100_000
    digest = hashlib.sha256(body).hexdigest()
    wire = signer.signed(method="PUT", target="/b/broken", headers={INVOCATION: "call-b"}, body=body, payload=digest)
    talk(gate.url, wire.raw[:-50_000], hang_up=True)
    assert codes(answers(gate, wire, wire)) == [(200, ""), REFUSED]
    assert [len(each) for each in gate.upstream.bodies] == [len(body)]
