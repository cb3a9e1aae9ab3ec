"""Checks that the ledger's tables are tables, with their own columns, triggers, constraints and indexes, and that statements mean what they say.

A trigger or a view would change or hide rows by itself; so would whatever runs a function with each row (a generated column, a default, a check,
an index of a function), an operator or a function that PostgreSQL takes for its own, and another schema before that of the ledger. What is
beside these tables (those of the reconciler's workflows, an index more) is not looked at.
"""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from sqlalchemy import Column, Connection, Inspector, inspect, text

from gateway.core.errors import LedgerBroken
from gateway.ledger.store.tables import METADATA, WHERE

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
    "SELECT c.relname FROM pg_class c WHERE c.relkind = 'r' AND c.relpersistence = 'p' AND NOT c.relrowsecurity "
    "AND pg_table_is_visible(c.oid) "
    "AND NOT EXISTS (SELECT 1 FROM pg_rewrite r WHERE r.ev_class = c.oid) "
    "AND NOT EXISTS (SELECT 1 FROM pg_inherits i WHERE c.oid IN (i.inhrelid, i.inhparent)) ORDER BY c.relname"
)
"""Plain tables: kept over a crash, and without rules, row security, parents and children, each of which changes what a statement reads or writes."""
_OTHER_CONSTRAINTS: Final = text(
    "SELECT c.relname, k.conname FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid "
    "WHERE k.contype NOT IN ('p', 'n') AND pg_table_is_visible(c.oid) ORDER BY k.conname"
)
"""All but primary keys and NOT NULL."""
_OF_FUNCTIONS: Final = text(
    "SELECT c.relname, x.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_class x ON x.oid = i.indexrelid "
    "WHERE pg_table_is_visible(c.oid) AND EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = i.indexrelid AND d.refobjid >= 16384 "
    "AND d.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass)) ORDER BY x.relname"
)
"""Indexes that run somebody's function, in their expression or condition."""
_SCHEMAS: Final = text(
    "SELECT DISTINCT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
    "WHERE pg_table_is_visible(c.oid) AND c.relname = ANY(:tables) ORDER BY n.nspname"
)
_FOREIGN: Final = text(
    "SELECT 'the operator ' || o.oprname FROM pg_operator o WHERE o.oid >= 16384 AND o.oprnamespace::regnamespace::text = ANY(current_schemas(false)) "
    "AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = o.oid AND d.deptype = 'e') "
    "UNION ALL SELECT 'the function ' || p.proname FROM pg_proc p WHERE p.oid >= 16384 AND p.pronamespace::regnamespace::text = ANY(current_schemas(false)) "
    "AND EXISTS (SELECT 1 FROM pg_proc own WHERE own.oid < 16384 AND own.proname = p.proname) "
    "AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e') "
    "UNION ALL SELECT 'a cast to ' || t.typname FROM pg_cast k JOIN pg_type t ON t.oid = k.casttarget WHERE k.oid >= 16384 "
    "AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = k.oid AND d.deptype = 'e') LIMIT 1"
)
"""What PostgreSQL takes instead of its own where the types fit better, wherever it stands in the search path. Extensions bring some of these.
Source: https://www.postgresql.org/docs/current/typeconv-func.html"""
_RESTRICTED: Final = re.compile(r"\b(CHECK|GENERATED|AS|COLLATE|REFERENCES|UNIQUE)\b", re.IGNORECASE)
"""What the migrations give no table of SQLite."""
_SQLITE_TEXTS: Final = text("SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name")
_LITERAL: Final = re.compile(r"NULL|-?[0-9]+|'(?:[^']|'')*'(?:::[a-z ]+)?")
"""A default that runs nothing, as a later version may give one to a column of its own."""


def check_schema(connection: Connection) -> None:
    """Raise `errors.LedgerBroken` unless the tables of the ledger are what the migrations made of them."""
    sqlite = connection.dialect.name == "sqlite"
    plain = set(connection.execute(_SQLITE_TABLES if sqlite else _TABLES).scalars())
    for table in METADATA.sorted_tables:
        if table.name not in plain:
            raise _changed(f"{table.name} is no plain table any more")
    _check_triggers(connection, sqlite=sqlite)
    there = inspect(connection)
    _check_columns(connection, there)
    _check_indexes(there)
    if sqlite:
        _check_texts(connection)
    else:
        _check_meaning(connection)


def _check_columns(connection: Connection, there: Inspector) -> None:
    # PostgreSQL tells those of all tables at once, which takes as long as those of one.
    names = list(METADATA.tables)
    keys, columns = there.get_multi_pk_constraint(filter_names=names), there.get_multi_columns(filter_names=names)
    for table in METADATA.sorted_tables:
        key = keys.get((None, table.name))
        if key is None or key["constrained_columns"] != [each.name for each in table.primary_key]:
            raise _changed(f"{table.name} has no primary key any more, or another one")
        found = {each["name"]: each for each in columns[None, table.name]}
        for column in table.columns:
            said = found.pop(column.name, None)
            if said is None or _told(said, connection) != _meant(column, connection):
                raise _changed(f"the column {column.name} of {table.name} is missing, or is another one")
        for name, said in found.items():
            if "computed" in said or "identity" in said or not _LITERAL.fullmatch(str(said["default"] or "NULL")):
                raise _changed(f"{table.name} has the column {name}, which works out its values")


def _told(said: Any, connection: Connection) -> tuple[object, ...]:
    worked_out = "computed" in said or "identity" in said
    return said["type"].compile(connection.dialect), said["nullable"], said["default"], worked_out


def _meant(column: Column[Any], connection: Connection) -> tuple[object, ...]:
    default: Any = column.server_default
    return (
        column.type.compile(connection.dialect),
        column.nullable,
        str(default.arg) if default is not None else None,
        False,
    )


def _check_texts(connection: Connection) -> None:
    """What SQLite keeps of its tables as text only."""
    for table, told in connection.execute(_SQLITE_TEXTS):
        if table in METADATA.tables and (found := _RESTRICTED.search(told)):
            raise _changed(f"{table} has {found[0].upper()} in its definition")


def _check_meaning(connection: Connection) -> None:
    """What PostgreSQL runs with each row or statement, and where it looks for names."""
    tables = METADATA.tables.keys()
    for what, query in (("constraint", _OTHER_CONSTRAINTS), ("index of a function", _OF_FUNCTIONS)):
        for table, name in connection.execute(query):
            if table in tables:
                raise _changed(f"{table} has the {what} {name}")
    if len(connection.execute(_SCHEMAS, {"tables": list(tables)}).scalars().all()) != 1:
        raise _changed("its tables are in several schemas")
    if foreign := connection.execute(_FOREIGN).scalar():
        raise _changed(f"it has {foreign}, which PostgreSQL takes for its own")


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


def _check_indexes(there: Inspector) -> None:
    """The unique ones decide who wins: two claims of one attribute, two attempts with one key."""
    indexes = there.get_multi_indexes(filter_names=list(METADATA.tables))
    for table in METADATA.sorted_tables:
        found = {
            str(each["name"]): (each["column_names"], bool(each["unique"]), _where(each))
            for each in indexes[None, table.name]
        }
        for index in table.indexes:
            said = _plain(index.info.get(WHERE))
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
