"""Anchors the ledger outside its database: signs checkpoints in the background, over records that it has read back and verified."""

import threading
from contextlib import closing
from time import monotonic
from typing import Final

import structlog
from sqlalchemy import bindparam, select

from gateway.core.errors import LedgerBroken, LedgerUnavailable, SentinelError
from gateway.ledger.chain.archived import last_archive
from gateway.ledger.chain.checkpoint import Checkpoint, CheckpointFile
from gateway.ledger.chain.hashes import START, verified_records
from gateway.ledger.store.database import Store, unavailable
from gateway.ledger.store.rows import ChainEndRow
from gateway.ledger.store.statements import Session, Statement
from gateway.ledger.store.tables import RECORDS

log = structlog.get_logger()

APART_SECONDS: Final = 1.0
"""Shortest time between two checkpoints, so about the longest that a record waits for one: the first after a pause is signed at once."""
EVERY_RECORDS: Final = 1_000
"""Most records that wait for a checkpoint that cannot be written. No more than these are accepted."""
HUNG_SECONDS: Final = 60.0
"""So long may one checkpoint take. On a disk that hangs it would take for ever, and be no failure."""

_RETRY_SECONDS: Final = 5.0
_HASH_OF: Final = Statement(select(RECORDS.c.hash).where(RECORDS.c.seq == bindparam("seq")))


class Anchor:
    """Signs a checkpoint as soon as records were committed, once in `APART_SECONDS` at most, and at the end.

    A thread of its own does it, so no commit waits. It never signs over less than this process knows to be in the ledger.
    """

    def __init__(self, store: Store, key: bytes, file: CheckpointFile, *, end: ChainEndRow) -> None:
        """`key` is the key of the record hashes, `end` the last record now. Raises `errors.LedgerBroken`, `errors.LedgerUnavailable`."""
        self._store = store
        self._key = key
        self._file = file
        checkpoint = file.read()
        self._signed = checkpoint.size if checkpoint is not None else 0
        self._committed = end
        self._wake = threading.Event()
        self._closed = threading.Event()
        self._broken = False
        self._signs_since: float | None = None
        """Since when a checkpoint is being signed (monotonic seconds); None if none is."""
        self.problem = ""
        """Why the last checkpoint could not be signed, as a sentence; empty if it was."""
        self._thread = threading.Thread(target=self._run, name="ledger-anchor", daemon=True)
        self._thread.start()

    def committed(self, end: ChainEndRow) -> None:
        """Take note of the last committed record, and have it signed soon. One before a record already known says nothing."""
        if end.seq <= self._committed.seq:
            return
        self._committed = end
        if not (self.problem or self._wake.is_set()):
            self._wake.set()

    def guard(self) -> None:
        """Raise `errors.LedgerUnavailable` once the ledger was found broken, or too many records wait for a checkpoint that is not written."""
        waiting = self._committed.seq - self._signed >= EVERY_RECORDS
        if self.problem and (self._broken or waiting):
            raise LedgerUnavailable(f"{self.problem} Nothing was stored.")
        if waiting and self._signs_since is not None and monotonic() - self._signs_since >= HUNG_SECONDS:
            raise LedgerUnavailable(
                f"The checkpoint {self._file.path} has not been written for {HUNG_SECONDS:g} seconds: its disk does not answer. Nothing was stored."
            )

    def close(self) -> None:
        """Sign the last checkpoint, and stop. Blocks until then."""
        self._closed.set()
        self._wake.set()
        self._thread.join()

    def sign(self) -> None:
        """Verify the records after the last checkpoint, and sign a new one. Raises `errors.LedgerBroken`, `errors.LedgerUnavailable`.

        If the ledger does not hold the last record that this process knows, that record is signed all the same: no process that shares
        the checkpoint then starts on what is left.
        """
        # Read before the snapshot is taken: the ledger then holds at least this record.
        known = self._committed
        with self._file.locked():
            checkpoint = self._file.read()
            try:
                end = self._verified_end(checkpoint, known)
            except _KnownRecordGone:
                if checkpoint is None or known.seq > checkpoint.size:
                    self._file.write(Checkpoint(size=known.seq, hash=known.hash))
                raise
            if end.seq and (checkpoint is None or end.seq > checkpoint.size):
                self._file.write(Checkpoint(size=end.seq, hash=end.hash))
        self._signed = end.seq

    def _run(self) -> None:
        closed = False
        while not closed:
            waiting = bool(self.problem) or self._committed.seq > self._signed
            self._wake.wait(_RETRY_SECONDS if waiting else None)
            self._wake.clear()
            closed = self._closed.is_set()
            if self._committed.seq > self._signed or self.problem:
                self._try_to_sign()
            self._closed.wait(APART_SECONDS)

    def _try_to_sign(self) -> None:
        self._signs_since = monotonic()
        try:
            self.sign()
        except SentinelError as error:
            self._broken = isinstance(error, LedgerBroken)
            self.problem = str(error)
            log.error("checkpoint_not_signed", reason=str(error))  # noqa: TRY400  the sentence is complete without a traceback
        except Exception as error:
            # The thread must go on: without it the ledger would take records that nothing anchors.
            self.problem = f"The ledger's checkpoint could not be signed ({type(error).__name__})."
            log.exception("checkpoint_not_signed")
        else:
            self._broken, self.problem = False, ""
        finally:
            self._signs_since = None

    def _verified_end(self, checkpoint: Checkpoint | None, known: ChainEndRow) -> ChainEndRow:
        with self._store.connect() as connection, unavailable():
            self._store.begin_snapshot(connection)
            session = Session(connection)
            end = agreed_end(session, self._key, checkpoint, self._file)
            _check_known(session, known)
            with closing(verified_records(session, self._key, end)) as rows:
                for row in rows:
                    end = ChainEndRow(row[1], row[-1])
            return end


class _KnownRecordGone(LedgerBroken):
    """The ledger does not hold the last record that this process committed or found."""


def _check_known(session: Session, known: ChainEndRow) -> None:
    """Raise unless the ledger holds this record. Others may have appended after it."""
    if known.seq == 0:
        return
    found = session.scalar(_HASH_OF, {"seq": known.seq})
    if found != known.hash:
        state = "is missing from the ledger" if found is None else "was rewritten"
        raise _KnownRecordGone(
            f"Record {known.seq} {state}, though this process knows that it was stored: the ledger was changed past Sentinel. "
            "Compare with a backup. If you restored an older ledger on purpose, stop every process and move the checkpoint away."
        )


def agreed_end(session: Session, key: bytes, checkpoint: Checkpoint | None, file: CheckpointFile) -> ChainEndRow:
    """The record after which the chain is not known to be what was signed: the checkpoint's, or the last archived one if that is later.

    Raises `errors.LedgerBroken` if the ledger does not hold the checkpoint's record, and no archive has it.
    """
    archive = last_archive(session, key)
    archived = archive.end if archive is not None else START
    if checkpoint is None or checkpoint.size == 0:
        return archived
    found = session.scalar(_HASH_OF, {"seq": checkpoint.size})
    if checkpoint.size == archived.seq:
        found = archived.hash
    if found != checkpoint.hash and (found is not None or checkpoint.size > archived.seq):
        state = (
            "is missing from the ledger" if found is None else "is not the one that the last checkpoint was signed over"
        )
        raise LedgerBroken(
            f"Record {checkpoint.size} {state}: records up to it were removed or rewritten (checkpoint {file.path}). "
            "Compare with a backup. If you restored an older ledger on purpose, move the checkpoint away."
        )
    return max(archived, ChainEndRow(checkpoint.size, checkpoint.hash))
