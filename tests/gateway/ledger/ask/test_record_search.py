"""A question costs what its answer shows: as much at ten times the records. What it finds: tests/ports/test_record_search.py."""

import asyncio
import sqlite3
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from sqlalchemy import Connection

from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from gateway.ledger.ask.record_search import records
from gateway.ledger.ledger import open_ledger
from gateway.ledger.store.database import open_store
from tests.kit.many_records import NOON, append_many
from tests.kit.sealed import KEYS

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
        found = records(connection, query)
    finally:
        driver.set_progress_handler(None, 0)
    assert len(found) <= query.limit
    return count


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


def test_the_steps_of_a_scan_are_counted(grown: dict[int, Path]) -> None:
    """That the count sees what is read: everything that is shown."""
    store = open_store(f"sqlite:///{grown[MANY]}")
    with store.connect() as connection:
        connection.begin()
        read = steps(connection, RecordQuery(since=NOON, until=NOON + timedelta(days=30), before_seq=MANY, limit=MANY))
    store.close()
    assert read > 5 * MANY
