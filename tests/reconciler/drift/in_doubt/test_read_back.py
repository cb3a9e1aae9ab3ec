"""When a mutation in doubt is looked at, what is concluded, and that it is recorded once."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gateway.core.errors import SentinelError
from gateway.core.model.mutation import EffectAction
from gateway.core.model.outcome import InDoubt, SettledBy
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from gateway.ledger.ledger import SqlLedger
from reconciler.drift.in_doubt.live_evidence import DoubtAnswer
from reconciler.drift.in_doubt.read_back import ReadBack
from reconciler.drift.in_doubt.trail_evidence import Trail
from reconciler.errors import TerraformFailed
from reconciler.terraform.refresh import Refreshed
from tests.kit.mutations import record_mutation
from tests.kit.nouns import effect

QUEUE = "aws_sqs_queue.a"
START = datetime(2026, 11, 21, 12, tzinfo=UTC)
LATE = timedelta(minutes=16)


@dataclass
class Live:
    """The live system: one queue. It counts how often it is read."""

    delay: int = 4
    fails: SentinelError | None = None
    read: list[list[str]] = field(default_factory=list)

    async def __call__(self, targets: list[str]) -> Refreshed:
        self.read.append(targets)
        if self.fails:
            raise self.fails
        return Refreshed(read=frozenset({QUEUE}), objects={QUEUE: {"delay": self.delay}})


@dataclass
class Clock:
    """A clock that is set by hand."""

    time: datetime = START

    def now(self) -> datetime:
        return self.time


@pytest.fixture
def live() -> Live:
    return Live()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def read_back(ledger: SqlLedger, live: Live, clock: Clock) -> ReadBack:
    return _read_back(ledger, live, clock)


def _read_back(ledger: SqlLedger, live: Live | None, clock: Clock, **members: Any) -> ReadBack:
    given: dict[str, Any] = {
        "ledger": ledger,
        "queries": ledger,
        "clock": clock,
        "concerns": lambda stack: stack == "shop",
        "read_live": live,
        "first_look": timedelta(seconds=20),
        "settle_after": timedelta(minutes=16),
    }
    return ReadBack(**(given | members))


async def _doubt(ledger: SqlLedger, *effects: Any, **members: Any) -> str:
    made = effects or ((effect(QUEUE, "delay", 6), 4),)
    outcome = InDoubt(reason="cut off")
    return (await record_mutation(ledger, made, outcome=outcome, at=START, **members)).id


async def _outcomes(ledger: SqlLedger) -> list[Any]:
    records = await ledger.records(RecordQuery(stage=Stage.SETTLED, newest_first=False))
    return [record.body.members["outcome"] for record in records]


async def _round(read_back: ReadBack) -> list[DoubtAnswer]:
    """Look at what is due and settle it."""
    answers = []
    for doubt in await read_back.due():
        read_back.looked(doubt.mutation_id)
        verdict = await read_back.look(doubt.mutation_id)
        await read_back.settle(doubt.mutation_id, verdict)
        answers.append(verdict.answer)
    return answers


async def test_nothing_is_looked_at_before_the_delay(read_back: ReadBack, ledger: SqlLedger, clock: Clock) -> None:
    await _doubt(ledger)
    clock.time += timedelta(seconds=19)
    assert await read_back.due() == []
    clock.time += timedelta(seconds=1)
    assert len(await read_back.due()) == 1


async def test_looks_become_rarer(
    read_back: ReadBack, ledger: SqlLedger, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutation = await _doubt(ledger)
    clock.time += timedelta(minutes=1)
    seconds = 0.0
    monkeypatch.setattr("reconciler.drift.in_doubt.read_back.monotonic", lambda: seconds)
    waits = []
    for _ in range(6):
        read_back.looked(mutation)
        again, wait = read_back.looks[mutation]
        assert await read_back.due() == []
        seconds = again
        waits.append(wait)
    assert waits == [20, 40, 80, 160, 300, 300]


@pytest.mark.parametrize(("delay", "expected"), [(6, "applied"), (4, "failed"), (5, "in_doubt")])
async def test_after_the_stated_time_it_is_settled_or_left_to_a_human(
    ledger: SqlLedger, live: Live, clock: Clock, delay: int, expected: str
) -> None:
    await _doubt(ledger)
    live.delay = delay
    clock.time += LATE
    await _round(_read_back(ledger, live, clock))
    assert await _outcomes(ledger) == ["in_doubt", expected]
    assert live.read == [[QUEUE]]
    await _round(_read_back(ledger, live, clock))
    assert await _outcomes(ledger) == ["in_doubt", expected]
    assert live.read == [[QUEUE]]


async def test_what_is_as_before_waits_until_aws_accepts_it_no_more(
    read_back: ReadBack, ledger: SqlLedger, live: Live, clock: Clock
) -> None:
    mutation = await _doubt(ledger)
    clock.time += timedelta(minutes=15)
    assert (await read_back.look(mutation)).answer is DoubtAnswer.WAIT
    live.delay = 6
    assert await _round(read_back) == [DoubtAnswer.APPLIED]
    assert len(await ledger.claims()) == 1


async def test_what_cannot_be_read_is_tried_for_longer_and_then_left_to_a_human(
    read_back: ReadBack, ledger: SqlLedger, live: Live, clock: Clock
) -> None:
    mutation = await _doubt(ledger)
    live.fails = TerraformFailed.saying("plan", "the secret is swordfish")
    clock.time += LATE
    assert (await read_back.look(mutation)).answer is DoubtAnswer.WAIT
    clock.time += LATE * 3
    verdict = await read_back.look(mutation)
    assert verdict.answer is DoubtAnswer.HUMAN
    assert "swordfish" not in verdict.reason
    assert "terraform_failed" in verdict.reason


@pytest.mark.parametrize(
    "made",
    [
        effect(QUEUE, "*", None, action=EffectAction.INVOKE),
        effect(QUEUE, "delay", 6, declared=False),
        effect(QUEUE, "key", 6, sensitive=True),
    ],
)
async def test_what_no_value_shows_is_never_read(
    read_back: ReadBack, ledger: SqlLedger, live: Live, clock: Clock, made: Any
) -> None:
    await _doubt(ledger, (made, None))
    clock.time += timedelta(minutes=1)
    assert await _round(read_back) == [DoubtAnswer.WAIT]
    clock.time += LATE
    assert await _round(_read_back(ledger, live, clock)) == [DoubtAnswer.HUMAN]
    assert live.read == []


async def test_only_its_own_stacks_concern_it(ledger: SqlLedger, live: Live, clock: Clock) -> None:
    await _doubt(ledger, stack="elsewhere")
    clock.time += LATE
    assert await _round(_read_back(ledger, live, clock)) == []
    elsewhere = _read_back(ledger, None, clock, concerns=lambda stack: stack != "shop")
    assert await _round(elsewhere) == [DoubtAnswer.HUMAN]


async def test_a_mutation_that_was_settled_meanwhile_stays_as_it_is(
    read_back: ReadBack, ledger: SqlLedger, live: Live, clock: Clock
) -> None:
    mutation = await _doubt(ledger)
    live.delay = 6
    clock.time += LATE
    verdict = await read_back.look(mutation)
    await _round(read_back)
    await read_back.settle(mutation, verdict)
    assert await _outcomes(ledger) == ["in_doubt", "applied"]
    assert (await read_back.look(mutation)).answer is DoubtAnswer.WAIT


ROLE = "arn:aws:iam::123456789012:role/sentinel"


def _trail(directory: Path, mutation: str = "", *, role: str = ROLE, **members: Any) -> Trail:
    """CloudTrail's event of a mutation's request, sent by a role; no event without a mutation."""
    event = {
        "eventSource": "autoscaling.amazonaws.com",
        "eventName": "SetDesiredCapacity",
        "eventTime": START.isoformat(),
        "userAgent": f"sentinel/1 mutation/{mutation}",
        "requestID": "r-1",
        "recipientAccountId": "123456789012",
        "userIdentity": {
            "type": "AssumedRole",
            "sessionContext": {"sessionIssuer": {"type": "Role", "arn": role}},
        },
    }
    path = directory / "events.json"
    path.write_text(json.dumps({"Records": [event | members] if mutation else []}))
    return Trail(path=path, identity=ROLE)


async def test_cloudtrail_settles_what_values_do_not_show_even_after_it_was_left_to_a_human(
    ledger: SqlLedger, live: Live, clock: Clock, tmp_path: Path
) -> None:
    mutation = await _doubt(ledger, (effect(QUEUE, "*", None, action=EffectAction.INVOKE), None))
    clock.time += LATE
    assert await _round(_read_back(ledger, live, clock, trail=_trail(tmp_path))) == [DoubtAnswer.HUMAN]
    assert await _round(_read_back(ledger, live, clock, trail=_trail(tmp_path, mutation))) == [DoubtAnswer.APPLIED]
    assert await _outcomes(ledger) == ["in_doubt", "in_doubt", "applied"]


async def test_a_refusal_in_cloudtrail_counts_once_aws_accepts_the_request_no_more(
    ledger: SqlLedger, live: Live, clock: Clock, tmp_path: Path
) -> None:
    mutation = await _doubt(ledger)
    read_back = _read_back(ledger, live, clock, trail=_trail(tmp_path, mutation, errorCode="AccessDenied"))
    clock.time += timedelta(minutes=15)
    assert await _round(read_back) == [DoubtAnswer.WAIT]
    assert live.read == [[QUEUE]]
    clock.time += timedelta(minutes=1)
    verdict = await read_back.look(mutation)
    assert (verdict.answer, verdict.by) == (DoubtAnswer.FAILED, SettledBy.CLOUDTRAIL)


async def test_values_show_an_applied_mutation_before_a_refusal_in_cloudtrail_counts(
    ledger: SqlLedger, live: Live, clock: Clock, tmp_path: Path
) -> None:
    mutation = await _doubt(ledger)
    live.delay = 6
    clock.time += timedelta(minutes=1)
    trail = _trail(tmp_path, mutation, errorCode="AccessDenied")
    assert await _round(_read_back(ledger, live, clock, trail=trail)) == [DoubtAnswer.APPLIED]


@pytest.mark.parametrize("code", ["", "AccessDenied"])
async def test_a_strangers_event_settles_nothing(
    ledger: SqlLedger, live: Live, clock: Clock, tmp_path: Path, code: str
) -> None:
    mutation = await _doubt(ledger, (effect(QUEUE, "*", None, action=EffectAction.INVOKE), None))
    trail = _trail(tmp_path, mutation, role="arn:aws:iam::123456789012:role/agent-reader", errorCode=code)
    clock.time += timedelta(minutes=1)
    assert await _round(_read_back(ledger, live, clock, trail=trail)) == [DoubtAnswer.WAIT]
    clock.time += LATE
    assert await _round(_read_back(ledger, live, clock, trail=trail)) == [DoubtAnswer.HUMAN]
    assert await _outcomes(ledger) == ["in_doubt", "in_doubt"]
