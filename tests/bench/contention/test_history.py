"""The check of a history finds each kind of wrong that it is there for, and nothing in a history that is right."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from gateway.core.records.record import Record, Stage
from tests.bench.contention.callers import Answer
from tests.bench.contention.history import History
from tests.bench.contention.wishes import Wish
from tests.kit.bodies import sample_record

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def wish(value: int, actor: str = "a") -> Wish:
    return Wish(actor=actor, queue="queue-0", value=value, intent="cost", motivation="budget", evidence=())


def decided(value: int, *, supersedes: Sequence[int] = (), carried_out: bool = True, actor: str = "a") -> Record:
    url = "https://sqs.us-east-1.amazonaws.com/123456789012/queue-0"
    body: Mapping[str, Any] = {
        "call": {"parameters": {"QueueUrl": url, "Attributes": {"VisibilityTimeout": str(value)}}},
        "decision": {"carried_out": carried_out, "supersedes": [f"claim-{each}" for each in supersedes]},
        "claims": [{"id": f"claim-{value}", "address": "aws_sqs_queue.queue[0]", "attribute": "timeout"}],
        "attempt": {"idempotency_key": wish(value).recorded_key},
    }
    return sample_record(stage=Stage.DECIDED, at=NOW, mutation_id=f"mut-{value}", actor=actor, body=body)


def settled(value: int, outcome: str = "applied") -> Record:
    return sample_record(stage=Stage.SETTLED, at=NOW, mutation_id=f"mut-{value}", actor="a", body={"outcome": outcome})


def told(value: int, status: int = 200, code: str = "") -> Answer:
    return Answer(wish=wish(value), status=status, code=code)


RIGHT = [decided(1), settled(1), decided(2, supersedes=[1], actor="b"), settled(2)]
ANSWERS = [told(1), told(2), told(3, 403, "refused")]


def problems(
    records: Sequence[Record] = RIGHT,
    answers: Sequence[Answer] = ANSWERS,
    arrived: Sequence[int] = (1, 2),
    claims: frozenset[str] = frozenset({"claim-2"}),
) -> str:
    return " ".join(History.of(records).compare(answers, {"queue-0": arrived}, claims))


def test_a_right_history_has_no_problem() -> None:
    assert problems() == ""
    assert (History.of(RIGHT).takings, History.of(RIGHT).takeovers) == (2, 1)


def test_what_a_failure_superseded_is_open_again() -> None:
    records = [*RIGHT[:3], settled(2, "in_doubt"), settled(2, "failed")]
    answers = [told(1), told(2, 409, "outcome_unknown")]
    assert problems(records, answers, [1], frozenset({"claim-1"})) == ""


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"records": [decided(1), settled(1), decided(2), settled(2)]}, "while claim-1 held it"),
        ({"claims": frozenset()}, "the ledger lost it"),
        ({"claims": frozenset({"claim-1", "claim-2"})}, "no record says so"),
        ({"arrived": (1, 2, 2)}, "AWS got [1, 2, 2]"),
        ({"arrived": (2, 1)}, "AWS got [2, 1]"),
        ({"arrived": (1,)}, "AWS got [1]"),
        ({"answers": [told(1), told(2), told(3)]}, "wish-3 was told 200"),
        ({"answers": [told(1), told(2, 403, "refused")]}, "wish-2 was applied, but was told 403"),
        ({"records": RIGHT[:3]}, "mut-2 was never settled"),
        ({"records": [*RIGHT, settled(2, "failed")]}, "was settled as applied, then as failed"),
        ({"records": [*RIGHT, decided(1, supersedes=[2]), settled(1)]}, "was carried out 2 times"),
        ({"records": [decided(1, supersedes=[]), *RIGHT]}, "claim-1 took"),
    ],
)
def test_what_must_not_be_is_found(changed: dict[str, Any], said: str) -> None:
    assert said in problems(**changed)
