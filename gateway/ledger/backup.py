"""Copies the ledger, its checkpoint and, if asked, the master key to a directory, and restores them into an empty place.

A backup is a directory: the ledger (`ledger.db`, or `ledger.pgdump` of pg_dump), `ledger.checkpoint`, perhaps `master.key`, and
`manifest.json`, which names each file by its digest and is signed with the ledger's key. It is complete once the manifest is there.
"""

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from sqlalchemy import func, select
from sqlalchemy.engine import URL, make_url

from gateway.core.errors import LedgerBroken, LedgerUnavailable, SettingsInvalid
from gateway.ledger.chain.checkpoint import FILE_NAME as CHECKPOINT
from gateway.ledger.chain.checkpoint import Checkpoint, CheckpointFile
from gateway.ledger.chain.verification import Verification, verify_ledger
from gateway.ledger.ledger_keys import LedgerKeys
from gateway.ledger.signed_directory import MANIFEST, check_files, read_manifest, sync_directory, write_manifest
from gateway.ledger.store.database import connect_unprepared, open_store, sqlite_file
from gateway.ledger.store.migrate import schema_version
from gateway.ledger.store.opening import is_unused
from gateway.ledger.store.tables import RECORDS

MASTER_KEY: Final = "master.key"
_SQLITE: Final = "ledger.db"
_POSTGRESQL: Final = "ledger.pgdump"
_KIND: Final = "backup"
_PAGE: Final = 1024 * 1024
_ENVIRONMENT: Final[Mapping[str, str]] = {"sslmode": "PGSSLMODE", "sslrootcert": "PGSSLROOTCERT", "host": "PGHOST"}
"""Members of a URL's query that pg_dump takes from its environment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupPlace:
    """What is backed up, or where it is restored to."""

    url: str
    """SQLAlchemy URL of the ledger."""
    checkpoint: Path
    master_key: Path | None
    """The file of the master key, if it is to be copied."""
    keys: LedgerKeys
    keep_master_key: Callable[[], None] | None = None
    """Stores the master key of the backup here, where there is none; called once the backup is known to be whole. May raise OSError."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """A complete backup."""

    directory: Path
    at: datetime
    records: int
    """How many records it has at least."""
    schema: str
    files: tuple[str, ...]


def back_up(place: BackupPlace, to: Path, now: datetime) -> Backup:
    """Write a new backup below the directory `to`; it blocks.

    Raises `errors.LedgerBroken` if what was copied does not verify (SQLite), `errors.LedgerUnavailable` if it cannot be read or written.
    The copy is left out of `to` then.
    """
    name = f"sentinel-{now.strftime('%Y%m%dT%H%M%SZ')}"
    unfinished = to / f".{name}.unfinished"
    try:
        to.mkdir(parents=True, exist_ok=True, mode=0o700)
        unfinished.mkdir(mode=0o700)
        backup = _written(place, unfinished, to / name, now)
        unfinished.rename(to / name)
        sync_directory(to)
    except OSError as error:
        shutil.rmtree(unfinished, ignore_errors=True)
        message = f"The backup in {to} cannot be written ({error.strerror or error}). No backup was made, and the ledger is as it was."
        raise LedgerUnavailable(message) from error
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    return backup


def _written(place: BackupPlace, here: Path, final: Path, now: datetime) -> Backup:
    # The checkpoint first: the ledger that is copied afterwards holds at least what was signed.
    signed = CheckpointFile(place.checkpoint, place.keys.signing).read()
    if signed is not None:
        CheckpointFile(here / CHECKPOINT, place.keys.signing).write(signed)
    with connect_unprepared(place.url) as connection:
        schema = schema_version(connection)
        records = int(connection.execute(select(func.max(RECORDS.c.seq))).scalar() or 0)
    if sqlite_file(place.url) is None:
        _dump(make_url(place.url), here / _POSTGRESQL)
    else:
        _copy_sqlite(place.url, here / _SQLITE)
        records = _verified(here, place.keys).records
    if place.master_key is not None:
        copy_private(place.master_key, here / MASTER_KEY)
    write_manifest(here, _KIND, {"at": now.isoformat(), "records": records, "schema": schema}, place.keys.signing)
    files = tuple(sorted(path.name for path in here.iterdir() if path.name != MANIFEST))
    return Backup(directory=final, at=now, records=records, schema=schema, files=files)


def _verified(here: Path, keys: LedgerKeys) -> Verification:
    """Verify a copy in SQLite, whole. The copy stays one file."""
    copy = here / _SQLITE
    store = open_store(f"sqlite:///{copy}")
    try:
        return verify_ledger(store, keys.chain, CheckpointFile(here / CHECKPOINT, keys.signing))
    finally:
        store.close()
        with closing(sqlite3.connect(copy)) as connection:
            connection.execute("PRAGMA journal_mode=DELETE")


def restore(place: BackupPlace, backup: Path) -> Verification:
    """Restore a backup into an empty place and verify it whole; it blocks.

    Raises `errors.SettingsInvalid` if the place is not empty or there is no backup, `errors.LedgerBroken` if the backup was changed, belongs to
    another master key, or is older than the checkpoint of the place, and `errors.LedgerUnavailable`. Before the ledger itself is
    written, all of this is checked.
    """
    manifest = read_manifest(backup, _KIND, place.keys.signing.public_key())
    if not is_unused(place.url):
        message = (
            "The ledger of the settings holds records already, and a backup is restored into an empty place only. Nothing was changed. Name another "
            "database or file with `ledger`, or move this one away first."
        )
        raise SettingsInvalid(message)
    check_files(backup, _KIND, manifest["files"])
    file = CheckpointFile(place.checkpoint, place.keys.signing)
    standing, saved = file.read(), CheckpointFile(backup / CHECKPOINT, place.keys.signing).read()
    _check_age(standing, int(manifest["records"]), file)
    try:
        _put_back(place, backup, manifest)
        if place.keep_master_key is not None:
            place.keep_master_key()
    except OSError as error:
        message = f"The backup cannot be restored ({error.strerror or error}). The checkpoint is as it was; empty the place before the next try."
        raise LedgerUnavailable(message) from error
    if standing is None and saved is not None:
        with file.locked():
            file.write(saved)
    store = open_store(place.url)
    try:
        return verify_ledger(store, place.keys.chain, file)
    finally:
        store.close()


def _check_age(standing: Checkpoint | None, records: int, file: CheckpointFile) -> None:
    """Raise `errors.LedgerBroken` if the place remembers records that the backup lacks."""
    if standing is not None and standing.size > records:
        message = (
            f"This backup ends at record {records}, but the checkpoint {file.path} was signed over {standing.size} records: records {records + 1} to "
            f"{standing.size} would be lost. Nothing was changed. Restore a newer backup. If there is none, move the checkpoint away, restore, and look "
            "for what those records applied with `sentinel drift list`."
        )
        raise LedgerBroken(message)


def _put_back(place: BackupPlace, backup: Path, manifest: Mapping[str, Any]) -> None:
    target = sqlite_file(place.url)
    kind = _POSTGRESQL if target is None else _SQLITE
    if kind not in manifest["files"]:
        message = f"The backup is of {'SQLite' if target is None else 'PostgreSQL'}, and the ledger of the settings is not. Nothing was changed."
        raise SettingsInvalid(message)
    if target is None:
        argv = [
            "pg_restore",
            "--single-transaction",
            "--exit-on-error",
            "--clean",
            "--if-exists",
            "--no-owner",
            "--no-privileges",
        ]
        url = make_url(place.url)
        _run_client([*argv, f"--dbname={url.database}", str(backup / kind)], url)
        return
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    for beside in (target.with_name(f"{target.name}-wal"), target.with_name(f"{target.name}-shm")):
        beside.unlink(missing_ok=True)
    unfinished = target.with_name(f".{target.name}.restored")
    copy_private(backup / kind, unfinished)
    unfinished.replace(target)
    sync_directory(target.parent)


def _copy_sqlite(url: str, to: Path) -> None:
    """A consistent copy of a database that others write to meanwhile (https://www.sqlite.org/backup.html)."""
    os.close(os.open(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with (
            closing(sqlite3.connect(f"file:{sqlite_file(url)}?mode=rw", uri=True)) as source,
            closing(sqlite3.connect(to)) as copy,
        ):
            source.backup(copy)
    except sqlite3.Error as error:
        message = f"The ledger could not be copied ({error}). No backup was made, and the ledger is as it was."
        raise LedgerUnavailable(message) from error


def _dump(url: URL, to: Path) -> None:
    """A consistent copy of a database that others write to meanwhile: pg_dump reads one snapshot."""
    os.close(os.open(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    _run_client(["pg_dump", "--format=custom", "--no-owner", "--no-privileges", f"--file={to}"], url)


def _run_client(argv: list[str], url: URL) -> None:
    """Run a client of PostgreSQL. The password is in its environment, where other users of the host do not see it."""
    environment = {**os.environ, "PGDATABASE": str(url.database), "PGCONNECT_TIMEOUT": "10"}
    given = {"PGHOST": url.host, "PGPORT": url.port, "PGUSER": url.username, "PGPASSWORD": url.password}
    environment |= {name: str(value) for name, value in given.items() if value is not None}
    environment |= {_ENVIRONMENT[name]: str(value) for name, value in url.query.items() if name in _ENVIRONMENT}
    try:
        done = subprocess.run(
            argv, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
    except FileNotFoundError as error:
        message = f"{argv[0]} is not on PATH. Install the client programs of PostgreSQL (on Debian: apt install postgresql-client). Nothing was changed."
        raise LedgerUnavailable(message) from error
    if done.returncode:
        lines = [line for line in done.stderr.strip().splitlines() if line]
        message = (
            f"{argv[0]} failed, so nothing was changed: {lines[0][:500] if lines else f'exit code {done.returncode}'}"
        )
        raise LedgerUnavailable(message)


def copy_private(source: Path, to: Path) -> None:
    """Copy a file so that only its owner can read the copy, on disk when this returns. Raises OSError."""
    with source.open("rb") as file, os.fdopen(os.open(to, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as copy:
        shutil.copyfileobj(file, copy, _PAGE)
        copy.flush()
        os.fsync(copy.fileno())
