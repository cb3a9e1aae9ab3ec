"""A query over the views on SQLite. SQLite itself asks, for each table and column, whether the query may read it."""

import secrets
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from gateway.errors import LedgerUnavailable, Malformed
from gateway.ledger.views import VIEWS, SqlDialect, views

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
