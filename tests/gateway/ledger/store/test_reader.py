"""A query sees one snapshot, and a reader survives a connection that died."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, func, select

from gateway.core.errors import LedgerUnavailable, NotFound
from gateway.ledger.store import reader as module
from gateway.ledger.store.database import Store, open_store
from gateway.ledger.store.reader import Probe, Reader
from gateway.ledger.store.statements import Session, Statement
from gateway.ledger.store.tables import KEYS
from tests.kit.stores import Cluster, postgres

__all__ = ["postgres"]

_COUNT = Statement(select(func.count()).select_from(KEYS))


def keys(connection: Connection) -> int:
    return int(Session(connection).scalar(_COUNT, {}))


@pytest.mark.parametrize("prepared", [False, True])
async def test_a_query_sees_one_snapshot_and_the_next_a_later_one(
    store: Store, tmp_path: Path, *, prepared: bool
) -> None:
    reader = Reader(store, "test", prepared=prepared)

    def query(connection: Connection) -> tuple[int, int]:
        before = keys(connection)
        other = sqlite3.connect(tmp_path / "ledger.db")
        other.execute(
            "INSERT INTO keys (id, actor, kind, roles, on_behalf_of, created_at, session_of, motive_only) "
            "VALUES ('k', '', '', '', '', '', '', 0)"
        )
        other.commit()
        other.close()
        return before, keys(connection)

    assert await reader.read(query) == (0, 0)
    assert await reader.read(keys) == 1
    reader.close()


@pytest.mark.parametrize("prepared", [False, True])
async def test_a_connection_that_died_is_replaced_and_the_question_asked_again(store: Store, *, prepared: bool) -> None:
    reader = Reader(store, "test", prepared=prepared)
    assert await reader.read(keys) == 0
    change = []

    def query(connection: Connection) -> int:
        change.append(1)
        if len(change) == 1:
            raise sqlite3.OperationalError("server closed the connection")
        return keys(connection)

    assert await reader.read(query) == 0
    assert len(change) == 2
    reader.close()


@pytest.mark.parametrize("prepared", [False, True])
async def test_what_fails_twice_is_unavailable_and_other_errors_pass_through(store: Store, *, prepared: bool) -> None:
    reader = Reader(store, "test", prepared=prepared)

    def broken(connection: Connection) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    def missing(connection: Connection) -> None:
        raise NotFound("It is not there.")

    with pytest.raises(LedgerUnavailable, match="disk"):
        await reader.read(broken)
    with pytest.raises(NotFound):
        await reader.read(missing)
    assert await reader.read(keys) == 0
    reader.close()
    with pytest.raises(LedgerUnavailable, match="closed"):
        await reader.read(keys)


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
    monkeypatch.setattr("gateway.ledger.store.reader.monotonic", lambda: now[0])
    return now


def _wait_for(event: threading.Event, _: Connection) -> bool:
    return event.wait(300)


async def test_a_ledger_that_answers_others_is_not_silent(
    tmp_path: Path, clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A query that waits long behind others is waited for; one that nothing answers is not."""
    monkeypatch.setattr(module, "_LONGEST_SECONDS", 0.05)
    store = open_store(f"sqlite:///{tmp_path / 'ledger.db'}")
    reader = Reader(store, "test")
    released = threading.Event(), threading.Event()
    began = clock[0]
    waiting = [asyncio.ensure_future(reader.read_in_time(partial(_wait_for, each))) for each in released]
    clock[0] = began + 0.04
    released[0].set()
    assert await waiting[0]
    clock[0] = began + 0.08
    await asyncio.sleep(0.2)  # several of its times
    assert not waiting[1].done()
    clock[0] = began + 0.2
    with pytest.raises(LedgerUnavailable, match="The ledger has not answered for"):
        await waiting[1]
    released[1].set()
    reader.close()
    store.close()


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


@pytest.mark.postgres
@pytest.mark.parametrize(("prepared", "kept"), [(False, [0] * 12), (True, [0] * 6 + [1] * 4 + [0] * 2)])
async def test_prepared_statements_last_for_a_while(
    postgres: Cluster, monkeypatch: pytest.MonkeyPatch, *, prepared: bool, kept: list[int]
) -> None:
    """Their plans are kept, as to plan anew each time costs a mutation 2 ms, but not for ever, as tables grow."""
    monkeypatch.setattr(module, "_PLANS_LAST", 10)
    store = open_store(postgres.new_ledger())
    reader = Reader(store, "test", prepared=prepared)

    def counted(connection: Connection) -> int:
        driver: Any = connection.connection.dbapi_connection
        known = "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%FROM keys%'"
        found = driver.execute(known, prepare=False).fetchone()[0]
        keys(connection)
        return int(found)

    assert [await reader.read(counted) for _ in kept] == kept
    reader.close()
    store.close()
