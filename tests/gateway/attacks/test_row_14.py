"""What a stranger, or a refused agent, could make the gateway keep: bodies in memory, records on disk, and an oracle for key ids.

The attack: a hundred connections send 6 MB each with nothing but a key id, and hold 600 MB; unknown key ids are answered at once and known
ones later; one refused call of 64 kB stores 717 kB; strangers write 5.8 GB of records a day. What must hold: all bodies in memory share
one budget, and who finds it used up gets 503 with Retry-After while small requests still pass; nothing tells a known key id from an
unknown one; what is refused stores no multiple of what was sent. (Limits by day: `tests/gateway/ledger/decide/test_refusals.py`. Calls of
`/v1` that broke it: `tests/gateway/doors/api/test_fuzz.py`.)
"""

import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from gateway.core.model.json import canonical_text
from gateway.core.settings import ServerSettings
from gateway.ledger.decide.write_set import MAX_DENIED, MAX_HELD
from tests.kit.gate import ASG, Gate
from tests.kit.signed_requests import FORM, MOTIVE, Answer, Signer, Wire, talk

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

MEGABYTE = 1 << 20
UNKNOWN = "SNTL9999999999999999"
WHY = {"intent": "availability", "motivation": "incident", "evidence": ["A-1"]}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    """A gateway that keeps 8 MB of bodies."""
    server = ServerSettings(max_buffered_bytes=8 * MEGABYTE)
    with Gate(directory=tmp_path_factory.mktemp("small"), server=server) as running:
        yield running


@contextmanager
def _half_sent(gate: Gate, size: int, key_id: str) -> Iterator[socket.socket]:
    """A connection that has sent all but the last byte of a body, with a proof that nobody can verify before the end."""
    signer = Signer(url=gate.url, key_id=key_id, secret="guessed")
    wire = signer.signed(headers={"content-type": FORM, **MOTIVE}, body=b"x" * size)
    parts = urlsplit(gate.url)
    with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=300) as connection:
        connection.settimeout(300)
        with suppress(ConnectionResetError, BrokenPipeError):  # it may be refused already
            connection.sendall(wire.raw[:-1])
        yield connection


def _change(gate: Gate, key_id: str = "", secret: str = "", **signing: Any) -> Wire:
    key = gate.keys["agent"]
    signer = Signer(url=gate.url, key_id=key_id or key.id, secret=secret or key.secret)
    body = signing.pop("body", f"Action=DescribeTags&Version=2011-01-01&MaxRecords={ASG}".encode())
    return signer.signed(headers={"content-type": FORM, **MOTIVE}, body=body, **signing)


def _held(gate: Gate) -> int:
    """Bytes of bodies that the gateway holds now."""

    async def used() -> int:
        return int(gate.app._budget.used)

    return gate.run(used())


@pytest.mark.slow
@pytest.mark.parametrize("known", [True, False], ids=["a known key id", "an unknown key id"])
def test_a_hundred_connections_hold_no_more_than_the_budget(small: Gate, known: bool) -> None:
    key_id = small.keys["agent"].id if known else UNKNOWN
    with ExitStack() as connections:
        for _ in range(60):
            connections.enter_context(_half_sent(small, MEGABYTE, key_id))
            assert _held(small) <= 8 * MEGABYTE
        assert _held(small) > 4 * MEGABYTE
        # A usual request still has room, at both doors.
        assert talk(small.url, _change(small).raw).status == 200
        assert httpx.get(f"{small.url}/v1/records", headers=small.bearer("human")).status_code == 200
        large = _post(small, b'{"service":"' + b"x" * MEGABYTE + b'"}')
        assert (large.status_code, large.json()["code"], large.headers["retry-after"]) == (503, "overloaded", "1")
        assert large.json()["retry_safe"] is True
        answer = _large(small)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        assert "ServiceUnavailable" in answer.text
    _released(small)
    assert _post(small, b'{"service":"' + b"x" * MEGABYTE + b'"}').status_code == 400


def _released(gate: Gate) -> None:
    """Wait until the connections that were closed gave back what they held."""
    for _ in range(10_000):
        if _held(gate) == 0:
            return
    raise AssertionError(_held(gate))


def _post(gate: Gate, body: bytes, actor: str = "agent") -> httpx.Response:
    headers = {"content-type": "application/json", **gate.bearer(actor)}
    return httpx.post(f"{gate.url}/v1/mutations", content=body, headers=headers, timeout=300)


def _large(gate: Gate) -> httpx.Response:
    """The answer to a signed request of a megabyte, read by a client that sends all of it first."""
    wire = _change(gate, body=b"Action=DescribeTags&Version=2011-01-01&A=" + b"x" * MEGABYTE)
    return httpx.post(f"{gate.url}/", content=wire.body, headers=list(wire.headers), timeout=300)


