"""The same signed bytes were applied again and again by changing `amz-sdk-invocation-id`, which no signature covers.

The attack: somebody who saw one signed change (a proxy, a log, a process of the same user) sends the same bytes again within the five
minutes that the signature is valid, each time with another invocation id, without one, or with other unsigned headers. What must hold: a
signature is carried out at most once, at whichever gateway on the same ledger; a client's own retries, with the same signature or a new
one, still get the answer of their first attempt.
"""

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from tests.kit.gate import ASG, Gate
from tests.kit.signed_requests import FORM, MOTIVE, Answer, Signer, Wire, talk

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]

INVOCATION = "amz-sdk-invocation-id"


_CALLS = count()


def _change(gate: Gate, capacity: int = 6, *, invocation: str | None = None, at: datetime | None = None) -> Wire:
    """A signed change as an SDK sends it: the invocation id is not among the signed headers. Empty: without one; None: a new one."""
    invocation = f"call-{next(_CALLS)}" if invocation is None else invocation
    key = gate.keys["agent"]
    body = f"Action=SetDesiredCapacity&Version=2011-01-01&AutoScalingGroupName={ASG}&DesiredCapacity={capacity}"
    signer = Signer(url=gate.url, key_id=key.id, secret=key.secret)
    wire = signer.signed(headers={"content-type": FORM, **MOTIVE}, body=body.encode(), at=at)
    return wire.adding(INVOCATION, invocation) if invocation else wire


def _send(gate: Gate, wire: Wire) -> Answer:
    answer = talk(gate.url, wire.raw)
    gate.release_all()  # a claim must not be what stops a replay
    return answer


REPLAYS: dict[str, Callable[[Wire], Wire]] = {
    "another invocation id": lambda wire: wire.with_header(INVOCATION, f"call-{next(_CALLS)}"),
    "no invocation id": lambda wire: _without(wire, INVOCATION),
    "an invocation id in other letters": lambda wire: wire.editing(INVOCATION, str.upper),
    "another attempt number": lambda wire: wire.with_header(INVOCATION, f"call-{next(_CALLS)}").adding(
        "amz-sdk-request", "attempt=2"
    ),
    "another user agent": lambda wire: wire.with_header(INVOCATION, f"call-{next(_CALLS)}").adding(
        "user-agent", "curl"
    ),
    "blanks in the proof": lambda wire: wire.with_header(INVOCATION, f"call-{next(_CALLS)}").editing(
        "Authorization", lambda proof: proof.replace(", ", ",   ")
    ),
    "the proof's parts in another order": lambda wire: wire.with_header(INVOCATION, f"call-{next(_CALLS)}").editing(
        "Authorization", _reordered
    ),
    "the service named in the path": lambda wire: wire.with_header(INVOCATION, f"call-{next(_CALLS)}").adding(
        "x-forwarded-for", "::1"
    ),
    "another accept": lambda wire: wire.with_header(INVOCATION, f"call-{next(_CALLS)}").adding(
        "accept", "application/json"
    ),
}


def _without(wire: Wire, name: str) -> Wire:
    return Wire(
        method=wire.method,
        target=wire.target,
        headers=tuple(pair for pair in wire.headers if pair[0].lower() != name),
        body=wire.body,
    )


def _reordered(proof: str) -> str:
    algorithm, _, rest = proof.partition(" ")
    return f"{algorithm} {', '.join(reversed(rest.split(', ')))}"


@pytest.mark.parametrize("replay", REPLAYS)
def test_the_same_signed_bytes_are_applied_once(gate: Gate, replay: str) -> None:
    wire = _change(gate, at=_moment())
    assert _send(gate, wire).status == 200
    for _ in range(3):
        answer = _send(gate, REPLAYS[replay](wire))
        assert (answer.status, answer.code) == (400, "ThrottlingException"), answer.text
        assert "sign it again" in answer.text
        # botocore waits for this long: it would otherwise use up its attempts in the second of the signature.
        assert (answer.headers["x-amz-retry-after"], answer.headers["retry-after"]) == ("1000", "1")
    assert gate.upstream.asked == ["SetDesiredCapacity"]
    assert gate.records()[-1].body.members["code"] == "signature_spent"


_MOMENTS: set[datetime] = set()
_APART = timedelta(seconds=3)


