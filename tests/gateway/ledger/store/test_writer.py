"""Callers that wait at the same time share a commit, get their results after it, and fail alone."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import select

from gateway.core.errors import LedgerUnavailable
from gateway.core.records.codec import encode
from gateway.core.records.record import Body, Record, Stage
from gateway.ledger.store import database as store_module
from gateway.ledger.store import transaction as transaction_module
from gateway.ledger.store import writer as writer_module
from gateway.ledger.store.database import Store, open_store
from gateway.ledger.store.job import new_job
from gateway.ledger.store.rows import ChainEndRow
from gateway.ledger.store.tables import RECORDS
from gateway.ledger.store.transaction import Transaction
from gateway.ledger.store.writer import Writer
from tests.kit.bodies import sample_body, sample_record
from tests.kit.stores import KEYS

NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def writer(store: Store) -> Iterator[Writer]:
    opened = Writer(store, KEYS.chain)
    yield opened
    opened.close()


def append(transaction: Transaction) -> int:
    return transaction.append(sample_record(stage=Stage.DECIDED, at=NOW))


def broken(transaction: Transaction) -> int:
    append(transaction)
    raise ValueError("mine")


def count(path: Path) -> int:
    connection = sqlite3.connect(path)
    try:
        return int(connection.execute("SELECT count(*) FROM records").fetchone()[0])
    finally:
        connection.close()


async def test_many_callers_share_few_commits(writer: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    commits = []
    commit = writer_module.commit

    def counted(*args: Any, **named: Any) -> ChainEndRow:
        commits.append(1)
        return commit(*args, **named)

    monkeypatch.setattr(writer_module, "commit", counted)
    seqs = await asyncio.gather(*(writer.submit(append) for _ in range(200)))
    assert sorted(seqs) == list(range(1, 201))
    assert len(commits) < 20


async def test_a_result_means_it_is_in_the_file(writer: Writer, tmp_path: Path) -> None:
    for expected in range(1, 6):
        await writer.submit(append)
        assert count(tmp_path / "ledger.db") == expected


async def test_a_caller_that_fails_stores_nothing_and_the_others_succeed(writer: Writer, tmp_path: Path) -> None:
    ends = await asyncio.gather(
        *(writer.submit(broken if number % 3 == 0 else append) for number in range(30)), return_exceptions=True
    )
    assert [isinstance(end, ValueError) for end in ends] == [number % 3 == 0 for number in range(30)]
    assert sorted(end for end in ends if isinstance(end, int)) == list(range(1, 21))
    assert count(tmp_path / "ledger.db") == 20
    with pytest.raises(ValueError, match="mine"):
        await writer.submit(broken)
    assert count(tmp_path / "ledger.db") == 20


def appending(body: Body) -> Callable[[Transaction], int]:
    return lambda transaction: transaction.append(Record(at=NOW, body=body))


async def test_a_known_body_is_written_before_the_lock_is_taken_and_only_once(
    writer: Writer, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin, order = store.begin, []

    def begun(*given: Any, **named: Any) -> Any:
        order.append("lock")
        return begin(*given, **named)

    def encoded(body: Body) -> str:
        order.append("written")
        return encode(body)

    monkeypatch.setattr(store, "begin", begun)
    monkeypatch.setattr(transaction_module, "encode", encoded)
    body = sample_body(Stage.DECIDED, {"call": {"parameters": {"of": "it"}}})
    await writer.submit(appending(body), body)
    assert order == ["written", "lock"]
    await writer.submit(appending(body), sample_body(Stage.DECIDED, {}))  # the work appends another one in the end
    assert order[2:] == ["written", "lock", "written"]
    with store.connect() as connection:
        stored = list(connection.execute(select(RECORDS.c.body).order_by(RECORDS.c.seq)).scalars())
    assert stored == [encode(body)] * 2


async def test_a_known_body_that_cannot_be_written_fails_alone(writer: Writer, tmp_path: Path) -> None:
    bodies = [sample_body(Stage.DECIDED, {"call": {"parameters": {"x": value}}}) for value in ("a", object(), "b")]
    ends = await asyncio.gather(*(writer.submit(appending(body), body) for body in bodies), return_exceptions=True)
    assert [type(end) for end in ends] == [int, TypeError, int]
    assert count(tmp_path / "ledger.db") == 2


async def test_few_large_bodies_are_written_before_the_lock_is_taken(
    writer: Writer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "_WRITTEN_AHEAD", 10_000)
    bodies = [sample_body(Stage.DECIDED, {"call": {"parameters": {"x": "y" * 6_000}}}) for _ in range(5)]
    jobs = [new_job(appending(body), body) for body in bodies]
    assert len(writer_module._written_ahead(jobs, None)) == 2
    await asyncio.gather(*(writer.submit(appending(body), body) for body in bodies))
    assert count(tmp_path / "ledger.db") == 5


async def test_what_waits_has_a_cap_while_the_database_does_not_answer(
    writer: Writer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(writer_module, "MOST_WAITING", 3)
    began, answers = threading.Event(), threading.Event()

    def hang(transaction: Transaction) -> int:
        began.set()
        answers.wait(60)
        return append(transaction)

    tasks = [asyncio.ensure_future(writer.submit(hang))]
    await asyncio.to_thread(began.wait, 60)
    tasks += [asyncio.ensure_future(writer.submit(append)) for _ in range(3)]
    await asyncio.sleep(0)
    with pytest.raises(LedgerUnavailable, match="Nothing of this one was stored"):
        await writer.submit(append)
    answers.set()
    assert sorted(await asyncio.gather(*tasks)) == [1, 2, 3, 4]
    assert count(tmp_path / "ledger.db") == 4


async def test_a_caller_who_stops_waiting_does_not_stop_the_work(writer: Writer, tmp_path: Path) -> None:
    task = asyncio.ensure_future(writer.submit(append))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await writer.submit(append) == 2
    assert count(tmp_path / "ledger.db") == 2


async def test_a_store_that_others_keep_locked_is_unavailable_and_recovers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "BUSY_MS", 50)
    store = open_store(f"sqlite:///{tmp_path / 'ledger.db'}")
    writer = Writer(store, KEYS.chain)
    other = sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerUnavailable, match="another process"):
        await writer.submit(append)
    other.execute("ROLLBACK")
    other.close()
    assert await writer.submit(append) == 1
    writer.close()
    store.close()


async def test_a_full_disk_is_unavailable_and_stores_nothing(writer: Writer, tmp_path: Path) -> None:
    def too_much(transaction: Transaction) -> int:
        transaction.command("PRAGMA max_page_count=1")
        seq = 0
        for _ in range(200):
            seq = transaction.append(
                sample_record(stage=Stage.DECIDED, at=NOW, body={"call": {"parameters": {"x": "y" * 4_000}}})
            )
        return seq

    with pytest.raises(LedgerUnavailable, match="full"):
        await writer.submit(too_much)
    assert count(tmp_path / "ledger.db") == 0


async def test_a_closed_writer_refuses(store: Store) -> None:
    writer = Writer(store, KEYS.chain)
    writer.close()
    with pytest.raises(LedgerUnavailable, match="closed"):
        await writer.submit(append)


async def test_what_is_given_in_while_it_closes_is_done_or_refused(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Work behind the end of the queue would be taken by nobody, and its caller would wait for ever."""
    writer = Writer(store, KEYS.chain)
    put, closing = writer._queue.put, threading.Thread(target=writer.close)

    def put_late(item: Any) -> None:
        if threading.current_thread() is threading.main_thread():
            closing.start()
            closing.join(0.2)  # as far as it gets
        put(item)

    queue = writer._queue
    late = SimpleNamespace(put=put_late, get=queue.get, get_nowait=queue.get_nowait, qsize=queue.qsize)
    monkeypatch.setattr(writer, "_queue", late)
    assert await asyncio.wait_for(writer.submit(append), 300) > 0
    closing.join(300)
    with pytest.raises(LedgerUnavailable):
        await writer.submit(append)
