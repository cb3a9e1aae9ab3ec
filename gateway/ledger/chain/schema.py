"""Checks that the ledger's tables are tables, with their own triggers and indexes: a trigger or a view would change or hide rows by itself.

What is beside these tables (those of the reconciler's workflows, an index more) is not looked at.
"""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, inspect, text

from gateway.core.errors import LedgerBroken
from gateway.ledger.store.tables import METADATA

_ABORT: Final = "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END"
_NOT_ARCHIVED: Final = "WHEN OLD.seq > (SELECT coalesce(max(last), 0) FROM archives)"
_FROZEN: Final = ("records", "record_resources")
_ON_SQLITE: Final[Mapping[str, str]] = {
    **{
        f"{table}_refuse_update": f"CREATE TRIGGER {table}_refuse_update BEFORE UPDATE ON {table} {_ABORT}"
        for table in _FROZEN
    },
    **{
        f"{table}_refuse_delete": f"CREATE TRIGGER {table}_refuse_delete BEFORE DELETE ON {table} {_NOT_ARCHIVED} {_ABORT}"
        for table in _FROZEN
    },
    **{
        f"forms_refuse_{change.lower()}": f"CREATE TRIGGER forms_refuse_{change.lower()} BEFORE {change} ON forms {_ABORT}"
        for change in ("UPDATE", "DELETE")
    },
}
"""The triggers that the migrations made, by name, as SQLite keeps their text."""
_APPEND_ONLY: Final = " BEGIN RAISE EXCEPTION 'the ledger is append-only'; END "
_ARCHIVED_ONLY: Final = (
    " BEGIN IF EXISTS (SELECT 1 FROM gone WHERE seq > (SELECT coalesce(max(last), 0) FROM archives)) "
    "THEN RAISE EXCEPTION 'the ledger is append-only'; END IF; RETURN NULL; END "
)


class _Trigger(NamedTuple):
    """A trigger of PostgreSQL: when it fires (`pg_trigger.tgtype`), whether it does, on what condition, and the body of its function."""

    type: int
    enabled: str
    condition: str
    body: str


_BEFORE_UPDATE_OR_TRUNCATE: Final = 2 + 16 + 32
_BEFORE_UPDATE_DELETE_OR_TRUNCATE: Final = 2 + 8 + 16 + 32
_AFTER_DELETE: Final = 8
_ON_POSTGRESQL: Final[Mapping[str, _Trigger]] = {
    **{f"{table}_append_only": _Trigger(_BEFORE_UPDATE_OR_TRUNCATE, "O", "", _APPEND_ONLY) for table in _FROZEN},
    **{f"{table}_archived_only": _Trigger(_AFTER_DELETE, "O", "", _ARCHIVED_ONLY) for table in _FROZEN},
    "forms_append_only": _Trigger(_BEFORE_UPDATE_DELETE_OR_TRUNCATE, "O", "", _APPEND_ONLY),
}
_ADDED: Final = re.compile(r"::text|[()\\]")
_SQLITE_TRIGGERS: Final = text("SELECT tbl_name, name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name")
_SQLITE_TABLES: Final = text(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE TABLE %' ORDER BY name"
)
_TRIGGERS: Final = text(
    "SELECT c.relname, t.tgname, t.tgtype, t.tgenabled::text, coalesce(pg_get_expr(t.tgqual, t.tgrelid), ''), p.prosrc "
    "FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid "
    "WHERE NOT t.tgisinternal AND pg_table_is_visible(c.oid) ORDER BY t.tgname"
)
_TABLES: Final = text(
    "SELECT c.relname FROM pg_class c WHERE c.relkind = 'r' AND NOT c.relrowsecurity AND pg_table_is_visible(c.oid) "
    "AND NOT EXISTS (SELECT 1 FROM pg_rewrite r WHERE r.ev_class = c.oid) "
    "AND NOT EXISTS (SELECT 1 FROM pg_inherits i WHERE c.oid IN (i.inhrelid, i.inhparent)) ORDER BY c.relname"
)
"""Plain tables: without rules, row security, parents and children, each of which changes what a statement reads or writes."""


def check_schema(connection: Connection) -> None:
    """Raise `errors.LedgerBroken` unless the tables of the ledger are what the migrations made of them."""
    sqlite = connection.dialect.name == "sqlite"
    plain = set(connection.execute(_SQLITE_TABLES if sqlite else _TABLES).scalars())
    for table in METADATA.sorted_tables:
        if table.name not in plain:
            raise _changed(f"{table.name} is no plain table any more")
    _check_triggers(connection, sqlite=sqlite)
    _check_indexes(connection)


def _check_triggers(connection: Connection, *, sqlite: bool) -> None:
    tables, expected = METADATA.tables.keys(), dict(_ON_SQLITE if sqlite else _ON_POSTGRESQL)
    found: dict[str, Any] = {}
    for table, name, *told in connection.execute(_SQLITE_TRIGGERS if sqlite else _TRIGGERS):
        if table in tables:
            found[name] = told[0] if sqlite else _Trigger(*told)
    for name in sorted(found.keys() | expected.keys()):
        if name not in expected:
            raise _changed(f"it has the trigger {name}, which Sentinel did not make")
        if found.get(name) != expected[name]:
            raise _changed(f"the trigger {name} is {'missing' if name not in found else 'another one'}")


def _check_indexes(connection: Connection) -> None:
    """The unique ones decide who wins: two claims of one attribute, two attempts with one key."""
    there = inspect(connection)
    for table in METADATA.sorted_tables:
        found = {
            str(each["name"]): (each["column_names"], bool(each["unique"]), _where(each))
            for each in there.get_indexes(table.name)
        }
        for index in table.indexes:
            said = _plain(index.dialect_options[connection.dialect.name]["where"])
            if index.unique and found.get(str(index.name)) != ([column.name for column in index.columns], True, said):
                raise _changed(f"the unique index {index.name} is missing, or is another one")


def _where(index: Any) -> str:
    """The condition of a partial index, as the database tells it; empty if it has none."""
    told = (value for name, value in index.get("dialect_options", {}).items() if name.endswith("_where"))
    return _plain(next(told, None))


def _plain(condition: object) -> str:
    """A condition without what PostgreSQL adds to it: brackets, and the types of texts. Empty if there is none."""
    return "" if condition is None else _ADDED.sub("", str(condition))


def _changed(what: str) -> LedgerBroken:
    return LedgerBroken(
        f"The schema of the ledger was changed past Sentinel: {what}. What is read or written there may not be what Sentinel meant. Compare with a backup."
    )
