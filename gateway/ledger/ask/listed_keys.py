"""Lists the keys in an SQLite ledger with the standard library alone: importing what the ledger is built on takes longer than the query."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from gateway.core.errors import LedgerUnavailable
from gateway.ledger.store.rows import KeyRow

_ALL: Final = f"SELECT {', '.join(KeyRow._fields)} FROM keys ORDER BY created_at DESC, id DESC"  # noqa: S608  our own column names
_BUSY_SECONDS: Final = 5.0


def listed_keys(file: Path) -> list[KeyRow] | None:
    """Every key, newest first; None if the ledger lacks the table or a column, and must be migrated first.

    Nothing is changed. Raises `errors.LedgerUnavailable`.
    """
    try:
        with closing(sqlite3.connect(file, timeout=_BUSY_SECONDS)) as connection:
            connection.execute("PRAGMA query_only = ON")
            present = {name for _, name, *_ in connection.execute("PRAGMA table_info(keys)")}
            if not present.issuperset(KeyRow._fields):
                return None
            return [KeyRow._make(row) for row in connection.execute(_ALL)]
    except sqlite3.Error as error:
        raise LedgerUnavailable(f"The keys in {file} cannot be read ({error}). Nothing was changed.") from error
