"""Tenth audit, 31: a request is begun with a key, and ended after a person has revoked the key or stopped the actor.

The attack: an application sends the head of a request, and holds back the rest of its body: half a minute for a message, hours for an object, of
which a byte now and then is enough. Then its key is revoked, or it is stopped. When the body ended, the message was sent, the object was stored,
a person's word was taken. What must hold: what arrives late counts only if the key still holds and nobody has stopped it, and of an object AWS
then has no whole.
"""

import hashlib
import json
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
from botocore.auth import S3SigV4Auth, SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.stop import StopScope
from gateway.core.records.record import Stage
from gateway.core.times import SystemClock
from gateway.ledger import keyring
from gateway.line import standing
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

QUEUE = "https://sqs.us-east-1.amazonaws.com/123456789012/kafka-shard-0"


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    """A gateway for which every request arrives late, and which asks for a key each time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keyring, "MAX_AGE", 0.0)
        patch.setattr(standing, "LATELY", timedelta(0))
        with Gate(directory=tmp_path_factory.mktemp("gate")) as running:
            yield running


def _signed(gate: Gate, actor: str, kind: str) -> bytes:
    """The head of a signed request."""
    service, path, body, headers = REQUESTS[kind]
    key = gate.keys[actor]
    given = {"Content-Length": str(len(body)), **headers}
    sign: Any = S3SigV4Auth if service == "s3" else SigV4Auth
    method = "PUT" if service == "s3" else "POST"
    if service == "s3":
        given["x-amz-content-sha256"] = hashlib.sha256(body).hexdigest()
    request = AWSRequest(method, gate.url + path, headers=given, data=body)
    sign(Credentials(key.id, key.secret), service, "us-east-1").add_auth(request)
    return _head(gate, method, path, dict(request.headers.items()))


def _head(gate: Gate, method: str, path: str, headers: Mapping[str, str]) -> bytes:
    fields = {"Host": urlsplit(gate.url).netloc, **headers}
    return "\r\n".join(
        [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items()), "", ""]
    ).encode()


def _late(gate: Gate, actor: str, head: bytes, body: bytes, between: Callable[[], object]) -> bytes:
    """The head of the answer to a request whose body ends after `between`, once the gateway has looked up its key."""
    application: Any = gate.app._app
    looked_up = application.state.ports.keys._cache
    parts = urlsplit(gate.url)
    with socket.create_connection((parts.hostname, parts.port), timeout=300) as client:
        client.sendall(head + body[: len(body) // 2])
        while gate.keys[actor].id not in looked_up:
            time.sleep(0.01)
        between()
        client.sendall(body[len(body) // 2 :])
        answer = b""
        while b"\r\n\r\n" not in answer and (more := client.recv(65_536)):
            answer += more
    return answer


MESSAGE = json.dumps({"QueueUrl": QUEUE, "MessageBody": "x" * 100}).encode()
OBJECT = b"z" * 300_000
JSON_1_0 = {"X-Amz-Target": "AmazonSQS.SendMessage", "Content-Type": "application/x-amz-json-1.0"}
FORM = {"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"}
REQUESTS: dict[str, tuple[str, str, bytes, Mapping[str, str]]] = {
    "message": ("sqs", "/", MESSAGE, JSON_1_0),
    "object": ("s3", "/data/key.bin", OBJECT, {}),
    "read": ("autoscaling", "/", b"Action=DescribeAutoScalingGroups&Version=2011-01-01", FORM),
}


@pytest.mark.parametrize("kind", REQUESTS)
def test_what_ends_after_its_key_was_revoked_is_not_sent(gate: Gate, kind: str) -> None:
    actor = gate.issue(f"revoked-{kind}", kind=ActorKind.SERVICE)
    body = REQUESTS[kind][2]
    gate.upstream.asked.clear()
    answer = _late(gate, actor, _signed(gate, actor, kind), body, lambda: gate.revoke(actor))
    assert answer.startswith(b"HTTP/1.1 403 ")
    assert gate.upstream.asked == []
    assert "was revoked" in str(gate.records(stage=Stage.TURNED_AWAY)[-1].body)


def test_what_ends_while_its_key_holds_is_sent(gate: Gate) -> None:
    for kind, (_, _, body, _) in REQUESTS.items():
        actor = gate.issue(f"slow-{kind}", kind=ActorKind.SERVICE)
        answer = _late(gate, actor, _signed(gate, actor, kind), body, lambda: None)
        assert answer.startswith(b"HTTP/1.1 200 "), kind


@pytest.mark.parametrize("kind", ["message", "object"])
def test_what_ends_after_its_actor_was_stopped_is_not_sent(gate: Gate, kind: str) -> None:
    actor = gate.issue(f"stopped-{kind}", kind=ActorKind.SERVICE)
    body = REQUESTS[kind][2]

    def stop() -> None:
        by = Caller(actor="ops", kind=ActorKind.HUMAN, key_id=gate.keys["human"].id, roles=("operator",))
        gate.run(gate.ledger.stop(StopScope.ACTOR, actor, by=by, reason="found odd", at=SystemClock().now()))
        application: Any = gate.app._app
        gate.run(application.state.ports.stops.refresh())

    gate.upstream.asked.clear()
    answer = _late(gate, actor, _signed(gate, actor, kind), body, stop)
    assert answer.startswith(b"HTTP/1.1 403 ")
    assert gate.upstream.asked == []


def test_a_word_that_ends_after_its_key_was_revoked_counts_no_more(gate: Gate) -> None:
    actor = gate.issue("operator", kind=ActorKind.HUMAN, roles=("operator",))
    body = json.dumps({"scope": "all", "reason": "none"}).encode()
    headers = {**gate.bearer(actor), "Content-Type": "application/json", "Content-Length": str(len(body))}
    answer = _late(gate, actor, _head(gate, "POST", "/v1/stops", headers), body, lambda: gate.revoke(actor))
    assert answer.startswith(b"HTTP/1.1 403 ")
    assert not [each for each in gate.run(gate.ledger.stops()) if each.scope is StopScope.ALL]
