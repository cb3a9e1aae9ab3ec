"""A question costs what its answer shows: as much at ten times the records; it is served by lists of kinds. What it finds: tests/ports."""

import asyncio
import sqlite3
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from sqlalchemy import Connection

from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from gateway.ledger.ask import record_search
from gateway.ledger.ask.record_search import RecordKind, SortedList, merge_lists, records
from gateway.ledger.ledger import SqlLedger, open_ledger
from gateway.ledger.store.database import open_store
from gateway.ledger.store.statements import Session, SqlValue
from tests.kit.many_records import NOON, append_many, fitting
from tests.kit.stores import KEYS

FEW, MANY = 2_000, 20_000
QUESTIONS: dict[str, dict[str, Any]] = {
    "newest": {},
    "last page": {"before_seq": 60},
    "actor": {"actor": "ana"},
    "actor and stage": {"actor": "ana", "stage": Stage.DECIDED},
    "actor and verdict": {"actor": "ana", "verdict": "deny"},
    "actor who did nothing": {"actor": "nobody", "stage": Stage.DECIDED},
    "stage and verdict": {"stage": Stage.DECIDED, "verdict": "hold"},
    "what cannot be": {"stage": Stage.SETTLED, "verdict": "deny"},
    "what never was": {"stage": Stage.APPROVED, "actor": "ana"},
    "motive": {"intent": "cost", "motivation": "incident"},
    "motivation": {"motivation": "incident"},
    "refused": {"refused": True},
    "refused to an actor": {"refused": True, "actor": "bot"},
    "refused and settled": {"refused": True, "stage": Stage.SETTLED},
    "no evidence": {"no_evidence": True},
    "an actor's without evidence": {"no_evidence": True, "actor": "bot"},
    "left to a human": {"left": True},
    "resource": {"resource": "aws_sqs_queue.q1"},
    "many resources": {"resource": "aws_"},
    "no resource": {"resource": "aws_lb"},
    "resource and actor": {"resource": "aws_sqs_queue.q1", "actor": "ana"},
    "oldest first": {"stage": Stage.DECIDED, "newest_first": False},
    "key": {"key_id": "SNTLana"},
    "key and verdict": {"key_id": "SNTLana", "verdict": "deny"},
    "a key of an actor": {"key_id": "SNTLana", "actor": "ana"},
    "a key of another": {"key_id": "SNTLana", "actor": "bot"},
    "no evidence in a verdict": {"no_evidence": True, "verdict": "deny"},
    "mutation": {"mutation_id": "mut_7"},
    "mutation and stage": {"mutation_id": "mut_7", "stage": Stage.DECIDED},
}


async def _grow(file: Path, count: int) -> None:
    async with open_ledger(f"sqlite:///{file}", KEYS) as ledger:
        await append_many(ledger, count)


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """The files of a small and of a large ledger."""
    files = {count: tmp_path_factory.mktemp("grown") / f"{count}.db" for count in (FEW, MANY)}
    for count, file in files.items():
        asyncio.run(_grow(file, count))
    return files


def steps(connection: Connection, query: RecordQuery) -> int:
    """How many instructions SQLite runs for a query: it calls back after each."""
    driver = cast("sqlite3.Connection", connection.connection.dbapi_connection)
    count = 0

    def step() -> int:
        nonlocal count
        count += 1
        return 0

    driver.set_progress_handler(step, 1)
    try:
        found = records(Session(connection), query)
    finally:
        driver.set_progress_handler(None, 0)
    assert len(found) <= query.limit
    return count


@pytest.mark.slow
@pytest.mark.parametrize("asked", QUESTIONS.values(), ids=QUESTIONS)
def test_a_question_costs_the_same_among_many_records(grown: dict[int, Path], asked: dict[str, Any]) -> None:
    query, counts = RecordQuery(limit=51, **asked), {}
    for size, file in grown.items():
        store = open_store(f"sqlite:///{file}")
        with store.connect() as connection:
            connection.begin()
            counts[size] = steps(connection, query)
        store.close()
    # Ten times as much would be read by a scan. What is rare among few records may need a few more steps to fill its page.
    assert counts[MANY] < 2 * max(counts[FEW], 500), counts


