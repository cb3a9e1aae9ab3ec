"""The statements that mutations wait for use indexes, however large the tables are."""

import gc
import re
from typing import Any

import pytest
from psycopg import OperationalError, ServerCursor
from sqlalchemy import insert, literal_column, select
from sqlalchemy.schema import CreateTable

from gateway.core.model.claim import ClaimEnd
from gateway.ledger.decide import claims, commands, decision, ledger_view, settlement
from gateway.ledger.store.database import Store, open_store
from gateway.ledger.store.rows import ValueRow
from gateway.ledger.store.serialize import claim_to_row
from gateway.ledger.store.statements import Query, Session, SqlValue, Statement
from gateway.ledger.store.tables import CLAIMS, VALUES
from tests.kit import nouns
from tests.kit.stores import Cluster, postgres, running_cluster

__all__ = ["postgres"]

_MODULES = (decision, commands, claims, ledger_view, settlement)
_STATEMENTS = [
    pytest.param(value, id=f"{module.__name__.rpartition('.')[2]}.{name}")
    for module in _MODULES
    for name, value in vars(module).items()
    if isinstance(value, Statement)
]


def _plan(store: Store, statement: Statement) -> list[str]:
    with store.connect() as connection:
        sql, _ = statement.on(connection.dialect)
        names = dict.fromkeys(re.findall(r":(\w+)", sql), "[]")
        return [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}", names)]


@pytest.mark.parametrize("statement", [ledger_view.OPEN_CLAIMS, decision._STANDING])
def test_open_claims_are_found_without_those_that_ended(store: Store, statement: Statement) -> None:
    """The claims of 10,000 earlier changes of an attribute take 5 ms to read."""
    assert "SEARCH claims USING INDEX claims_open (address=?)" in _plan(store, statement)


@pytest.mark.parametrize("statement", _STATEMENTS)
def test_no_statement_scans_a_whole_table(store: Store, statement: Statement) -> None:
    plan = _plan(store, statement)
    scanned = [
        step
        for step in plan
        if step.startswith("SCAN")
        and not step.startswith(("SCAN json_each", "SCAN (sub", "SCAN anon", "SCAN attributes", "SCAN CONSTANT ROW"))
    ]
    # These indexes hold the open attempts, the open claims and the standing stops only.
    partial = ("attempts_in_flight", "attempts_in_doubt", "claims_open_by_actor", "stops_standing")
    assert [step for step in scanned if not step.endswith(partial)] == []


@pytest.mark.parametrize("statement", [ledger_view.LATEST_HOLDERS, ledger_view._SEVERAL_HOLDERS])
def test_latest_claims_are_found_by_their_attribute_even_where_sqlite_takes_the_claims_for_few(
    store: Store, statement: Statement
) -> None:
    """SQLite 3.46 takes them for few without being told so: with 100,000 claims a mutation took seven times as long."""
    with store.connect(writes=True) as connection:
        connection.exec_driver_sql("ANALYZE sqlite_schema")  # makes the table of what ANALYZE counted
        connection.exec_driver_sql("INSERT INTO sqlite_stat1 VALUES ('claims', 'claims_by_key', '10 1 1 1')")
        connection.commit()
    store._engine.dispose()  # a connection reads it when it opens
    plan = _plan(store, statement)
    assert "SCAN attributes" in plan
    assert [step for step in plan if step.startswith("SCAN claims")] == []


@pytest.mark.postgres
@pytest.mark.parametrize("statement", [ledger_view.LATEST_HOLDERS, ledger_view._SEVERAL_HOLDERS])
def test_latest_claims_are_found_by_their_attribute_on_postgresql(postgres: Cluster, statement: Statement) -> None:
    """It read and sorted all claims, and compiled the statement each time: 1 s beside 100,000 claims."""
    ended = {"ended_at": "2026", "end": ClaimEnd.SUPERSEDED.value}
    claims_of_many = [
        nouns.claim(f"aws_lb.t{number % 500}", id=f"clm_{number}", mutation_id=f"mut_{number}")
        for number in range(5_000)
    ]
    store = open_store(postgres.new_ledger())
    with store.connect(writes=True) as connection:
        store.lock(connection)
        session = Session(connection)
        session.change_each(Statement(insert(CLAIMS)), [{**claim_to_row(each), **ended} for each in claims_of_many])
        session.command("ANALYZE claims")
        sql, fixed = statement.on(connection.dialect)
        driver: Any = connection.connection.dbapi_connection
        values = {"addresses": '["aws_lb.t1"]', "from": "2025", **fixed}
        plan = [step for (step,) in driver.execute(f"EXPLAIN (COSTS off) {sql}", values)]
        compiling = driver.execute("SHOW jit").fetchone()
        workers = driver.execute("SHOW max_parallel_workers_per_gather").fetchone()
    store.close()
    (read,) = (step for step in plan if step.endswith(" on claims"))
    assert "Index Scan using claims_by_key" in read, plan
    assert (compiling, workers) == (("off",), ("0",))


@pytest.mark.parametrize("names", ['["a","b"]', "[]", '["\'"]', '["é"]'])
def test_among_takes_any_number_of_texts(store: Store, names: str) -> None:
    with store.connect() as connection:
        connection.begin()
        assert Session(connection).rows(ledger_view._VALUES, {"addresses": names}) == []


def test_a_query_must_select_the_fields_of_its_rows() -> None:
    with pytest.raises(TypeError, match="ValueRow"):
        Query(select(VALUES.c.attribute, VALUES.c.address, VALUES.c.value), ValueRow)


def test_a_statement_that_is_no_query_of_rows_cannot_be_prepared(store: Store) -> None:
    with pytest.raises(TypeError, match="rows"):
        Statement(CreateTable(VALUES)).on(store._engine.dialect)


def test_rows_have_their_columns_as_attributes(store: Store) -> None:
    row: dict[str, SqlValue] = {
        "address": "aws_lb.a",
        "attribute": "x",
        "value": "1",
        "mutation_id": "m",
        "at": "t",
        "seq": 1,
    }
    with store.connect(writes=True) as connection:
        store.lock(connection)
        session = Session(connection)
        assert session.row(ledger_view._VALUES, {"addresses": '["aws_lb.a"]'}) is None
        assert session.change(Statement(insert(VALUES)), row) == 1
        assert session.row(ledger_view._VALUES, {"addresses": '["aws_lb.a"]'}) == ValueRow("aws_lb.a", "x", "1")
        assert session.scalar(ledger_view._VALUES, {"addresses": '["aws_lb.a"]'}) == "aws_lb.a"
        connection.rollback()


def _open_cursors(driver: Any) -> list[ServerCursor[Any]]:
    return [
        each
        for each in gc.get_objects()
        if isinstance(each, ServerCursor) and each.connection is driver and not each.closed
    ]


@pytest.mark.postgres
def test_the_cursor_of_a_stream_is_closed_though_the_server_has_gone() -> None:
    """Its first call to close fails then, and Python warned about the cursor wherever it was collected later."""
    with running_cluster() as cluster:
        store = open_store(cluster.new_ledger())
        with store.connect() as connection:
            driver: Any = connection.connection.dbapi_connection
            read = Session(connection).stream(Statement(select(literal_column("generate_series(1, 9)"))), page=2)
            assert next(read) == (1,)
            assert len(_open_cursors(driver)) == 1
            cluster.crash()
            with pytest.raises(OperationalError):
                read.close()
            assert _open_cursors(driver) == []
            connection.invalidate()
        store.close()
