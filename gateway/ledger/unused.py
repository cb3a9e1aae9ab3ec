"""Tells whether a ledger was written to yet, without its keys and without changing it."""

from pathlib import Path

from sqlalchemy import inspect, select

from gateway.ledger.store import connect_unprepared, sqlite_file
from gateway.ledger.tables import KEYS, RECORDS


def is_unused(url: str) -> bool:
    """Whether the database at a SQLAlchemy URL holds no record and no key, or is not there yet.

    Raises `errors.SettingsInvalid` for an unsupported URL, `errors.LedgerUnavailable` if the database cannot be read.
    """
    file = sqlite_file(url)
    if file is not None and not _has_content(file):
        return True
    with connect_unprepared(url) as connection:
        tables = set(inspect(connection).get_table_names())
        return not any(
            table.name in tables and connection.execute(select(table.c[column]).limit(1)).first() is not None
            for table, column in ((RECORDS, "seq"), (KEYS, "id"))
        )


def _has_content(file: Path) -> bool:
    try:
        return file.stat().st_size > 0
    except FileNotFoundError:
        return False