# Which keys exist -----------------------------------------------------------------------------------------------------

STRANGERS = {
    "a form": {},
    "a stated hash": {"payload": "0" * 64},
    "no payload signed": {"payload": "UNSIGNED-PAYLOAD"},
    "signed chunks": {"payload": "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"},
    "ten minutes old": {"at": datetime.now(UTC) - timedelta(minutes=10)},
    "an hour ahead": {"at": datetime.now(UTC) + timedelta(hours=1)},
    "too large a body": {"body": b"x" * (7 * MEGABYTE)},
    "no operation": {"target": "/nothing"},
}


@pytest.mark.parametrize("case", STRANGERS)
def test_an_unknown_key_id_gets_the_answer_of_a_wrong_secret(gate: Gate, case: str) -> None:
    def answer(key_id: str) -> tuple[int, str, str]:
        wire = _change(gate, key_id=key_id, secret="guessed", **STRANGERS[case])  # type: ignore[arg-type]  # a table
        got = talk(gate.url, wire.raw)
        return got.status, got.code, _without_ids(got)

    known = answer(gate.keys["agent"].id)
    assert answer(UNKNOWN) == known
    assert answer("AKIAIOSFODNN7EXAMPLE") == known
    assert known[0] in (400, 403, 413)


def _without_ids(answer: Answer) -> str:
    """The text without what differs in every answer: the request's id and the time."""
    text = answer.text.replace(answer.headers.get("x-amzn-requestid", "none"), "")
    return "".join(character for character in text if not character.isdigit())


@pytest.mark.parametrize("sent", [0, 1, 100])
def test_a_stranger_waits_for_the_body_as_a_known_key_does(gate: Gate, sent: int) -> None:
    """Whether an answer came before the body was complete would tell one from the other."""
    for key_id in (gate.keys["agent"].id, UNKNOWN):
        wire = _change(gate, key_id=key_id, secret="guessed", body=b"x" * 101)
        parts = urlsplit(gate.url)
        with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=300) as connection:
            connection.sendall(wire.raw[: len(wire.raw) - 101 + sent])
            connection.settimeout(0.3)
            with pytest.raises(TimeoutError):
                connection.recv(1)
            connection.settimeout(300)
            connection.sendall(wire.raw[len(wire.raw) - 101 + sent :])
            assert b" 403 " in connection.recv(100)


# What a refusal stores ------------------------------------------------------------------------------------------------


def _proposal(service: str, operation: str, parameters: dict[str, Any]) -> bytes:
    body = {"service": service, "operation": operation, "parameters": parameters, "motive": WHY}
    return json.dumps(body).encode()


def _rules(count: int, cidr: str) -> dict[str, Any]:
    ranges = [{"CidrIp": cidr.format(number // 250, number % 250), "Description": "d" * 20} for number in range(count)]
    permission = {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "IpRanges": ranges}
    return {"GroupId": "sg-0abc1234", "IpPermissions": [permission]}


REFUSED = {
    "ingress from everywhere": _proposal("ec2", "AuthorizeSecurityGroupIngress", _rules(900, "203.{}.{}.0/24")),
    "a thousand alarms": _proposal("cloudwatch", "DeleteAlarms", {"AlarmNames": [f"a{n}" * 12 for n in range(1_000)]}),
    "a document of 64 kB": _proposal(
        "iam", "PutRolePolicy", {"RoleName": "r", "PolicyName": "p", "PolicyDocument": "x" * 64_000}
    ),
    "an item of 64 kB": _proposal("dynamodb", "PutItem", {"TableName": "t", "Item": {"a": {"S": "x" * 64_000}}}),
    "tags of 64 kB": _proposal(
        "autoscaling",
        "CreateOrUpdateTags",
        {
            "Tags": [
                {
                    "ResourceId": ASG,
                    "ResourceType": "auto-scaling-group",
                    "Key": f"k{n}",
                    "Value": "v" * 60,
                    "PropagateAtLaunch": True,
                }
                for n in range(500)
            ]
        },
    ),
    "variables of 64 kB": _proposal(
        "lambda",
        "UpdateFunctionConfiguration",
        {"FunctionName": "kafka-rebalancer", "Environment": {"Variables": {f"A{n}": "x" * 60 for n in range(900)}}},
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", REFUSED)
def test_a_refused_call_stores_no_multiple_of_itself(gate: Gate, case: str) -> None:
    before = len(gate.records())
    answer = _post(gate, REFUSED[case])
    assert answer.status_code in (202, 400, 403), answer.text
    stored = sum(len(canonical_text(record.body.members)) for record in gate.records()[before:])
    assert stored <= (MAX_HELD if answer.status_code == 202 else MAX_DENIED)
    assert stored <= 2 * len(REFUSED[case])
