"""Keeps exports up to date, once or until the process is told to stop."""

import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Final, Self

import structlog

from gateway.core.errors import LedgerBroken, SentinelError
from gateway.core.settings import Settings
from gateway.core.settings.exports import ExportSettings
from gateway.exports.destination import destination
from gateway.exports.exporter import Exporter
from gateway.ledger.ask.exports import last_record, positions
from gateway.ledger.sealed_ledger import ledger_keys, master_key_of
from gateway.ledger.store.database import Store, open_store, unavailable
from gateway.ledger.store.statements import Session

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
