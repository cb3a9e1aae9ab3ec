"""On PostgreSQL one number stands for the kind of a record in the indexes: no two kinds share one, and what asks for kinds finds them there."""

import json
from itertools import product

import pytest
from sqlalchemy import create_engine, text

from gateway.core.model.motive import Intent, Motivation
from gateway.core.model.verdict import Verdict
from gateway.core.records.record import Stage
from gateway.ledger.ask.record_search import KINDS_BY_NUMBER, RecordKind, SortedList
from gateway.ledger.store.database import open_store
from gateway.ledger.store.statements import SqlValue
from gateway.ledger.store.tables import KIND, KIND_NUMBER

DENIED = RecordKind("decided", "deny", "cost", "incident")
INDEXES = {"": "records_of_kind", "actor": "records_of_actor", "key_id": "records_of_key"}


@pytest.mark.postgres
def test_no_two_kinds_have_one_number(postgres_url: str) -> None:
    """On PostgreSQL a kind is found by its number alone. These are all that can be."""
    stages, verdicts = [*Stage], ["", *Verdict]
    motives = [("", ""), *product(Intent, Motivation)]
    flags = list(product((0, 1), (0, 1)))
    rows = [
        (*(str(each) for each in (stage, verdict, *motive)), *flag)
        for stage, verdict, motive, flag in product(stages, verdicts, motives, flags)
    ]
    columns = ", ".join(f"row ->> {number} AS {name}" for number, name in enumerate(KIND[:4]))
    numbers = ", ".join(f"CAST(row ->> {number} AS integer) AS {name}" for number, name in enumerate(KIND[4:], 4))
    counted = f"SELECT count(*), count(DISTINCT {KIND_NUMBER}) FROM (SELECT {columns}, {numbers} FROM json_array_elements(CAST(:rows AS json)) AS row) AS k"  # noqa: S608  the names are ours
    engine = create_engine(postgres_url)
    with engine.connect() as connection:
        found, different = connection.execute(text(counted), {"rows": json.dumps(rows)}).one()
    engine.dispose()
    assert found == different == len(rows) > 10_000


@pytest.mark.postgres
def test_on_postgresql_kinds_and_their_records_are_found_by_the_number_of_the_kind(postgres_url: str) -> None:
    store = open_store(postgres_url)
    asked: dict[str, SqlValue] = {"after": 0, "before": 9, "who": "a"}
    kind = SortedList(table="records", equal={"key_id": "a"}, kind=DENIED).select(0, asked, postgresql=True)
    with store.connect() as connection:
        for setting in ("enable_seqscan", "enable_sort", "enable_bitmapscan"):
            connection.exec_driver_sql(f"SET {setting} = off")
        for own, index in INDEXES.items():
            statement, _ = KINDS_BY_NUMBER[own].on(connection.dialect)
            plan = "\n".join(row[0] for row in connection.exec_driver_sql(f"EXPLAIN {statement}", asked))
            assert plan.count(f"using {index} ") == 2, plan
            assert "Sort" not in plan, plan
        plan = "\n".join(row[0] for row in connection.execute(text(f"EXPLAIN {kind} ORDER BY seq LIMIT 5"), asked))
        assert "Scan using records_of_key" in plan, plan
        assert "hashtextextended" in plan.partition("Index Cond")[2], plan
    store.close()
