"""Keeps exports up to date, range by range: every record is written once, also if the process is killed at any point.

The range is stored in the ledger before any of it is written, and named by the files. So a process that comes after a crash, or beside another one,
writes the same records to the same names. The records are verified on the way: a record that does not follow from the exported ones is not exported.
"""

import signal
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Final, Self, TypeVar

import structlog

from gateway.core.errors import LedgerBroken, SentinelError
from gateway.core.model.export_format import ExportFormatName
from gateway.core.settings import Settings
from gateway.core.settings.exports import ExportSettings
from gateway.exports.destination import ExportDestination, destination
from gateway.exports.formats import FORMATS
from gateway.ledger.ask.exports import (
    ExportPosition,
    begin_export,
    exported_records,
    last_record,
    move_export,
    position_of,
    positions,
    range_end,
    start_since,
)
from gateway.ledger.ledger_keys import ledger_keys, master_key_of
from gateway.ledger.store.database import Store, open_store, unavailable
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
            with closing(exported_records(Session(connection), self.key, position.end, position.planned)) as records:
                for record in records:
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


log = structlog.get_logger()

_STOPS: Final = (signal.SIGTERM, signal.SIGINT)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedLedger:
    """The database of a ledger, and the key of its chain. It is closed when its block ends."""

    store: Store
    key: bytes
    simulated: str = ""
    """URL of the simulated AWS, if the gateway's is one."""

    @classmethod
    def open(cls, settings: Settings) -> Self:
        """Open the ledger of the settings. Raises what `open_store` and `master_key_of` raise."""
        key = ledger_keys(master_key_of(settings, create=False)).chain
        return cls(store=open_store(settings.ledger_url), key=key, simulated=settings.upstream.simulated)

    def __enter__(self) -> Self:
        """The ledger itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.store.close()


def keep_up(ledger: OpenedLedger, sinks: Sequence[ExportSettings], *, every: float | None = None) -> Mapping[str, int]:
    """Export what each sink lacks; the number of records by sink. With `every`, go on each so many seconds until the process is told to stop.

    Raises as `Exporter.step`. With `every` what may pass is logged and tried again, but not a ledger that was tampered with.
    """
    exporters = [_exporter(ledger, sink) for sink in sinks]
    written = dict.fromkeys((exporter.sink for exporter in exporters), 0)
    with _stopped() as stop:
        while True:
            for exporter in exporters:
                written[exporter.sink] += _caught_up(exporter, stop, patient=every is not None)
            if every is None or stop.wait(every):
                return written


def _exporter(ledger: OpenedLedger, sink: ExportSettings) -> Exporter:
    return Exporter(
        store=ledger.store,
        key=ledger.key,
        format=sink.format,
        destination=destination(sink.to, endpoint=ledger.simulated, region=sink.region),
        since=sink.since,
        now=lambda: datetime.now(UTC),
    )


def _caught_up(exporter: Exporter, stop: threading.Event, *, patient: bool) -> int:
    """Export all that is there now; the number of records."""
    total = 0
    try:
        while not stop.is_set() and (count := exporter.step()):
            total += count
            log.info("exported", sink=exporter.sink, records=count)
    except LedgerBroken:
        raise
    except SentinelError as error:
        if not patient:
            raise
        log.error("export_waits", sink=exporter.sink, reason=str(error))  # noqa: TRY400  the sentence says enough
    return total


@contextmanager
def _stopped() -> Iterator[threading.Event]:
    """An event that is set when the process is told to stop. The range under way is finished first: a second signal does not wait for it."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {number: signal.getsignal(number) for number in _STOPS}

    def told(_number: int, _frame: object) -> None:
        stop.set()
        for number, handler in before.items():
            signal.signal(number, handler)

    for number in _STOPS:
        signal.signal(number, told)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def progress(ledger: OpenedLedger) -> list[dict[str, Any]]:
    """How far each export has come: its sink, its last record, how many are left, and when it last moved."""
    with ledger.store.connect() as connection, unavailable():
        session = Session(connection)
        last = last_record(session).seq
        return [
            {"sink": each.sink, "seq": each.seq, "left": last - each.seq, "at": each.at} for each in positions(session)
        ]
