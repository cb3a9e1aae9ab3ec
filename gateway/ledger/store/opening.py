"""Checks a ledger before it is used: that its end is the one that was signed last, and that these keys wrote it."""

from contextlib import closing
from pathlib import Path

from sqlalchemy import inspect, select

from gateway.core.errors import LedgerBroken
from gateway.ledger.chain.anchor import agreed_end
from gateway.ledger.chain.checkpoint import Checkpoint, CheckpointFile
from gateway.ledger.chain.hashes import START, verified_records
from gateway.ledger.store.database import Store, connect_unprepared, sqlite_file, unavailable
from gateway.ledger.store.rows import ChainEndRow, LastRecordRow
from gateway.ledger.store.statements import Session
from gateway.ledger.store.tables import KEYS, LEASES, RECORDS
from gateway.ledger.store.transaction import LAST_RECORD, Transaction


def is_unused(url: str) -> bool:
    """Whether the database at a SQLAlchemy URL holds no record, no key and no gateway's lease, or is not there yet.

    Raises `errors.SettingsInvalid` for an unsupported URL, `errors.LedgerUnavailable` if the database cannot be read.
    """
    file = sqlite_file(url)
    if file is not None and not _has_content(file):
        return True
    with connect_unprepared(url) as connection:
        tables = set(inspect(connection).get_table_names())
        return not any(
            table.name in tables and connection.execute(select(table.c[column]).limit(1)).first() is not None
            for table, column in ((RECORDS, "seq"), (KEYS, "id"), (LEASES, "owner"))
        )


def _has_content(file: Path) -> bool:
    try:
        return file.stat().st_size > 0
    except FileNotFoundError:
        return False


def prepare(store: Store, key: bytes, file: CheckpointFile | None) -> ChainEndRow:
    """Check the end of the ledger; the last record.

    Raises `errors.LedgerBroken` if the ledger does not hold what the last checkpoint says, or ends with a record that was not
    written with this key, and `errors.LedgerUnavailable`.
    """
    checkpoint = file.read() if file is not None else None
    with store.connect(writes=True) as connection, unavailable():
        store.lock(connection)
        transaction = Transaction(connection, key)
        if file is not None:
            agreed_end(transaction, key, checkpoint, file)
        last = transaction.row(LAST_RECORD, {})
        if last is not None:
            _check_last(transaction, key, last)
        connection.commit()
    end = ChainEndRow(last.seq, last.hash) if last is not None else START
    if file is not None and end == START:
        _anchor_empty(file)
    return end


def _anchor_empty(file: CheckpointFile) -> None:
    """Sign that the ledger is empty: a key in it that no record names was written past Sentinel."""
    with file.locked():
        if file.read() is None:
            file.write(Checkpoint(size=0, hash=START.hash))


def _check_last(session: Session, key: bytes, last: LastRecordRow) -> None:
    try:
        with closing(verified_records(session, key, ChainEndRow(last.seq - 1, last.previous))) as rows:
            next(rows)
    except LedgerBroken as error:
        message = f"{error} If this is not the master key that the ledger was written with, start with that one."
        raise LedgerBroken(message) from error
