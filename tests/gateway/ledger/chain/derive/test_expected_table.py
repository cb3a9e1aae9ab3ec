"""Rows are compared in batches, and the sentence names the row, its column and the record."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, insert

from gateway.core.errors import LedgerBroken
from gateway.ledger.chain.derive.expected_table import ExpectedTable, OneOf, StrangeRow, text_digest
from gateway.ledger.store.statements import Session
from gateway.ledger.store.tables import VALUES
from tests.kit.stores import open_copied_store

ROW = {"address": "a", "attribute": "x", "value": "1", "mutation_id": "m", "at": "now", "seq": 1}


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    store = open_copied_store(f"sqlite:///{tmp_path / 'ledger.db'}")
    with store.connect(writes=True) as opened:
        opened.begin()
        yield opened
    store.close()


def filled(connection: Connection, count: int = 1) -> ExpectedTable:
    """The table with `count` rows, and what is expected of it."""
    connection.execute(insert(VALUES), [{**ROW, "attribute": f"x{number}"} for number in range(count)])
    table = ExpectedTable(Session(connection), VALUES)
    for number in range(count):
        table.insert(("a", f"x{number}"), number, {**ROW, "attribute": f"x{number}"})
    return table


def test_equal_rows_are_counted(connection: Connection) -> None:
    assert filled(connection, 450).compare_all() == 450


def test_final_rows_are_forgotten_in_batches(connection: Connection) -> None:
    table = filled(connection, 450)
    for number in range(450):
        table.finish(("a", f"x{number}"))
        assert len(table._final) < 200
    assert not table.rows
    assert table.compare_all() == 450


def test_a_changed_column_is_named(connection: Connection) -> None:
    table = filled(connection, 3)
    table.change(("a", "x1"), 7, value="2")
    with pytest.raises(LedgerBroken, match=r"row a x1 of applied_values .* its `value` is not what record 7 says"):
        table.compare_all()


def test_a_row_that_no_record_made_is_named_once_the_keys_are_remembered(connection: Connection) -> None:
    connection.execute(insert(VALUES), [{**ROW, "address": "strange\x1b[31m"}])
    table = filled(connection)
    with pytest.raises(StrangeRow):
        table.compare_all()
    table = ExpectedTable(Session(connection), VALUES)
    table.seen = set()
    table.insert(("a", "x0"), 1, {**ROW, "attribute": "x0"})
    with pytest.raises(LedgerBroken, match=r"row strange\\x1b\[31m x of applied_values was written past"):
        table.compare_all()


def test_what_was_removed_must_not_be_there(connection: Connection) -> None:
    table = filled(connection)
    table.remove(("a", "x0"))
    table.remove(("a", "never"))
    with pytest.raises(StrangeRow):
        table.compare_all()


@pytest.mark.parametrize(("expected", "fits"), [(OneOf(["0", "1"]), True), (OneOf(["2"]), False)])
def test_records_may_leave_a_value_open(connection: Connection, expected: object, fits: bool) -> None:
    table = filled(connection)
    table.change(("a", "x0"), 2, value=expected)
    if fits:
        assert table.compare_all() == 1
    else:
        with pytest.raises(LedgerBroken):
            table.compare_all()


def test_long_texts_are_compared_by_digest(connection: Connection) -> None:
    connection.execute(insert(VALUES), [ROW])
    table = ExpectedTable(Session(connection), VALUES, {"value": (("value",), text_digest)})
    table.insert(("a", "x"), 1, {**ROW, "value": text_digest("1")})
    assert table.compare_all() == 1


def test_a_change_of_a_row_that_is_final_is_ignored(connection: Connection) -> None:
    table = filled(connection)
    table.finish(("a", "x0"))
    assert table.change(("a", "x0"), 9, value="2") is None
    assert table.compare_all() == 1
