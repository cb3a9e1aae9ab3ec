"""Archives old records: writes them to signed files, reads these back, stores that the ledger may do without, and only then removes the records.

A process that dies between two steps loses nothing. Files that the ledger does not know are replaced by the next run, and records that an archive has and
that are still there are removed by it.
"""

import fcntl
import os
import shutil
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter
from pathlib import Path
from typing import Final

from sqlalchemy import bindparam, delete, func, insert, literal_column, select

from gateway.core.errors import LedgerBroken, LedgerUnavailable, SentinelError, SettingsInvalid
from gateway.core.failpoints import Point, failpoint
from gateway.ledger.archive.files import KIND, ArchiveDirectory, RecordFiles, complete, directory_name
from gateway.ledger.archive.staying import staying
from gateway.ledger.ask.exports import last_record, positions
from gateway.ledger.chain.archived import Archive, Rest, archives, last_archive, rest_of, store_archive
from gateway.ledger.chain.checkpoint import CheckpointFile
from gateway.ledger.chain.derive.derivation import Derivation
from gateway.ledger.chain.derive.saved import restore, saved
from gateway.ledger.chain.hashes import START, verified_with_pairs
from gateway.ledger.chain.verification import verify_tables
from gateway.ledger.ledger_keys import LedgerKeys
from gateway.ledger.signed_directory import check_files, sync_directory
from gateway.ledger.store.database import Store, unavailable
from gateway.ledger.store.rows import ChainEndRow
from gateway.ledger.store.statements import Session, Statement
from gateway.ledger.store.tables import PREVIOUS, RECORDS, RESOURCES
from gateway.ledger.store.timestamps import to_text

