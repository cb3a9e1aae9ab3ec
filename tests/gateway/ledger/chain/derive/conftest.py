"""Feeds records to a derived table without writing them."""

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gateway.core.records.codec import encode
from gateway.core.records.record import Stage
from gateway.ledger.chain.derive.expected_table import DecodedRecord
from gateway.ledger.chain.derive.narrowed import FOLLOWED
from gateway.ledger.store.statements import Session
from tests.kit.bodies import sample_body
from tests.kit.stores import open_copied_store

Feed = Callable[..., DecodedRecord]


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    """A session on an empty ledger."""
    store = open_copied_store(f"sqlite:///{tmp_path / 'ledger.db'}")
    with store.connect() as connection:
        connection.begin()
        yield Session(connection)
    store.close()


@pytest.fixture
def feed() -> Feed:
    """Gives a table the next record: its stage, its mutation and its body."""
    numbers = count(1)

    def give(part: Any, stage: Stage, mutation: str = "", **body: Any) -> DecodedRecord:
        text = encode(sample_body(stage, body))
        decoded = msgspec.json.decode(text, type=FOLLOWED[stage])
        record = DecodedRecord(next(numbers), "now", mutation, "agent", "shop", text, decoded)
        if stage in part.handlers:
            part.handlers[stage](record)
        return record

    return give