def _moment() -> datetime:
    """Seconds of their own for each test, so that no two tests make the same signature."""
    moment = datetime.now(UTC).replace(microsecond=0)
    while any(abs(moment - taken) <= _APART for taken in _MOMENTS):
        moment -= _APART
    _MOMENTS.add(moment)
    return moment


@pytest.mark.parametrize("first", [None, ""])
def test_a_replay_first_seen_without_an_invocation_id_is_no_other(gate: Gate, first: str | None) -> None:
    wire = _change(gate, invocation=first, at=_moment())
    assert _send(gate, wire).status == 200
    bare = _without(wire, INVOCATION)
    answers = [_send(gate, bare.adding(INVOCATION, f"n-{next(_CALLS)}")) for _ in range(5)]
    assert {answer.status for answer in answers} == {400}
    assert gate.upstream.asked == ["SetDesiredCapacity"]


def test_a_clients_own_retries_get_the_first_answer(gate: Gate) -> None:
    moment = _moment()
    wire = _change(gate, at=moment)
    first = _send(gate, wire)
    same = _send(gate, wire)
    again = _change(gate, invocation=wire.header(INVOCATION), at=moment + timedelta(seconds=1))
    signed_again = _send(gate, again)
    assert (first.status, same.status, signed_again.status) == (200, 200, 200)
    assert same.headers["idempotent-replayed"] == signed_again.headers["idempotent-replayed"] == "true"
    assert same.headers["x-sentinel-mutation"] == signed_again.headers["x-sentinel-mutation"]
    assert gate.upstream.asked == ["SetDesiredCapacity"]


def test_two_calls_of_one_second_are_told_apart_by_signing_the_second_again(gate: Gate) -> None:
    """Equal calls of one second have equal signatures. The second is asked to come again, and SDKs do so with a new signature."""
    moment = _moment()
    assert _send(gate, _change(gate, invocation="call-1", at=moment)).status == 200
    assert _send(gate, _change(gate, invocation="call-2", at=moment)).code == "ThrottlingException"
    assert _send(gate, _change(gate, invocation="call-2", at=moment + timedelta(seconds=1))).status == 200
    assert gate.upstream.asked == ["SetDesiredCapacity"] * 2


def test_a_hundred_at_once_are_one(gate: Gate) -> None:
    wire = _change(gate, at=_moment())
    answers: list[Answer] = []

    def send(number: int) -> None:
        answers.append(talk(gate.url, wire.with_header(INVOCATION, f"race-{number}").raw, seconds=300))

    threads = [threading.Thread(target=send, args=(number,)) for number in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answer.status for answer in answers].count(200) == 1
    assert gate.upstream.asked == ["SetDesiredCapacity"]


def test_what_aws_refused_may_be_sent_again(gate: Gate) -> None:
    gate.upstream.behaviour = "refuse"
    wire = _change(gate, at=_moment())
    assert _send(gate, wire).status == 400
    gate.upstream.behaviour = "ok"
    assert _send(gate, wire).status == 200
    assert _send(gate, wire.with_header(INVOCATION, f"call-{next(_CALLS)}")).code == "ThrottlingException"
    assert gate.upstream.asked == ["SetDesiredCapacity"] * 2


def test_what_is_in_doubt_is_not_sent_again(gate: Gate) -> None:
    gate.upstream.behaviour = "cut"
    wire = _change(gate, at=_moment())
    assert talk(gate.url, wire.raw).code == "OutcomeUnknown"
    gate.upstream.behaviour = "ok"
    assert _send(gate, wire.with_header(INVOCATION, f"call-{next(_CALLS)}")).status in (400, 403, 409)
    assert _send(gate, wire.with_header(INVOCATION, f"call-{next(_CALLS)}")).code == "ThrottlingException"
    assert gate.upstream.asked == ["SetDesiredCapacity"]


def test_another_gateway_on_the_same_ledger_knows_it(gate: Gate, tmp_path_factory: pytest.TempPathFactory) -> None:
    wire = _change(gate, at=_moment())
    assert _send(gate, wire).status == 200
    with Gate(directory=tmp_path_factory.mktemp("second"), data=gate.directory / "data") as second:
        for number in range(3):
            assert talk(second.url, wire.with_header(INVOCATION, f"s-{number}").raw).code == "ThrottlingException"
        assert second.upstream.asked == []
