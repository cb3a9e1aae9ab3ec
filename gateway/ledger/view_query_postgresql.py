"""A query over the views on PostgreSQL, which has no hook that says what a query reads.

So the query is made a temporary view first: that it is one SELECT is checked by the server's own parser, and the server's own tree of it names every
relation and function. Only the views of the ledger may be in it, and no function that could run another query, wait, or read a file. It then runs in
a transaction that is read-only, and rolled back.
"""

import re
from collections.abc import Iterable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final, cast

from gateway.errors import LedgerUnavailable, Malformed
from gateway.ledger.views import VIEWS, SqlDialect, views

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