@pytest.mark.slow
def test_the_steps_of_a_scan_are_counted(grown: dict[int, Path]) -> None:
    """That the count sees what is read: everything that is shown."""
    store = open_store(f"sqlite:///{grown[MANY]}")
    with store.connect() as connection:
        connection.begin()
        read = steps(connection, RecordQuery(since=NOON, until=NOON + timedelta(days=30), before_seq=MANY, limit=MANY))
    store.close()
    assert read > 5 * MANY


async def lists(ledger: SqlLedger, query: RecordQuery) -> list[SortedList] | None:
    """The lists of a query."""
    return await ledger.query(lambda session: record_search.lists_of(session, query))


async def test_a_question_about_nothing_in_particular_has_no_list(ledger: SqlLedger) -> None:
    await append_many(ledger, 50)
    assert await lists(ledger, RecordQuery()) is None


async def test_nothing_is_read_of_an_actor_who_did_nothing_such(ledger: SqlLedger) -> None:
    await append_many(ledger, 50)
    assert await lists(ledger, RecordQuery(actor="ana", stage=Stage.APPROVED)) == []
    assert await lists(ledger, RecordQuery(resource="aws_sqs", actor="nobody")) == []


async def test_there_is_a_list_for_each_kind_that_fits(ledger: SqlLedger) -> None:
    await append_many(ledger, 600)
    found = await lists(ledger, RecordQuery(actor="ana", verdict="deny"))
    assert found is not None
    assert len(found) == 5
    assert {each.equal["actor"] for each in found} == {"ana"}
    assert {each.kind.verdict for each in found if each.kind} == {"deny"}


async def test_there_is_a_list_for_each_of_few_resources(ledger: SqlLedger, monkeypatch: pytest.MonkeyPatch) -> None:
    await append_many(ledger, 50)
    found = await lists(ledger, RecordQuery(resource="aws_sqs_queue", actor="ana"))
    assert found is not None
    assert [each.equal["address"] for each in found] == [f"aws_sqs_queue.q{number}" for number in range(4)]
    assert {each.tested["actor"] for each in found} == {"ana"}
    monkeypatch.setattr(record_search, "FEW_ADDRESSES", 3)
    many = await lists(ledger, RecordQuery(resource="aws_sqs_queue", actor="ana"))
    assert many is not None
    assert {each.table for each in many} == {"records"}


async def test_each_page_goes_on_where_the_last_one_ended(ledger: SqlLedger, monkeypatch: pytest.MonkeyPatch) -> None:
    await append_many(ledger, 100)
    monkeypatch.setattr(record_search, "READ_AT_ONCE", 10)

    def read(connection: Connection) -> list[list[int]]:
        return list(record_search.pages(connection, RecordQuery(actor="ana"), 3) or ())

    pages = await ledger._query_reader.read(read)
    assert [len(page) for page in pages][:4] == [3, 6, 10, 10]
    every = [seq for page in pages for seq in page]
    assert every == sorted(set(every), reverse=True)


DENIED = RecordKind("decided", "deny", "cost", "budget", has_evidence=1)


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    store = open_store(f"sqlite:///{tmp_path / 'ledger.db'}")
    with store.connect() as opened:
        opened.begin()
        yield opened
    store.close()


async def test_each_kind_is_found_once(ledger: SqlLedger) -> None:
    await append_many(ledger, 600)
    every = await ledger.query(record_search.record_kinds)
    assert len(every) == len(set(every)) == 3 * (2 * 2 + 1) + 3
    assert list(every) == sorted(every)
    own = await ledger.query(lambda session: record_search.record_kinds(session, "actor", "ana"))
    assert set(own) <= set(every)
    assert await ledger.query(lambda session: record_search.record_kinds(session, "actor", "nobody")) == []


def test_an_empty_ledger_has_none(connection: Connection) -> None:
    assert record_search.record_kinds(Session(connection)) == []


@pytest.mark.parametrize(
    ("query", "fits"),
    [
        (RecordQuery(), True),
        (RecordQuery(stage=Stage.DECIDED, verdict="deny"), True),
        (RecordQuery(stage=Stage.SETTLED), False),
        (RecordQuery(verdict="hold"), False),
        (RecordQuery(intent="cost", motivation="budget", refused=True), True),
        (RecordQuery(intent="security"), False),
        (RecordQuery(no_evidence=True), False),
        (RecordQuery(left=True), False),
    ],
)
def test_a_kind_fits_what_is_asked(query: RecordQuery, fits: bool) -> None:
    assert DENIED.fits(query) is fits