_FIRST_SINCE: Final = Statement(
    select(func.min(RECORDS.c.seq)).where(RECORDS.c.at >= bindparam("since"), RECORDS.c.seq > bindparam("after"))
)
_END_AT: Final = Statement(select(RECORDS.c.hash).where(RECORDS.c.seq == bindparam("seq")))
_TIME_AT: Final = Statement(select(RECORDS.c.at).where(RECORDS.c.seq == bindparam("seq")))
_SEQS: Final = Statement(
    select(RECORDS.c.seq)
    .where(RECORDS.c.seq > bindparam("after"), RECORDS.c.seq <= bindparam("last"))
    .order_by(RECORDS.c.seq)
    .limit(bindparam("most"))
)
_SAYING_LESS: Final = Statement(
    select(RECORDS.c.seq).where(
        RECORDS.c.seq > bindparam("after"),
        RECORDS.c.seq <= bindparam("last"),
        RECORDS.c.previous == literal_column("''"),
    )
)
_WITH_PREVIOUS: Final = Statement(
    select(*(PREVIOUS if column is RECORDS.c.previous else column for column in RECORDS.columns)).where(
        RECORDS.c.seq == bindparam("seq")
    )
)
_KEEP: Final = Statement(insert(RECORDS))
_REMOVE_RECORDS: Final = Statement(
    delete(RECORDS).where(RECORDS.c.seq >= bindparam("first"), RECORDS.c.seq <= bindparam("last"))
)
_REMOVE_RESOURCES: Final = Statement(
    delete(RESOURCES).where(RESOURCES.c.seq >= bindparam("first"), RESOURCES.c.seq <= bindparam("last"))
)
_LOCK: Final = ".sentinel-archive.lock"
_AT_ONCE: Final = 2_000
"""Records that are removed in one transaction, so that no mutation waits long behind it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Archived:
    """What a run did."""

    directory: Path | None
    """The new archive; None if no record is old enough."""
    first: int
    last: int
    """Its records; 0 without one."""
    stayed: int
    """How many of all archived records stay in the database."""
    removed: int
    """How many records left the database, those included that an interrupted run had left."""
    held_back: str
    """Why less was archived than was old enough, as a sentence; empty if all of it was."""


def archive_records(
    store: Store, keys: LedgerKeys, file: CheckpointFile, *, to: Path, before: datetime, now: datetime
) -> Archived:
    """Archive the records from before a time, in a new directory below `to`; it blocks. The whole ledger is verified meanwhile.

    Raises `errors.LedgerBroken`, `errors.LedgerUnavailable`, and `errors.SettingsInvalid` if something else stands in its place.
    """
    try:
        to.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _alone(to):
            removed = _remove(store, keys)
            made, held_back = _write(store, keys, file, to=to.resolve(), before=before, now=now)
            if made is None:
                return Archived(
                    directory=None, first=0, last=0, stayed=_stayed(store, keys), removed=removed, held_back=held_back
                )
            archive, rest = made
            failpoint(Point.ARCHIVE_NAMED)
            _store(store, keys, archive, rest)
            failpoint(Point.ARCHIVE_STORED)
            removed += _remove(store, keys)
    except OSError as error:
        message = f"The archive in {to} cannot be written or read ({error.strerror or error}). The ledger is as it was."
        raise LedgerUnavailable(message) from error
    return Archived(
        directory=Path(archive.place),
        first=archive.first,
        last=archive.last,
        stayed=len(rest.stayed),
        removed=removed,
        held_back=held_back,
    )


@contextmanager
def _alone(to: Path) -> Iterator[None]:
    """Keep another run out of the directory: it would put equal files with another manifest in the place of those that the ledger names."""
    file = os.open(to / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            message = f"Another process is archiving into {to}. Nothing was changed. Run the command again when that one has ended."
            raise LedgerUnavailable(message) from error
        yield
    finally:
        os.close(file)


def _write(
    store: Store, keys: LedgerKeys, file: CheckpointFile, *, to: Path, before: datetime, now: datetime
) -> tuple[tuple[Archive, Rest] | None, str]:
    """Verify the ledger, write what is old enough, and read it back; None if nothing is."""
    checkpoint = file.read()
    with store.connect() as connection, unavailable():
        store.begin_snapshot(connection)
        session = Session(connection)
        earlier = last_archive(session, keys.chain)
        start = earlier.end if earlier is not None else START
        last, held_back = _range_end(session, start, before, checkpoint.size if checkpoint is not None else None)
        if last <= start.seq:
            return None, held_back
        verify_tables(session, keys.chain, checkpoint)
        end = ChainEndRow(last, session.scalar(_END_AT, {"seq": last}))
        until = session.scalar(_TIME_AT, {"seq": last})
        here = to / directory_name(start.seq + 1, last)
        with _unfinished(here, keys) as directory:
            derived = _write_records(session, keys, directory, start, last, earlier=earlier)
            complete(directory, start, end, until=until, at=to_text(now), key=keys.signing)
            failpoint(Point.ARCHIVE_WRITTEN)
            written = _read_back(directory, keys)
            rest = Rest(stayed=tuple(staying(session, last)), derived=derived)
    return (
        Archive(
            last=last,
            first=start.seq + 1,
            hash=end.hash,
            until=until,
            at=to_text(now),
            place=str(here),
            manifest=written.digest,
            parts=0,
            mac="",
        ),
        rest,
    ), held_back


def _range_end(session: Session, start: ChainEndRow, before: datetime, signed: int | None) -> tuple[int, str]:
    """The last record to archive, and why it is not a later one."""
    end = last_record(session).seq
    first = session.scalar(_FIRST_SINCE, {"since": to_text(before), "after": start.seq})
    wanted = (first if first is not None else end + 1) - 1
    limits = [(end - 1, "the newest record stays, which the next one names")]
    if signed is None:
        limits.append((start.seq, "no checkpoint was signed yet"))
    else:
        limits.append((signed - 1, f"the checkpoint was signed over {signed} record(s), and it needs its last one"))
    limits += [
        (each.seq, f"the export to {each.sink} has come to record {each.seq} only") for each in positions(session)
    ]
    last, why = min([(wanted, ""), *limits], key=itemgetter(0))
    return last, f"Records up to {wanted} are old enough, yet {why}." if why and last < wanted else ""


def _write_records(
    session: Session, keys: LedgerKeys, directory: Path, start: ChainEndRow, last: int, *, earlier: Archive | None
) -> bytes:
    """Write the records after `start` up to `last`; what the other tables must hold so far."""
    derivation = Derivation(session, sum_key=keys.chain)
    if earlier is not None:
        restore(derivation.parts, rest_of(session, keys.chain, earlier).derived)
    files = RecordFiles(directory)
    try:
        with closing(verified_with_pairs(session, keys.chain, start)) as rows:
            for row, pairs in rows:
                if row[1] > last:
                    break
                files.add(row, pairs)
                derivation.follow(row)
    finally:
        files.close()
    return saved(derivation.parts)


@contextmanager
def _unfinished(here: Path, keys: LedgerKeys) -> Iterator[Path]:
    """A directory that gets its name once the block has ended without an error, instead of one that the ledger does not know."""
    directory = here.with_name(f".{here.name}.unfinished")
    shutil.rmtree(directory, ignore_errors=True)
    if here.exists():
        _check_ours(here, keys)
    directory.mkdir(mode=0o700)
    try:
        yield directory
        shutil.rmtree(here, ignore_errors=True)
        directory.rename(here)
        sync_directory(here.parent)
    except (OSError, SentinelError):
        shutil.rmtree(directory, ignore_errors=True)
        raise


def _check_ours(here: Path, keys: LedgerKeys) -> None:
    try:
        ArchiveDirectory.read(here, keys.signing.public_key())
    except (LedgerBroken, SettingsInvalid) as error:
        message = f"{here} is there already, and is no archive of this ledger. Nothing was changed. Name another directory, or move it away."
        raise SettingsInvalid(message) from error


def _read_back(directory: Path, keys: LedgerKeys) -> ArchiveDirectory:
    """Verify what was written, from the files. Raises `errors.LedgerBroken`."""
    written = ArchiveDirectory.read(directory, keys.signing.public_key())
    check_files(directory, KIND, written.files)
    for _ in written.records(keys.chain):
        pass  # it raises what is wrong
    return written


def _store(store: Store, keys: LedgerKeys, archive: Archive, rest: Rest) -> None:
    with store.connect(writes=True) as connection, unavailable():
        store.lock(connection)
        session = Session(connection)
        known = archives(session)
        if (known[-1].last if known else 0) + 1 != archive.first:
            message = "Another process archived records meanwhile. Its archive stands; what this one wrote is not needed. Nothing was removed."
            raise LedgerUnavailable(message)
        store_archive(session, keys.chain, archive, rest)
        connection.commit()


def _stayed(store: Store, keys: LedgerKeys) -> int:
    with store.connect() as connection, unavailable():
        store.begin_snapshot(connection)
        session = Session(connection)
        archive = last_archive(session, keys.chain)
        return len(rest_of(session, keys.chain, archive).stayed) if archive is not None else 0


def _remove(store: Store, keys: LedgerKeys) -> int:
    """Remove the archived records that need not stay, some at a time; their number."""
    with store.connect(writes=True) as connection, unavailable():
        store.begin_snapshot(connection)
        session = Session(connection)
        archive = last_archive(session, keys.chain)
        if archive is None:
            return 0
        stays = frozenset(rest_of(session, keys.chain, archive).stayed)
        connection.rollback()
        removed, position = 0, -(2**62)
        while True:
            store.lock(connection)
            session = Session(connection)
            seqs = session.column(_SEQS, {"after": position, "last": archive.last, "most": _AT_ONCE})
            if not seqs:
                connection.rollback()
                return removed
            said = _say_previous(session, position, seqs[-1] + 1, stays)
            position = seqs[-1]
            runs = _runs([seq for seq in seqs if seq not in stays])
            if not runs and not said:
                connection.rollback()
                continue
            for first, last in runs:
                session.change(_REMOVE_RESOURCES, {"first": first, "last": last})
                removed += session.change(_REMOVE_RECORDS, {"first": first, "last": last})
            connection.commit()
            failpoint(Point.RECORDS_REMOVED)


def _say_previous(session: Session, after: int, last: int, stays: Collection[int]) -> int:
    """Let the records that stay between these numbers have the hash of the one before, which may leave; how many had not."""
    seqs = [seq for seq in session.column(_SAYING_LESS, {"after": after, "last": last}) if seq in stays]
    for seq in seqs:
        for row in session.fetch(_WITH_PREVIOUS, {"seq": seq}):
            session.change(_REMOVE_RECORDS, {"first": seq, "last": seq})
            session.change(_KEEP, dict(zip(RECORDS.columns.keys(), row, strict=True)))
    return len(seqs)


def _runs(seqs: list[int]) -> list[tuple[int, int]]:
    """The numbers as ranges without a gap."""
    runs: list[tuple[int, int]] = []
    for seq in seqs:
        if runs and runs[-1][1] == seq - 1:
            runs[-1] = (runs[-1][0], seq)
        else:
            runs.append((seq, seq))
    return runs
