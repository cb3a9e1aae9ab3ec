"""A mutation's records are found by its id, whatever else is asked."""

import re
from pathlib import Path

import pytest
from sqlalchemy.dialects.sqlite import dialect

from gateway.ledger.ask import blame, change_history, exports
from gateway.ledger.decide import events, ledger_view, signatures, time_boxes
from gateway.ledger.store.database import open_store
from gateway.ledger.store.statements import Statement

_SQLITE = dialect(paramstyle="named")
_OF_A_MUTATION = [
    pytest.param(value, id=f"{module.__name__.rpartition('.')[2]}.{name}")
    for module in (ledger_view, blame, change_history, events, exports, signatures, time_boxes)
    for name, value in vars(module).items()
    if isinstance(value, Statement) and "records.stage" in value.on(_SQLITE)[0]
]


@pytest.mark.parametrize("statement", _OF_A_MUTATION)
def test_the_records_of_a_mutation_are_found_by_its_id(tmp_path: Path, statement: Statement) -> None:
    store = open_store(f"sqlite:///{tmp_path / 'ledger.db'}")
    with store.connect() as connection:
        sql, _ = statement.on(connection.dialect)
        names = dict.fromkeys(re.findall(r":(\w+)", sql), "[]")
        plan = [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}", names)]
    store.close()
    assert any("records_by_mutation (mutation_id=?)" in step for step in plan), plan
    assert not any("records_by_kind" in step for step in plan), plan
