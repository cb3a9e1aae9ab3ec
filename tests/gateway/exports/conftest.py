"""A ledger with every stage, once for all tests of the formats."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from gateway.ledger.ask.exports import ExportedRecord
from gateway.ledger.store.database import Store
from tests.kit.exports import opened, records_of, write_history


@pytest.fixture(scope="session")
def ledger_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of the ledger. No test may write to it."""
    file = tmp_path_factory.mktemp("exports") / "ledger.db"
    asyncio.run(write_history(f"sqlite:///{file}"))
    return file


@pytest.fixture
def store(ledger_file: Path) -> Iterator[Store]:
    """The ledger's store."""
    store = opened(ledger_file)
    yield store
    store.close()


@pytest.fixture(scope="session")
def records(ledger_file: Path) -> Sequence[ExportedRecord]:
    """Its records."""
    store = opened(ledger_file)
    try:
        return records_of(store)
    finally:
        store.close()
