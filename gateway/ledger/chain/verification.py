"""Verifies a whole ledger: the chain, the last checkpoint, the archives, and every table that follows from the records."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from sqlalchemy import func, select

from gateway.core.errors import LedgerBroken
from gateway.ledger.chain.archived import Archive, archives, last_archive, rest_of
from gateway.ledger.chain.checkpoint import Checkpoint, CheckpointFile
from gateway.ledger.chain.derive.derivation import Derivation
from gateway.ledger.chain.derive.expected_table import StrangeRow
from gateway.ledger.chain.derive.saved import restore
from gateway.ledger.chain.hashes import START, records_apart, verified_records
from gateway.ledger.chain.schema import check_schema
from gateway.ledger.store.database import Store, unavailable
from gateway.ledger.store.statements import Session, Statement
from gateway.ledger.store.tables import ATTEMPTS

_LAST_DECIDED: Final = Statement(select(func.max(ATTEMPTS.c.seq)))


class FilesOfArchives(Protocol):
    """The files of archives, as far as they are at hand."""

    @property
    def places(self) -> Sequence[str]:
        """The directories that were found, as texts."""

    def check(self, known: Sequence[Archive]) -> bool:
        """Verify the files by themselves; whether they are those of every archive that the ledger knows. Raises `errors.LedgerBroken`."""

    def records(self, known: Sequence[Archive]) -> Iterator[tuple[Any, ...]]:
        """The members of every archived `ChainRow`, in order, each after it was checked. Raises `errors.LedgerBroken`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What was checked, all of it intact."""

    records: int
    """The number of the last record; all were checked, or are archived."""
    checkpoint: Checkpoint | None
    """The checkpoint that the ledger agrees with; None if there is no checkpoint."""
    rows: Mapping[str, int]
    """The number of rows of each table that was compared with the records."""
    archived: int = 0
    """The last archived record; 0 if there is no archive."""
    stayed: int = 0
    """How many of the archived records are in the database as well."""
    files: Sequence[str] = field(default=())
    """The directories of archives whose files were verified."""
    from_files: bool = False
    """Whether the files of every archive were there, so that the archived records were followed too."""


Follow = Callable[[tuple[Any, ...]], None]


def verify_ledger(
    store: Store, key: bytes, file: CheckpointFile | None, files: FilesOfArchives | None = None
) -> Verification:
    """Check everything, in memory that does not grow with the number of records. `files` are those of archives, which are checked too.

    Raises `errors.LedgerBroken`, which names the first bad record or row, and `errors.LedgerUnavailable`.
    """
    # Read before the snapshot is taken: the ledger then holds at least what was signed.
    checkpoint = file.read() if file is not None else None
    with store.connect() as connection, unavailable():
        store.begin_snapshot(connection)
        done = verify_tables(Session(connection), key, checkpoint, files)
        check_schema(connection)
        return done


def verify_tables(
    session: Session, key: bytes, checkpoint: Checkpoint | None, files: FilesOfArchives | None = None
) -> Verification:
    """Check all that the tables hold, in one snapshot. Raises `errors.LedgerBroken`."""
    try:
        return _verified(session, key, checkpoint, files, remember=False)
    except StrangeRow:
        # Only now the keys of all rows are worth their memory: they tell which row it is.
        return _verified(session, key, checkpoint, files, remember=True)


def _verified(
    session: Session, key: bytes, checkpoint: Checkpoint | None, files: FilesOfArchives | None, *, remember: bool
) -> Verification:
    archive = last_archive(session, key)
    known = archives(session)
    complete = files is not None and files.check(known) and archive is not None
    derivation = Derivation(session, remember=remember, sum_key=key if archive is not None and not complete else None)
    follow = _checked_against(checkpoint, derivation.follow)
    end, stayed = START, 0
    if archive is not None:
        end = archive.end
        if files is not None and complete:
            stayed = _follow_archived(session, key, archive, files.records(known), follow)
        else:
            stayed = _go_on_from(session, key, archive, derivation)
            _check_archived_end(archive, checkpoint)
    count = end.seq
    with closing(verified_records(session, key, end)) as rows:
        for row in rows:
            count = row[1]
            follow(row)
    _check_end(session, count, checkpoint)
    return Verification(
        records=count,
        checkpoint=checkpoint,
        rows=derivation.compare(),
        archived=end.seq,
        stayed=stayed,
        files=files.places if files is not None else (),
        from_files=complete,
    )


def _checked_against(checkpoint: Checkpoint | None, follow: Follow) -> Follow:
    """Follow a record after it was held against the checkpoint."""
    if checkpoint is None:
        return follow

    def checked(row: tuple[Any, ...]) -> None:
        if row[1] == checkpoint.size and row[-1] != checkpoint.hash:
            raise _rewritten(row[1])
        follow(row)

    return checked


def _rewritten(seq: int) -> LedgerBroken:
    return LedgerBroken(
        f"Record {seq} is not the one that the last checkpoint was signed over: the ledger was rewritten. Compare with a backup."
    )


def _go_on_from(session: Session, key: bytes, archive: Archive, derivation: Derivation) -> int:
    """Have the derivation know what followed from the archived records, and check those of them that stayed; their number."""
    rest = rest_of(session, key, archive)
    restore(derivation.parts, rest.derived)
    missing, count = iter(rest.stayed), 0
    expected = next(missing, 0)
    with closing(records_apart(session, key, archive.last)) as there:
        for row, _ in there:
            if expected and row[1] > expected:
                break
            # More than those may be there: an archive was interrupted before it removed them, and the next one does.
            count += 1
            expected = next(missing, 0) if row[1] == expected else expected
    if expected:
        raise LedgerBroken(
            f"Record {expected} is missing from the ledger: it is archived, and had to stay because something later needs it. Compare with a backup."
        )
    return count


def _follow_archived(
    session: Session, key: bytes, archive: Archive, records: Iterator[tuple[Any, ...]], follow: Follow
) -> int:
    """Follow the archived records from their files, and hold those in the database against them; the number of the latter."""
    rest = rest_of(session, key, archive)
    missing, count = set(rest.stayed), 0
    with closing(records_apart(session, key, archive.last)) as there:
        found = next(there, None)
        for row in records:
            if found is not None and found[0][1] == row[1]:
                if found[0] != row:
                    raise LedgerBroken(
                        f"Record {row[1]} is not the one that is in the files of its archive. Compare with a backup."
                    )
                missing.discard(row[1])
                count += 1
                found = next(there, None)
            follow(row)
    if found is not None:
        raise LedgerBroken(
            f"Record {found[0][1]} is before the beginning of the ledger: it was inserted. Compare with a backup."
        )
    for seq in sorted(missing):
        raise LedgerBroken(
            f"Record {seq} is missing from the ledger: it is archived, and had to stay because something later needs it. Compare with a backup."
        )
    return count


def _check_archived_end(archive: Archive, checkpoint: Checkpoint | None) -> None:
    if checkpoint is not None and checkpoint.size == archive.last and checkpoint.hash != archive.hash:
        raise _rewritten(archive.last)


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
