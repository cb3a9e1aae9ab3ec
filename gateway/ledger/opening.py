"""What is checked before a ledger is used: that it is the one that was closed, and that it is written with these keys."""

from contextlib import closing
from datetime import UTC, datetime
from typing import Final

from sqlalchemy import select

from gateway.errors import LedgerBroken
from gateway.ledger.anchor import agreed_end
from gateway.ledger.chain import START, VERSION, verified_records
from gateway.ledger.checkpoint import Checkpoint
from gateway.ledger.checkpoint_file import CheckpointFile
from gateway.ledger.keys import adopt_keys
from gateway.ledger.rows import ChainEndRow, LastRecordRow
from gateway.ledger.statements import Query, Session, columns
from gateway.ledger.store import Store, unavailable
from gateway.ledger.tables import RECORDS
from gateway.ledger.transaction import Transaction

_LAST: Final = Query(
    select(*columns(RECORDS, LastRecordRow)).order_by(RECORDS.c.seq.desc()).limit(1),
    LastRecordRow,
)


def prepare(store: Store, key: bytes, file: CheckpointFile | None) -> ChainEndRow:
    """Check the end of the ledger, and record the keys of one that was written before records were keyed; the last record.

    Raises `errors.LedgerBroken` if the ledger does not hold what the last checkpoint says, or ends with a record that was not
    written with this key, and `errors.LedgerUnavailable`.
    """
    checkpoint = file.read() if file is not None else None
    with store.connect(writes=True) as connection, unavailable():
        store.lock(connection)
        transaction = Transaction(connection, key)
        if file is not None:
            agreed_end(transaction, checkpoint, file)
        last = transaction.row(_LAST, {})
        if last is not None and last.version == VERSION:
            _check_last(transaction, key, last)
        elif checkpoint is None:
            # Once there is a keyed record or a checkpoint, a key without a record was written past Sentinel.
            adopt_keys(transaction, datetime.now(UTC))
        end = transaction.end or (ChainEndRow(last.seq, last.hash) if last is not None else START)
        connection.commit()
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
