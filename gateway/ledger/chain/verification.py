"""Verifies a whole ledger: the chain, the last checkpoint, and every table that follows from the records."""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Final

from sqlalchemy import func, select

from gateway.core.errors import LedgerBroken
from gateway.ledger.chain.checkpoint import Checkpoint, CheckpointFile
from gateway.ledger.chain.derive.derivation import Derivation
from gateway.ledger.chain.derive.expected_table import StrangeRow
from gateway.ledger.chain.hashes import verified_records
from gateway.ledger.store.database import Store, unavailable
from gateway.ledger.store.statements import Session, Statement
from gateway.ledger.store.tables import ATTEMPTS

_LAST_DECIDED: Final = Statement(select(func.max(ATTEMPTS.c.seq)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What was checked, all of it intact."""

    records: int
    checkpoint: Checkpoint | None
    """The checkpoint that the ledger agrees with; None if there is no checkpoint."""
    rows: Mapping[str, int]
    """The number of rows of each table that was compared with the records."""


def verify_ledger(store: Store, key: bytes, file: CheckpointFile | None) -> Verification:
    """Check everything, in memory that does not grow with the number of records.

    Raises `errors.LedgerBroken`, which names the first bad record or row, and `errors.LedgerUnavailable`.
    """
    # Read before the snapshot is taken: the ledger then holds at least what was signed.
    checkpoint = file.read() if file is not None else None
    with store.connect() as connection, unavailable():
        store.begin_snapshot(connection)
        return verify_tables(Session(connection), key, checkpoint)


def verify_tables(session: Session, key: bytes, checkpoint: Checkpoint | None) -> Verification:
    """Check everything in one snapshot. Raises `errors.LedgerBroken`."""
    try:
        return _verified(session, key, checkpoint, remember=False)
    except StrangeRow:
        # Only now the keys of all rows are worth their memory: they tell which row it is.
        return _verified(session, key, checkpoint, remember=True)


def _verified(session: Session, key: bytes, checkpoint: Checkpoint | None, *, remember: bool) -> Verification:
    derivation = Derivation(session, remember=remember)
    count = 0
    with closing(verified_records(session, key)) as rows:
        for row in rows:
            count = row[1]
            if checkpoint is not None and count == checkpoint.size and row[-1] != checkpoint.hash:
                raise LedgerBroken(
                    f"Record {count} is not the one that the last checkpoint was signed over: the ledger was rewritten. Compare with a backup."
                )
            derivation.follow(row)
    _check_end(session, count, checkpoint)
    return Verification(records=count, checkpoint=checkpoint, rows=derivation.compare())


def _check_end(session: Session, last: int, checkpoint: Checkpoint | None) -> None:
    """Raise `errors.LedgerBroken` if the end of the chain was cut off: the checkpoint, or an attempt, names a later record."""
    if checkpoint is not None and checkpoint.size > last:
        raise LedgerBroken(
            f"Record {last + 1} is missing from the ledger: it ends at {last}, yet the last checkpoint was signed over {checkpoint.size} "
            "records. Compare with a backup."
        )
    decided = session.scalar(_LAST_DECIDED, {}) or 0
    if decided > last:
        raise LedgerBroken(
            f"Record {last + 1} is missing from the ledger: it ends at {last}, yet a mutation was decided in record {decided}."
        )
