"""The statements that mutations wait for use indexes, however large the tables are."""

import re

import pytest
from sqlalchemy import insert, select
from sqlalchemy.schema import CreateTable

from gateway.ledger.decide import claims, commands, decision, ledger_view, settlement
from gateway.ledger.store.database import Store
from gateway.ledger.store.rows import ValueRow
from gateway.ledger.store.statements import Query, Session, SqlValue, Statement
from gateway.ledger.store.tables import VALUES

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
