"""The kinds of records are found, each once, by steps in an index."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection

from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from gateway.ledger.ask import record_kinds
from gateway.ledger.ask.record_kinds import RecordKind
from gateway.ledger.ledger import SqlLedger
from gateway.ledger.store.database import open_store
from gateway.ledger.store.statements import Session
from tests.kit.many_records import append_many

DENIED = RecordKind("decided", "deny", "cost", "budget")


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    store = open_store(f"sqlite:///{tmp_path / 'ledger.db'}")
    with store.connect() as opened:
        opened.begin()
        yield opened
    store.close()


async def test_each_kind_is_found_once(ledger: SqlLedger) -> None:
    await append_many(ledger, 600)
    every = await ledger.query(record_kinds.record_kinds)
    assert len(every) == len(set(every)) == 3 * (2 * 2 + 1) + 3
    assert list(every) == sorted(every)
    own = await ledger.query(lambda session: record_kinds.record_kinds(session, "ana"))
    assert set(own) <= set(every)
    assert await ledger.query(lambda session: record_kinds.record_kinds(session, "nobody")) == []


def test_an_empty_ledger_has_none(connection: Connection) -> None:
    assert record_kinds.record_kinds(Session(connection)) == []


@pytest.mark.parametrize(
    ("query", "fits"),
    [
        (RecordQuery(), True),
        (RecordQuery(stage=Stage.DECIDED, verdict="deny"), True),
        (RecordQuery(stage=Stage.SETTLED), False),
        (RecordQuery(verdict="hold"), False),
        (RecordQuery(intent="cost", motivation="budget", refused=True), True),
        (RecordQuery(intent="security"), False),
    ],
)
def test_a_kind_fits_what_is_asked(query: RecordQuery, fits: bool) -> None:
    assert DENIED.fits(query) is fits


def test_what_was_turned_away_was_refused_and_what_was_held_was_not() -> None:
    asked = RecordQuery(refused=True)
    assert RecordKind("turned_away", "", "", "").fits(asked)
    assert not DENIED._replace(verdict="hold").fits(asked)


@pytest.mark.parametrize("name", ["_ALL", "_OF_ACTOR"])
def test_the_next_kind_is_found_in_an_index(connection: Connection, name: str) -> None:
    sql, fixed = getattr(record_kinds, name).on(connection.dialect)
    plan = [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}", {"who": "a", **fixed})]
    steps = [step for step in plan if step.startswith(("SEARCH records", "SCAN records"))]
    # The first record in the index, four ways to the next kind, and the record of each.
    assert len(steps) == 7
    assert all("COVERING INDEX" in step or "PRIMARY KEY" in step for step in steps), steps
    assert not any(step.startswith("TEMP B-TREE") for step in plan), plan
