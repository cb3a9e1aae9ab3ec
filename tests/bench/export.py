"""Figures of exports, one JSON object a line: records a second of processor time of each format, and of an export that keeps its position.

Run `python -m tests.bench export`, or `python -m tests.bench.export --mutations N` (default 5,000, two records each).
"""

import argparse
import asyncio
import io
import resource
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from gateway.core.model.export_format import ExportFormatName
from gateway.exports.destination import DirectoryDestination
from gateway.exports.exporter import Exporter
from gateway.exports.one_file import export_once
from gateway.ledger.ask.exports import exported_records, last_record
from gateway.ledger.chain.hashes import START
from gateway.ledger.ledger import open_ledger
from gateway.ledger.store.database import Store, open_store
from gateway.ledger.store.statements import Session
from tests.bench.figure import show
from tests.bench.ledger import CALLERS, one_mutation
from tests.kit.stores import KEYS


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutations", type=int, default=5_000)
    mutations = parser.parse_args().mutations
    with tempfile.TemporaryDirectory() as directory:
        url = f"sqlite:///{Path(directory) / 'ledger.db'}"
        asyncio.run(_write(url, mutations))
        store = open_store(url)
        try:
            floor, count = _read(store)
            show("export.read_and_verify", floor, "records/s", n=count)
            for name in ExportFormatName:
                show(f"export.{name.value}", count / _once(store, name), "records/s", floor=floor, n=count)
            show("export.directory", count / _kept_up(store, Path(directory)), "records/s", floor=floor, n=count)
        finally:
            store.close()
    show("export.memory", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "MB", n=1)


async def _write(url: str, mutations: int) -> None:
    async with open_ledger(url, KEYS) as ledger:

        async def caller() -> None:
            for _ in range(mutations // CALLERS + 1):
                await one_mutation(ledger)

        await asyncio.gather(*(caller() for _ in range(CALLERS)))


def _read(store: Store) -> tuple[float, int]:
    """Records a second that are read and verified, and their number: what every format waits for."""
    with store.connect() as connection:
        store.begin_snapshot(connection)
        session = Session(connection)
        began = time.process_time()
        count = sum(1 for _ in exported_records(session, KEYS.chain, START, last_record(session).seq))
        return count / (time.process_time() - began), count


def _once(store: Store, name: ExportFormatName) -> float:
    began = time.process_time()
    export_once(store, KEYS.chain, name, io.BytesIO())
    return time.process_time() - began


def _kept_up(store: Store, directory: Path) -> float:
    """Seconds of an export of OCSF into a directory, with its position, compressed and on disk."""
    exporter = Exporter(
        store=store,
        key=KEYS.chain,
        format=ExportFormatName.OCSF,
        destination=DirectoryDestination(directory / "out"),
        now=lambda: datetime.now(UTC),
    )
    began = time.process_time()
    while exporter.step():
        pass
    return time.process_time() - began


if __name__ == "__main__":
    main()
