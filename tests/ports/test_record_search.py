"""Whatever a filter combines, the records it finds are those that fit, on both databases."""

import random
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from gateway.core.model.json import Json
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from gateway.ledger.ask import record_search
from gateway.ledger.ledger import SqlLedger
from gateway.ledger.store.transaction import Transaction
from tests.kit.bodies import sample_record
from tests.kit.many_records import ACTORS, NOON, VERDICTS, append_many, fitting

RECORDS = 400


def drawn_query(drawn: random.Random) -> RecordQuery:
    """A filter of about three members, some of them found nowhere."""
    choices: dict[str, tuple[Any, ...]] = {
        "actor": (*ACTORS, "nobody"),
        "stage": (Stage.DECIDED, Stage.SETTLED, Stage.TURNED_AWAY, Stage.APPROVED),
        "verdict": VERDICTS,
        "intent": ("cost", "availability", "security"),
        "motivation": ("budget", "incident"),
        "resource": ("aws_sqs_queue.q1", "aws_sqs", "aws_sqs_queue.q", "aws_lb"),
        "mutation_id": ("mut_7",),
        "refused": (True,),
        "no_evidence": (True,),
        "key_id": ("SNTLana", "SNTLbot", "SNTLnobody"),
        "since": tuple(NOON + timedelta(seconds=each) for each in (0, 200, RECORDS)),
        "until": tuple(NOON + timedelta(seconds=each) for each in (-1, 150, RECORDS)),
        "after_seq": (1, 150, RECORDS),
        "before_seq": (1, 150, RECORDS),
    }
    names = drawn.sample(sorted(choices), drawn.randrange(5))
    members = {name: drawn.choice(choices[name]) for name in names}
    return RecordQuery(limit=drawn.choice((1, 3, 51, 1_000)), newest_first=drawn.random() < 0.7, **members)


@pytest.mark.slow
@pytest.mark.parametrize("few", [1, 1_000], ids=["much is many", "much is few"])
async def test_what_is_found_is_what_fits(ledger: SqlLedger, monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    monkeypatch.setattr(record_search, "FEW", few)
    monkeypatch.setattr(record_search, "READ_AT_ONCE", 7)
    await append_many(ledger, RECORDS)
    every = await ledger.records(RecordQuery(newest_first=False, limit=RECORDS))
    assert len(every) == RECORDS
    drawn, found = random.Random(2), 0  # noqa: S311  the same each time
    for _ in range(300):
        query = drawn_query(drawn)
        wanted = fitting(every, query)
        assert [record.seq for record in await ledger.records(query)] == wanted, query
        found += bool(wanted)
    assert found > 100, "most queries found nothing, so this showed little"


async def test_the_newest_report_about_a_mutation_says_what_is_left(ledger: SqlLedger) -> None:
    left: Json = [{"address": "aws_lb.a", "attribute": "x", "reason": "Because."}]
    reports: tuple[tuple[str, Json], ...] = (
        ("corrected", left),
        ("left", []),
        ("left", left),
        ("corrected", []),
        ("decoy", {"left": left}),
        ("other actor", left),
    )
    for mutation, each in reports:
        actor = "bot" if mutation == "other actor" else "ana"
        body: dict[str, Json] = {"tried": each} if isinstance(each, dict) else {"left": each}
        record = sample_record(stage=Stage.RECONCILED, at=NOON, mutation_id=mutation, actor=actor, body=body)
        await ledger.write(partial(Transaction.append, record=record))
    found = await ledger.records(RecordQuery(left=True))
    assert [record.mutation_id for record in found] == ["other actor", "left"]
    assert [record.seq for record in await ledger.records(RecordQuery(left=True, actor="ana"))] == [3]
    assert await ledger.records(RecordQuery(left=True, stage=Stage.DECIDED)) == ()
