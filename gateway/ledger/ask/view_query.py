"""Runs a person's SELECT over the views of the ledger: it reads these views and nothing else, changes nothing, and ends in time.

So the query is made a temporary view first: that it is one SELECT is checked by the server's own parser, and the server's own tree of it names every
relation and function. Only the views of the ledger may be in it, and no function that could run another query, wait, or read a file. It then runs in
a transaction that is read-only, and rolled back.
"""

import re
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import quote

from sqlalchemy.engine import make_url

from gateway.core.errors import LedgerUnavailable, Malformed
from gateway.ledger.ask.views import VIEWS, SqlDialect, views
from gateway.ledger.store.database import connect_unprepared, sqlite_file
from gateway.ledger.store.forms import IN_SQLITE, whole
from gateway.ledger.store.migrate import HEAD, schema_version

if TYPE_CHECKING:
    import psycopg

_ASKED: Final = "sentinel_asked"
_RELATION: Final = re.compile(r":relid (\d+)")
_FUNCTION: Final = re.compile(r":\w*(?:funcid|fnoid) (\d+)")
_STABLE: Final = re.compile(
    r"(age|array_to_json|concat|date|extract|format|generate_series|interval|json|now|overlaps|quote|row_to_json|time|timezone|to_char|to_date|"
    r"to_json|to_timestamp)\w*"
)
"""Names of functions that depend on more than their arguments, and yet read no table and no file: times, texts and JSON."""


def ask_postgresql(url: str, query: str, *, most: int, seconds: float) -> tuple[Sequence[str], list[tuple[Any, ...]]]:
    """The names of the columns, and the first rows. Raises `errors.Malformed` and `errors.LedgerUnavailable`."""
    import psycopg  # noqa: PLC0415  a command on SQLite does not wait for it

    try:
        connection = psycopg.connect(url, connect_timeout=5)
    except psycopg.Error as error:
        raise LedgerUnavailable(f"The ledger cannot be read: {str(error).strip().partition(chr(10))[0]}.") from error
    with closing(connection):
        try:
            return _asked(connection, query, most, seconds)
        except psycopg.errors.QueryCanceled as error:
            raise Malformed(
                f"The query did not end within {seconds:g} s, so it was ended. Narrow it down, e.g. by `at` or `seq`, or give it longer with --timeout."
            ) from error
        except (psycopg.errors.ProgrammingError, psycopg.errors.DataError, psycopg.errors.NotSupportedError) as error:
            raise Malformed(f"PostgreSQL does not take the query: {_first_line(error)}.") from error
        except psycopg.Error as error:
            raise LedgerUnavailable(f"The ledger could not be read: {_first_line(error)}.") from error


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0].rstrip(".")


def _asked(
    connection: "psycopg.Connection", query: str, most: int, seconds: float
) -> tuple[Sequence[str], list[tuple[Any, ...]]]:
    cursor = connection.cursor()
    _run(cursor, f"SET LOCAL statement_timeout = {max(1, int(seconds * 1000))}")
    _run(cursor, "SET LOCAL lock_timeout = '5s'")
    cursor.execute("SELECT quote_ident(current_schema())")
    schema = str((cursor.fetchone() or ("public",))[0])
    for name, select in views(SqlDialect(postgresql=True, schema=schema)).items():
        _run(cursor, f"CREATE TEMP VIEW {name} AS {select}")
    # Parsed by the server as one statement: without `prepare` it would run what comes after a semicolon.
    cursor.execute(cast("Any", f"CREATE TEMP VIEW {_ASKED} AS {query}\n"), prepare=True)
    _check(cursor, schema)
    _run(cursor, "SET TRANSACTION READ ONLY")
    _run(cursor, f"SELECT * FROM pg_temp.{_ASKED} LIMIT {int(most)}")  # noqa: S608  a name and a number of ours
    columns = [column.name for column in cursor.description or ()]
    return columns, cursor.fetchall()


def _run(cursor: "psycopg.Cursor", text: str) -> None:
    """Run a statement of ours."""
    cursor.execute(cast("Any", text))