def test_what_was_turned_away_was_refused_and_what_was_held_was_not() -> None:
    asked = RecordQuery(refused=True)
    assert RecordKind("turned_away").fits(asked)
    assert not DENIED._replace(verdict="hold").fits(asked)


@pytest.mark.parametrize("own", record_search.KINDS_BY)
def test_the_next_kind_is_found_in_an_index(connection: Connection, own: str) -> None:
    sql, fixed = record_search.KINDS_BY[own].on(connection.dialect)
    plan = [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}", {"who": "a", **fixed})]
    steps = [step for step in plan if step.startswith(("SEARCH records", "SCAN records"))]
    # The first record in the index, six ways to the next kind, and the record of each.
    assert len(steps) == 9
    assert all("COVERING INDEX" in step or "PRIMARY KEY" in step for step in steps), steps
    assert not any(step.startswith("TEMP B-TREE") for step in plan), plan


STAGES = (Stage.SETTLED, Stage.RECONCILED)


async def test_lists_are_merged_in_order_between_two_numbers(ledger: SqlLedger) -> None:
    await append_many(ledger, 200)
    every = await ledger.records(RecordQuery(newest_first=False, limit=200))
    lists = [SortedList(table="records", equal={"stage": stage.value}) for stage in STAGES]
    for newest_first in (True, False):
        query = RecordQuery(after_seq=20, before_seq=150, newest_first=newest_first)
        wanted = [seq for seq in range(21, 150) if every[seq - 1].stage in STAGES]
        wanted = wanted[::-1] if newest_first else wanted
        assert await asked(ledger, lists, query, 1_000) == wanted
        assert await asked(ledger, lists, query, 5) == wanted[:5]


async def test_a_record_in_several_lists_is_found_once(ledger: SqlLedger) -> None:
    await append_many(ledger, 100)
    every = await ledger.records(RecordQuery(newest_first=False, limit=100))
    names = ("aws_sqs_queue.q1", "aws_sqs_queue.q2")
    lists = [SortedList(table="record_resources", equal={"address": each}) for each in names]
    wanted = {seq for each in names for seq in fitting(every, RecordQuery(resource=each))}
    assert await asked(ledger, lists, RecordQuery(), 1_000) == sorted(wanted, reverse=True)
    tested = [SortedList(table="record_resources", equal=each.equal, tested={"actor": "ana"}) for each in lists]
    of_ana = [seq for seq in sorted(wanted, reverse=True) if every[seq - 1].actor == "ana"]
    assert await asked(ledger, tested, RecordQuery(), 1_000) == of_ana


async def test_no_lists_have_no_numbers(ledger: SqlLedger) -> None:
    await append_many(ledger, 3)
    assert await asked(ledger, [], RecordQuery(), 10) == []


async def test_texts_and_numbers_are_tested(ledger: SqlLedger) -> None:
    await append_many(ledger, 100)
    every = await ledger.records(RecordQuery(newest_first=False, limit=100))
    asked_for: tuple[dict[str, SqlValue], ...] = (
        {"actor": "ana", "stage": "decided"},
        {"actor": "ana", "stage": "decided", "has_evidence": 0},
    )
    for tested in asked_for:
        found = await asked(ledger, [SortedList(table="records", tested=tested)], RecordQuery(), 1_000)
        query = RecordQuery(actor="ana", stage=Stage.DECIDED, no_evidence="has_evidence" in tested)
        assert found == fitting(every, query)


async def test_there_may_be_more_lists_than_one_statement_takes(ledger: SqlLedger) -> None:
    await append_many(ledger, 100)
    lists = [SortedList(table="records", equal={"seq": number}) for number in (*range(1, 101), *range(50, 1_250))]
    for newest_first in (True, False):
        query = RecordQuery(after_seq=10, newest_first=newest_first)
        wanted = sorted(range(11, 101), reverse=newest_first)
        assert await asked(ledger, lists, query, 1_000) == wanted
        few = await asked(ledger, lists, query, 7)
        assert few == wanted[: len(few)]
        assert few


async def asked(ledger: SqlLedger, lists: list[SortedList], query: RecordQuery, most: int) -> list[int]:
    """What `merge_lists` finds."""

    def ask(connection: Connection) -> list[int]:
        return merge_lists(connection, lists, query, most)

    return await ledger._query_reader.read(ask)
