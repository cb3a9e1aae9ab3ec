"""A probe asks the ledger at most once a second however often it is asked, and says when the ledger does not answer."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from gateway.errors import LedgerUnavailable
from gateway.ledger import probe as module
from gateway.ledger.probe import Probe
from gateway.ledger.reader import Reader
from gateway.ledger.store import open_store


class Counting(Reader):
    """Counts the questions, and answers as it is told."""

    def __init__(self) -> None:
        self.questions = 0
        self.error: Exception | None = None
        self.answer = threading.Event()
        self.answer.set()

    async def read(self, query: Callable[[Connection], Any]) -> Any:
        """Raises the error if there is one, after the answer is allowed."""
        self.questions += 1
        await asyncio.to_thread(self.answer.wait)
        if self.error is not None:
            raise self.error


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr("gateway.ledger.probe.monotonic", lambda: now[0])
    return now


async def test_an_answer_counts_for_a_second(clock: list[float]) -> None:
    reader = Counting()
    probe = Probe(reader)
    assert [await probe.problem() for _ in range(50)] == [""] * 50
    assert reader.questions == 1
    clock[0] += 1.0
    assert await probe.problem() == ""
    assert reader.questions == 2


async def test_a_ledger_that_fails_is_a_problem_until_it_answers_again(clock: list[float]) -> None:
    reader = Counting()
    probe = Probe(reader)
    reader.error = LedgerUnavailable("The ledger is unavailable (gone). Nothing was stored.")
    assert await probe.problem() == "The ledger is unavailable (gone). Nothing was stored."
    reader.error = RuntimeError("secret")
    clock[0] += 1.0
    assert await probe.problem() == "The ledger cannot be read (RuntimeError)."
    reader.error = None
    clock[0] += 1.0
    assert await probe.problem() == ""


async def test_a_ledger_that_does_not_answer_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ANSWER_SECONDS", 0.01)
    reader = Counting()
    reader.answer.clear()
    probe = Probe(reader)
    for _ in range(3):
        assert "has not answered" in await probe.problem()
    assert reader.questions == 1
    reader.answer.set()
    monkeypatch.setattr(module, "ANSWER_SECONDS", 300.0)
    assert await probe.problem() == ""


async def test_it_reads_a_real_ledger(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path / 'ledger.db'}")
    reader = Reader(store, "test")
    assert await Probe(reader).problem() == ""
    reader.close()
    assert await Probe(reader).problem() == "The ledger is closed, so nothing could be read."
    store.close()
