"""Exports the ledger to a destination, range by range: every record once, also if the process is killed at any point.

The range is stored in the ledger before any of it is written, and named by the files. So a process that comes after a crash, or beside another one,
writes the same records to the same names. The records are verified on the way: what does not follow from what was exported before is not exported.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeVar

from gateway.core.errors import LedgerBroken
from gateway.core.settings.exports import ExportFormatName
from gateway.exports.destination import ExportDestination
from gateway.exports.formats import FORMATS
from gateway.ledger.ask.exports import (
    ExportPosition,
    begin_export,
    exported_records,
    last_record,
    move_export,
    position_of,
    range_end,
    start_since,
)
from gateway.ledger.store.database import Store, unavailable
from gateway.ledger.store.rows import ChainEndRow
from gateway.ledger.store.statements import Session
from gateway.ledger.store.timestamps import to_text

T = TypeVar("T")

_MOST: Final = 20_000
_MOST_CHARACTERS: Final = 32 * 1024 * 1024
"""What a range holds at most: its lines are in memory until they are written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exporter:
    """One export: a format, and where its files go."""

    store: Store
    key: bytes
    """Keys the hashes of the ledger."""
    format: ExportFormatName
    destination: ExportDestination
    now: Callable[[], datetime]
    since: datetime | None = None
    """Where a new export begins; None for the first record."""
    most: int = _MOST
    """Records of one range."""

    @property
    def sink(self) -> str:
        """The name under which its position is stored."""
        return f"{self.format.value} {self.destination.name}"

    def step(self) -> int:
        """Export the next range; the number of records in it, 0 if all are exported.

        Raises `ExportFailed`, `errors.LedgerBroken` and `errors.LedgerUnavailable`; the range is then left for the next call.
        """
        position = self._planned()
        if not position.planned:
            return 0
        end = self._write(position)
        done = position._replace(seq=end.seq, hash=end.hash, planned=0, at=to_text(self.now()))
        # If another process was quicker it has written the same files, so nothing is left to be stored.
        self._change(lambda session: move_export(session, position, done))
        return end.seq - position.seq

    def _planned(self) -> ExportPosition:
        """The position with the range that is to be written; without one if no record is left."""
        while True:
            position = self._position()
            if position.planned:
                return position
            with self.store.connect() as connection, unavailable():
                end = range_end(Session(connection), position.seq, most=self.most, most_characters=_MOST_CHARACTERS)
            if end == position.seq:
                return position
            planned = position._replace(planned=end, at=to_text(self.now()))
            if self._change(lambda session, was=position, to=planned: move_export(session, was, to)):  # type: ignore[misc]  # bound early
                return planned

    def _position(self) -> ExportPosition:
        with self.store.connect() as connection, unavailable():
            session = Session(connection)
            position, last = position_of(session, self.sink), last_record(session)
        if position is None:
            self._begin()
            return self._position()
        if last.seq < max(position.seq, position.planned):
            raise LedgerBroken(
                f"The ledger ends at record {last.seq}, yet {self.sink} has records up to {max(position.seq, position.planned)}: its end was cut "
                "off, or an older backup was restored. Nothing was exported. Compare with a backup, or export to a new place."
            )
        return position

    def _begin(self) -> None:
        """Store where the export begins. To find it may read much of the ledger, so it is asked once."""
        with self.store.connect() as connection, unavailable():
            start = start_since(Session(connection), to_text(self.since) if self.since else "")
        self._change(lambda session: begin_export(session, self.sink, start, to_text(self.now())))

    def _write(self, position: ExportPosition) -> ChainEndRow:
        """Write every file of the range; its last record."""
        form, end = FORMATS[self.format], position.end
        files: dict[str, list[bytes]] = defaultdict(list)
        with self.store.connect() as connection, unavailable():
            self.store.begin_snapshot(connection)
            for record in exported_records(Session(connection), self.key, position.end, position.planned):
                end = ChainEndRow(record.row.seq, record.row.hash)
                if form.has(record):
                    files[form.place(record)].append(form.line(record))
        for place, lines in sorted(files.items()):
            name = f"{position.seq + 1:012d}-{position.planned:012d}{form.suffix}"
            self.destination.write(f"{place}/{name}", form.pack(form.content(lines)))
        return end

    def _change(self, work: Callable[[Session], T]) -> T:
        """The result of `work` in a durable transaction."""
        with self.store.connect(writes=True) as connection, unavailable():
            self.store.lock(connection)
            result = work(Session(connection))
            connection.commit()
        return result
