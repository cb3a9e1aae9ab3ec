"""What may stand beside a ledger's tables, and what may not: whatever changes or hides rows by itself is named."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from gateway.core.errors import LedgerBroken
from gateway.ledger.chain.schema import check_schema
from gateway.ledger.store.database import open_store
from tests.kit.stores import postgres, postgres_url, store_url

__all__ = ["postgres", "postgres_url", "store_url"]

BOTH = ("sqlite", "postgresql")
HELPING = "CREATE FUNCTION helping() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE stops SET ended_at = 'x'; RETURN NULL; END $$"
SILENT = (
    "CREATE OR REPLACE FUNCTION sentinel_append_only() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$"
)
VIEW = ("ALTER TABLE stops RENAME TO all_stops", "CREATE VIEW stops AS SELECT * FROM all_stops WHERE scope = 'x'")
AT_TIMES = (
    "DROP INDEX claims_open",
    "CREATE UNIQUE INDEX claims_open ON claims (address, attribute) WHERE ended_at = 'x'",
)
SPY = "CREATE FUNCTION spy(varchar) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN true; END'"
"""Could do anything with each row that is written."""
CHANGED: dict[str, tuple[str, dict[str, tuple[str, ...]]]] = {
    "a trigger": (
        "it has the trigger helper",
        {
            "sqlite": ("CREATE TRIGGER helper AFTER INSERT ON records BEGIN UPDATE stops SET ended_at = 'x'; END",),
            "postgresql": (HELPING, "CREATE TRIGGER helper AFTER INSERT ON records EXECUTE FUNCTION helping()"),
        },
    ),
    "a trigger less": (
        "the trigger records_(append_only|refuse_update) is missing",
        {
            "sqlite": ("DROP TRIGGER records_refuse_update",),
            "postgresql": ("DROP TRIGGER records_append_only ON records",),
        },
    ),
    "a trigger that never fires": (
        "the trigger records_(append_only|refuse_update) is another one",
        {
            "sqlite": (
                "DROP TRIGGER records_refuse_update",
                "CREATE TRIGGER records_refuse_update BEFORE UPDATE ON records WHEN 0 BEGIN SELECT RAISE(ABORT, 'no'); END",
            ),
            "postgresql": ("ALTER TABLE records DISABLE TRIGGER records_append_only",),
        },
    ),
    "a view instead of a table": ("stops is no plain table", dict.fromkeys(BOTH, VIEW)),
    "two may win": (
        "the unique index claims_open is missing",
        dict.fromkeys(BOTH, ("DROP INDEX claims_open",)),
    ),
    "two may win at times": ("the unique index claims_open is missing, or is another", dict.fromkeys(BOTH, AT_TIMES)),
    "a function that raises nothing": (
        "the trigger forms_append_only is another one",
        {"postgresql": (SILENT,)},
    ),
    "a rule": (
        "stops is no plain table",
        {"postgresql": ("CREATE RULE none AS ON INSERT TO stops DO INSTEAD NOTHING",)},
    ),
    "rows for some": ("stops is no plain table", {"postgresql": ("ALTER TABLE stops ENABLE ROW LEVEL SECURITY",)}),
    "an unlogged table": ("stops is no plain table", {"postgresql": ("ALTER TABLE stops SET UNLOGGED",)}),
    "no primary key": (
        "spent_signatures has no primary key",
        {"postgresql": ("ALTER TABLE spent_signatures DROP CONSTRAINT spent_signatures_pkey",)},
    ),
    "an operator": (
        "it has the operator =",
        {
            "postgresql": (
                "CREATE FUNCTION other(varchar, varchar) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT false'",
                "CREATE OPERATOR = (LEFTARG = varchar, RIGHTARG = varchar, FUNCTION = other)",
            )
        },
    ),
    "a function": (
        "it has the function length",
        {"postgresql": ("CREATE FUNCTION length(varchar) RETURNS int LANGUAGE sql AS 'SELECT 1'",)},
    ),
    "a check": (
        "claims has the constraint seen",
        {"postgresql": (SPY, "ALTER TABLE claims ADD CONSTRAINT seen CHECK (spy(id))")},
    ),
    "an index of a function": (
        "claims has the index of a function seen",
        {"postgresql": (SPY, "CREATE INDEX seen ON claims (spy(id))")},
    ),
    "an index of some rows": (
        "claims has the index of a function seen",
        {"postgresql": (SPY, "CREATE INDEX seen ON claims (id) WHERE spy(id)")},
    ),
    "a default": (
        "the column ended_at of stops",
        {"postgresql": ("ALTER TABLE stops ALTER COLUMN ended_at SET DEFAULT 'now'",)},
    ),
    "a column that works out its values": (
        "stops has the column more",
        {
            "postgresql": ("ALTER TABLE stops ADD COLUMN more text GENERATED ALWAYS AS (upper(id)) STORED",),
            "sqlite": ("ALTER TABLE stops ADD COLUMN more TEXT GENERATED ALWAYS AS (upper(id)) VIRTUAL",),
        },
    ),
    "another order of texts": (
        "the column name of stops",
        {"postgresql": ('ALTER TABLE stops ALTER COLUMN name TYPE varchar COLLATE "POSIX"',)},
    ),
    "a nullable column": (
        "the column actor of claims",
        {"postgresql": ("ALTER TABLE claims ALTER COLUMN actor DROP NOT NULL",)},
    ),
    "another schema before it": (
        "its tables are in several schemas",
        {
            "postgresql": (
                "CREATE SCHEMA evil",
                "CREATE TABLE evil.stops (LIKE public.stops INCLUDING ALL)",
                "SET LOCAL search_path = evil, public",
            )
        },
    ),
    "a column with a condition": (
        "stops has CHECK in its definition",
        {"sqlite": ("ALTER TABLE stops ADD COLUMN more TEXT CHECK (name <> 'x')",)},
    ),
    "a child": ("stops is no plain table", {"postgresql": ("CREATE TABLE more_stops () INHERITS (stops)",)}),
}
CASES = [
    pytest.param(kind, case, id=f"{case}, {kind}", marks=[pytest.mark.postgres] * (kind == "postgresql"))
    for case, (_, by_kind) in CHANGED.items()
    for kind in by_kind
]


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'ledger.db'}"


@pytest.fixture
def connection(store_url: str) -> Iterator[Connection]:
    store = open_store(store_url)
    with store.connect(writes=True) as opened:
        yield opened
        opened.rollback()
    store.close()


def _run(connection: Connection, statements: Iterable[str]) -> None:
    for each in statements:
        connection.execute(text(each))


@pytest.mark.parametrize(("kind", "case"), CASES)
def test_what_changes_or_hides_rows_is_named(request: pytest.FixtureRequest, kind: str, case: str) -> None:
    store = open_store(request.getfixturevalue("sqlite_url" if kind == "sqlite" else "postgres_url"))
    named, statements = CHANGED[case]
    with store.connect(writes=True) as connection:
        check_schema(connection)
        _run(connection, statements[kind])
        with pytest.raises(LedgerBroken, match=f"^The schema of the ledger was changed past Sentinel: {named}"):
            check_schema(connection)
        connection.rollback()
    store.close()


def test_what_stands_beside_the_tables_is_no_matter(connection: Connection) -> None:
    beside = (
        "CREATE TABLE of_others (a INTEGER)",
        "CREATE VIEW their_view AS SELECT actor FROM records",
        "CREATE INDEX of_an_administrator ON records (at)",
        "CREATE INDEX of_some_rows ON records (actor) WHERE actor <> ''",
        "ALTER TABLE stops ADD COLUMN of_a_later_version VARCHAR NOT NULL DEFAULT 'none'",
    )
    _run(connection, beside)
    check_schema(connection)
