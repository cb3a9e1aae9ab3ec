"""Mutations are read as wholes, and decisions are counted by span of time, the same on both databases."""

from datetime import datetime, timedelta
from functools import partial

import pytest

from gateway.core.model.verdict import Verdict
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from gateway.ledger.ask import mutation_lives
from gateway.ledger.ledger import SqlLedger
from gateway.ledger.store.transaction import Transaction
from tests.kit.bodies import sample_record
from tests.kit.many_records import NOON, append_many


async def append(ledger: SqlLedger, stage: Stage, mutation: str, at: datetime = NOON) -> None:
    record = sample_record(stage=stage, at=at, mutation_id=mutation, actor="ana")
    await ledger.write(partial(Transaction.append, record=record))


async def test_each_mutation_has_its_records_oldest_first(ledger: SqlLedger) -> None:
    for _ in range(3):
        for mutation in ("mut_a", "mut_b", "mut_c"):
            await append(ledger, Stage.RECONCILED, mutation)
    found = await ledger.lives(["mut_a", "mut_c", "mut_a", "mut_unknown"])
    assert {name: [record.seq for record in each] for name, each in found.items()} == {
        "mut_a": [1, 4, 7],
        "mut_c": [3, 6, 9],
    }
    assert await ledger.lives([]) == {}


async def test_of_a_long_life_the_ends_are_read_and_no_other_life_is_missing(ledger: SqlLedger) -> None:
    for _ in range(150):
        await append(ledger, Stage.RECONCILED, "mut_a")
    await append(ledger, Stage.RECONCILED, "mut_b")
    found = await ledger.lives(["mut_a", "mut_b"])
    assert [record.seq for record in found["mut_a"]] == [*range(1, 21), *range(71, 151)]
    assert [record.seq for record in found["mut_b"]] == [151]


async def test_decisions_are_counted_by_span_and_verdict(ledger: SqlLedger) -> None:
    await append_many(ledger, 400)
    starts = [NOON + timedelta(seconds=each) for each in (50, 100, 399, 500)]
    counted = await ledger.activity(starts)
    decided = await ledger.records(RecordQuery(stage=Stage.DECIDED, limit=400))
    wanted: dict[tuple[datetime, Verdict], int] = {}
    for record in decided:
        began = [start for start in starts if start <= record.at]
        if began:
            key = began[-1], Verdict(record.body.members["decision"]["verdict"])
            wanted[key] = wanted.get(key, 0) + 1
    assert counted.counts == wanted
    assert len(wanted) > 3, "there was little to count"
    assert counted.counted_from == starts[0]


async def test_what_was_counted_is_not_counted_again_and_what_is_new_is(ledger: SqlLedger) -> None:
    starts = [NOON + timedelta(seconds=each) for each in (0, 50, 100, 399)]
    for until, asked in ((120, starts[1:]), (300, starts), (400, starts[1:]), (401, starts)):
        await append_many(ledger, until - await newest(ledger), first=await newest(ledger))
        fresh = await ledger.query(partial(mutation_lives.ActivityCounts().of, starts=asked))
        assert await ledger.activity(asked) == fresh, until
        assert fresh.counts
    of_one = (await ledger.activity(starts, "ana")).counts
    assert 0 < sum(of_one.values()) < sum((await ledger.activity(starts)).counts.values())
    decided = await ledger.records(RecordQuery(stage=Stage.DECIDED, actor="ana", limit=400))
    assert sum(of_one.values()) == len(decided)


async def newest(ledger: SqlLedger) -> int:
    return (await ledger.changed_since(-1))[0]


async def test_only_the_newest_records_are_counted(ledger: SqlLedger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutation_lives, "MOST_COUNTED", 100)
    await append_many(ledger, 400)
    starts = [NOON + timedelta(seconds=each) for each in (0, 200, 350)]
    counted = await ledger.activity(starts)
    assert counted.counted_from == starts[2]
    assert {start for start, _ in counted.counts} == {starts[2]}


async def test_an_empty_ledger_has_no_activity(ledger: SqlLedger) -> None:
    assert (await ledger.activity([NOON])).counts == {}
    with pytest.raises(ValueError, match="spans"):
        await ledger.activity([])