def _check(cursor: "psycopg.Cursor", schema: str) -> None:
    """Raise `errors.Malformed` if the query reads anything but the views, or calls a function that it may not."""
    ours = {_oid(cursor, f"pg_temp.{name}") for name in VIEWS}
    if _oid(cursor, f"{schema}.records") not in _numbers(_RELATION, _tree(cursor, VIEWS[0])):
        raise Malformed(
            "This PostgreSQL does not tell what a query reads, so none can be run. Ask a copy of the ledger on SQLite instead."
        )
    tree = _tree(cursor, _ASKED)
    if others := _numbers(_RELATION, tree) - ours - {_oid(cursor, f"pg_temp.{_ASKED}")} - {0}:
        cursor.execute("SELECT string_agg(oid::regclass::text, ', ') FROM pg_class WHERE oid = ANY(%s)", [list(others)])
        named = (cursor.fetchone() or ("",))[0]
        raise Malformed(
            f"The query may read the views {', '.join(VIEWS)} and nothing else, not {named}. Nothing was read."
        )
    cursor.execute(
        "SELECT p.proname, p.provolatile, n.nspname FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE p.oid = ANY(%s)",
        [list(_numbers(_FUNCTION, tree))],
    )
    if refused := sorted({name for name, kind, place in cursor.fetchall() if not _is_harmless(name, kind, place)}):
        raise Malformed(
            f"The query may not call {', '.join(refused)}: it could read or do more than the views show. Nothing was read."
        )


def _is_harmless(name: str, volatile: str, schema: str) -> bool:
    return schema == "pg_catalog" and (volatile == "i" or (volatile == "s" and _STABLE.fullmatch(name) is not None))


def _oid(cursor: "psycopg.Cursor", name: str) -> int:
    cursor.execute("SELECT to_regclass(%s)::oid::bigint", [name])
    return int((cursor.fetchone() or (0,))[0] or 0)


def _tree(cursor: "psycopg.Cursor", view: str) -> str:
    """The server's tree of a temporary view."""
    cursor.execute("SELECT r.ev_action::text FROM pg_rewrite r WHERE r.ev_class = to_regclass(%s)", [f"pg_temp.{view}"])
    return str((cursor.fetchone() or ("",))[0])


def _numbers(pattern: "re.Pattern[str]", tree: str) -> set[int]:
    found: Iterable[str] = pattern.findall(tree)
    return {int(number) for number in found}


_STEPS: Final = 10_000
"""Steps of SQLite's machine between two looks at the clock."""
_LARGEST_VALUE: Final = 16 * 1024 * 1024
"""Bytes of one value: functions could make one of gigabytes."""
_PLAIN: Final = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE}
_LISTS: Final = {"json_each", "json_tree"}
"""Functions that are read like tables, and read nothing else."""
_UNDER_VIEWS: Final = {"records", "claims", "approvals", "attempts"}
"""Tables whose rows may be counted: SQLite does not say whether it counts them for a view."""
_SYSTEM: Final = ("sqlite_", "pragma_", "dbstat", "bytecode", "tables_used")
"""What the names of SQLite's own tables begin with."""
_REFUSED_FUNCTIONS: Final = {"load_extension", "fts3_tokenizer"}


def ask_sqlite(file: Path, query: str, *, most: int, seconds: float) -> tuple[Sequence[str], list[tuple[Any, ...]]]:
    """The names of the columns, and the first rows. Raises `errors.Malformed` and `errors.LedgerUnavailable`."""
    address = f"file:{quote(str(file.resolve()))}?mode=ro"
    try:
        connection = sqlite3.connect(address, uri=True, timeout=5, isolation_level=None)
    except sqlite3.Error as error:
        raise LedgerUnavailable(f"The ledger {file} cannot be read: {error}.") from error
    with closing(connection):
        connection.create_function(IN_SQLITE, 3, whole, deterministic=True)
        inner = _make_views(connection)
        late = _guard(connection, inner, seconds)
        try:
            cursor = connection.execute(query)
            return [column[0] for column in cursor.description or ()], cursor.fetchmany(most)
        except (sqlite3.Error, sqlite3.Warning) as error:
            raise Malformed(_sentence(error, late=late(), seconds=seconds)) from error


def _make_views(connection: sqlite3.Connection) -> frozenset[str]:
    """Make the views, each in two layers; the names of the inner ones.

    Only an inner layer may read tables, and no query can guess its name: SQLite says that a part of a query with a name of its own
    (`WITH mutations AS …`) reads a table under that name.
    """
    secret, inner = secrets.token_hex(16), set()
    for name, select in views(SqlDialect(postgresql=False, schema="main")).items():
        hidden = f"inner_{secret}_{name}"
        connection.execute(f"CREATE TEMP VIEW {hidden} AS {select}")
        connection.execute(f"CREATE TEMP VIEW {name} AS SELECT * FROM {hidden}")  # noqa: S608  names of ours
        inner.add(hidden)
    return frozenset(inner)


