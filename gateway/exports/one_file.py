"""Writes the records of some time to one file or to the standard output, as they are read."""

import gzip
import io
import os
import shutil
import tempfile
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO, Final, cast

from gateway.core.model.export_format import ExportFormatName
from gateway.exports.columns import write_parquet
from gateway.exports.destination import ExportFailed
from gateway.exports.formats import FORMATS, ExportFormat
from gateway.ledger.ask.exports import ExportedRecord, end_until, exported_records, start_since
from gateway.ledger.store.database import Store, unavailable
from gateway.ledger.store.statements import Session
from gateway.ledger.store.timestamps import to_text

_BUFFER: Final = 256 * 1024


def export_once(
    store: Store,
    key: bytes,
    name: ExportFormatName,
    out: IO[bytes],
    *,
    since: datetime | None = None,
    until: datetime | None = None,
) -> int:
    """Write every record of that time, `until` not included; the number of them. Each is verified before it is written.

    Raises `errors.LedgerBroken`, `errors.LedgerUnavailable`, and `errors.SettingsInvalid` if the format's extra is not installed.
    """
    form = FORMATS[name]
    with closing(_records(store, key, since, until)) as records:
        if form.streams:
            return _write(form, out, records)
        return _write_columns(form, out, records)


def _write_columns(form: ExportFormat, out: IO[bytes], records: Iterator[ExportedRecord]) -> int:
    with tempfile.TemporaryDirectory(prefix="sentinel-export-") as directory:
        lines, target = Path(directory) / "lines.json", Path(directory) / "lines.parquet"
        with lines.open("wb") as file:
            count = _write(form, file, records)
        write_parquet(lines, target)
        with target.open("rb") as content:
            shutil.copyfileobj(content, out)
    return count


def _write(form: ExportFormat, out: IO[bytes], records: Iterator[ExportedRecord]) -> int:
    count = 0
    out.write(form.head)
    for record in records:
        if form.has(record):
            out.write(form.between if count else b"")
            out.write(form.line(record))
            count += 1
    out.write(form.tail if count or form.head else b"")
    return count


def _records(store: Store, key: bytes, since: datetime | None, until: datetime | None) -> Generator[ExportedRecord]:
    first, end = to_text(since) if since else "", to_text(until) if until else ""
    with store.connect() as connection, unavailable():
        store.begin_snapshot(connection)
        session = Session(connection)
        with closing(exported_records(session, key, start_since(session, first), end_until(session, end))) as records:
            for record in records:
                # Records are in the order in which they were stored, which is nearly that of their times.
                if record.row.at >= first and (not end or record.row.at < end):
                    yield record


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file that is there, whole, once the block has ended without an error; compressed if its name ends with `.gz`.

    Raises `ExportFailed`.
    """
    try:
        handle, beside = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as part, _packed(part, path) as content:
                yield content
            Path(beside).replace(path)
        finally:
            Path(beside).unlink(missing_ok=True)
    except OSError as error:
        raise ExportFailed(
            f"The export cannot write {path} ({error.strerror or error}). Nothing was left there."
        ) from error


def _packed(part: IO[bytes], path: Path) -> IO[bytes]:
    """The stream that takes the content of a file."""
    if path.suffix != ".gz":
        return part
    # Lines are short, and each write to a compressor costs more than the line.
    return io.BufferedWriter(cast("io.RawIOBase", gzip.GzipFile(fileobj=part, mode="wb", mtime=0)), _BUFFER)
