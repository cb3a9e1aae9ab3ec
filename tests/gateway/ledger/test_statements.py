"""The line's statements are answered by indexes, however large the tables grow."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.keyring import keys
from gateway.ledger import approvals, claims, decision, lookup, outcome
from gateway.ledger.statements import Session, Statement
from gateway.ledger.store import Store, open_store

_MODULES = (decision, approvals, claims, lookup, outcome)
_STATEMENTS = [
    pytest.param(value, id=f"{module.__name__.rpartition('.')[2]}.{name}")
    for module in _MODULES
    for name, value in vars(module).items()
    if isinstance(value, Statement)
]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(f"sqlite:///{tmp_path / 'ledger.db'}")
    yield opened
    opened.close()


@pytest.mark.parametrize("statement", _STATEMENTS)
def test_no_statement_walks_a_whole_table(store: Store, statement: Statement) -> None:
    with store.connect() as connection:
        sql, _, _ = statement.on(connection.dialect)
        names = dict.fromkeys(re.findall(r":(\w+)", sql), "[]")
        plan = [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}", names)]
    walked = [
        step
        for step in plan
        if step.startswith("SCAN")
        and not step.startswith(("SCAN json_each", "SCAN (sub", "SCAN anon", "SCAN attributes"))
    ]
    assert [step for step in walked if "attempts_in_flight" not in step] == []


@pytest.mark.parametrize("names", ['["a","b"]', "[]", '["\'"]', '["é"]'])
def test_among_takes_any_number_of_texts(store: Store, names: str) -> None:
    with store.connect() as connection:
        connection.begin()
        assert Session(connection).rows(lookup._VALUES, {"addresses": names}) == []


def test_only_row_statements_can_be_prepared(store: Store) -> None:
    assert keys._ALL.on(store._engine.dialect)[2] is not None