def _guard(connection: sqlite3.Connection, inner: frozenset[str], seconds: float) -> Callable[[], bool]:
    """Let the connection read the views only, for so long; whether the time is up."""
    names = connection.execute("SELECT lower(name) FROM main.sqlite_master")
    tables = {str(name) for (name,) in names} - _UNDER_VIEWS
    end = time.monotonic() + seconds

    def late() -> bool:
        return time.monotonic() > end

    def allowed(action: int, first: str | None, second: str | None, database: str | None, source: str | None) -> int:
        if action == sqlite3.SQLITE_READ:
            ours = database == "temp" and (first in inner or first in VIEWS)
            fine = source in inner or ours or first in _LISTS or (not second and _is_own_part(first, tables))
        elif action == sqlite3.SQLITE_FUNCTION:
            fine = second not in _REFUSED_FUNCTIONS
        else:
            fine = action in _PLAIN
        return sqlite3.SQLITE_OK if fine else sqlite3.SQLITE_DENY

    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LARGEST_VALUE)
    connection.set_progress_handler(late, _STEPS)
    connection.set_authorizer(allowed)
    return late


def _is_own_part(name: str | None, tables: set[str]) -> bool:
    """Whether what is read without a column (`count(*)`) is a part of the query itself, or under a view.

    A part with the name of another table is refused too: SQLite tells them not apart.
    """
    plain = (name or "").lower()
    return plain not in tables and not plain.startswith(_SYSTEM)


def _sentence(error: Exception, *, late: bool, seconds: float) -> str:
    reason = str(error)
    if "interrupted" in reason and late:
        return f"The query did not end within {seconds:g} s, so it was ended. Narrow it down, e.g. by `at` or `seq`, or give it longer with --timeout."
    if "prohibited" in reason or "not authorized" in reason:
        return f"The query may read the views {', '.join(VIEWS)} and nothing else ({reason}). Nothing was read."
    if "one statement" in reason:
        return "A query is one SELECT. Nothing was read."
    return f"SQLite does not take the query: {reason}."


LONGEST_QUERY: Final = 100_000
"""Characters of a query."""
_LARGEST_WHOLE: Final = 10**300
"""Numbers beyond are floats: Python does not write whole numbers of thousands of digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewRows:
    """What a query found."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool
    """Whether there are more rows than were asked for."""


def ask_views(url: str, query: str, *, most: int, seconds: float) -> ViewRows:
    """The first `most` rows of one SELECT.

    Raises `errors.Malformed` for what is not one SELECT over the views, or is too slow; `errors.LedgerUnavailable`; `errors.SettingsInvalid`.
    """
    query = query.strip().rstrip(";").rstrip()
    if not query or len(query) > LONGEST_QUERY:
        raise Malformed(
            f"A query is one SELECT over the views {', '.join(VIEWS)}, of at most {LONGEST_QUERY:,} characters."
        )
    _check_schema(url)
    file = sqlite_file(url)
    if file is not None:
        columns, rows = ask_sqlite(file, query, most=most + 1, seconds=seconds)
    else:
        plain = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
        columns, rows = ask_postgresql(plain, query, most=most + 1, seconds=seconds)
    plain_rows = tuple(tuple(map(plain_cell, row)) for row in rows[:most])
    return ViewRows(columns=tuple(columns), rows=plain_rows, more=len(rows) > most)


def plain_cell(value: Any) -> Any:
    """A value as both databases give it: sums are whole numbers or floats, bytes and times are text."""
    if isinstance(value, Decimal | float):
        return _number(value)
    return value if value is None or isinstance(value, str | int | float) else str(value)


def _number(value: Decimal | float) -> int | float | str:
    if not isfinite(value):
        return str(value)  # JSON has no number for it
    whole = value == value.to_integral_value() if isinstance(value, Decimal) else value.is_integer()
    return int(value) if whole and -_LARGEST_WHOLE < value < _LARGEST_WHOLE else float(value)


def _check_schema(url: str) -> None:
    """Raise `errors.LedgerUnavailable` if the schema is not this version's: a query migrates nothing."""
    with connect_unprepared(url) as connection:
        found = schema_version(connection)
    if found != HEAD:
        raise LedgerUnavailable(
            f"The ledger's schema has revision {found or 'none'}, and these views read {HEAD}. Nothing was changed: use the `sentinel` of the "
            "gateway that runs on it, or start this version's gateway once, which migrates it."
        )
