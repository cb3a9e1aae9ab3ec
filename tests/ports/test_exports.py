"""Every record is exported once, on both databases: over kills at every point, beside another process, and as records come."""

import asyncio
import gzip
import json
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.core.model.inbound import Refusal
from gateway.ledger.ask.exports import position_of
from gateway.ledger.ledger import open_ledger
from gateway.ledger.store.statements import Session
from tests.kit.exports import records_of, write_history
from tests.kit.fork_server import ForkServer
from tests.kit.history import NOW
from tests.kit.stores import KEYS
from tests.ports import export_child
from tests.ports.export_child import exporter_of


@pytest.fixture
def written_url(store_url: str) -> str:
    """The URL of a ledger with every stage."""
    asyncio.run(write_history(store_url))
    return store_url


def exported(directory: Path) -> list[int]:
    """The numbers of the records in all files that readers see, in order."""
    lines = [
        line
        for file in directory.rglob("*.json.gz")
        if not file.name.startswith(".")
        for line in gzip.decompress(file.read_bytes()).splitlines()
    ]
    return sorted(json.loads(line)["metadata"]["sequence"] for line in lines)


def all_records(url: str, directory: Path) -> list[int]:
    store = exporter_of(url, directory).store
    try:
        return [record.row.seq for record in records_of(store)]
    finally:
        store.close()


@pytest.fixture(scope="module")
def forks() -> Iterator[ForkServer]:
    """What the processes that are killed are forked from."""
    with ForkServer(export_child.__name__) as made:
        yield made


def killed_at(forks: ForkServer, url: str, directory: Path, point: str, count: int) -> bool:
    """Run an export that is killed there; whether it came that far."""
    code = forks.run(url, str(directory), point, count)
    assert code in (0, -signal.SIGKILL)
    return code != 0


@pytest.mark.slow
def test_no_kill_leaves_a_gap_or_a_record_twice(forks: ForkServer, written_url: str, tmp_path: Path) -> None:
    """The same export is killed in turn while a file is written, after it is, and around each of its own records, until it is through."""
    directory = tmp_path / "out"
    points = [("writing", 1), ("written", 1), ("written", 2), ("moving", 1), ("moved", 2), ("moved", 3), ("writing", 7)]
    kills = sum(killed_at(forks, written_url, directory, point, count) for point, count in points)
    assert kills >= 5
    last = exporter_of(written_url, directory)
    while last.step():
        pass
    assert exported(directory) == all_records(written_url, directory)
    assert not list(directory.rglob("*.part")), "what a killed process left is cleaned up"
    last.store.close()


def test_two_exporters_of_one_sink_write_each_record_once(written_url: str, tmp_path: Path) -> None:
    directory = tmp_path / "out"
    both = [exporter_of(written_url, directory) for _ in range(2)]
    failures: list[BaseException] = []

    def run(number: int) -> None:
        try:
            while both[number].step():
                pass
        except BaseException as error:  # noqa: BLE001  told below
            failures.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    while both[0].step():
        pass
    # A file that the other one had just replaced may fail one of them, which then goes on where it was.
    assert all(type(error).__name__ == "ExportFailed" for error in failures), failures
    assert exported(directory) == all_records(written_url, directory)
    for each in both:
        each.store.close()


def test_new_records_follow_the_old_ones(written_url: str, tmp_path: Path) -> None:
    directory = tmp_path / "out"
    running = exporter_of(written_url, directory)
    while running.step():
        pass
    assert running.step() == 0

    async def add() -> None:
        async with open_ledger(written_url, KEYS) as ledger:
            await ledger.record_refusal(Refusal(at=NOW, code="not_authenticated", reason="No key.", peer="10.0.0.7"))

    asyncio.run(add())
    assert running.step() == 1
    assert exported(directory) == all_records(written_url, directory)
    with running.store.connect() as connection:
        position = position_of(Session(connection), running.sink)
    assert position is not None
    assert (position.seq, position.planned) == (exported(directory)[-1], 0)
    running.store.close()
