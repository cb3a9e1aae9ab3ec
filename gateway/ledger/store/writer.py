"""The one thread that writes. It commits all work that waits in its queue as one transaction."""

import asyncio
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from queue import SimpleQueue
from time import monotonic, sleep
from typing import Any, Final, TypeAlias, TypeVar

import structlog
from sqlalchemy import Connection, select, text
from sqlalchemy.exc import SQLAlchemyError

from gateway.core.errors import LedgerUnavailable, SentinelError
from gateway.core.failpoints import Point, failpoint
from gateway.core.records.record import Body
from gateway.ledger.chain.anchor import Anchor
from gateway.ledger.chain.hashes import START
from gateway.ledger.store.database import Store, as_unavailable, unavailable
from gateway.ledger.store.job import Job, new_job
from gateway.ledger.store.log_mover import LogMover
from gateway.ledger.store.rows import ChainEndRow
from gateway.ledger.store.shortener import Shortener, store_forms
from gateway.ledger.store.statements import Session
from gateway.ledger.store.tables import RECORDS
from gateway.ledger.store.transaction import BodyTexts, Transaction, written

log = structlog.get_logger()

T = TypeVar("T")
_Job: TypeAlias = Job[Transaction, Any]

_BATCH: Final = 256
MOST_WAITING: Final = 10_000
"""Jobs that may wait: some forty batches. More come together only while the database does not answer, and each holds what its caller sent."""
_WRITTEN_AHEAD: Final = 1_000_000
"""Characters of bodies that are written before the lock is taken: some 200 decisions. All of a batch may be large."""
_SAVEPOINT: Final = "SAVEPOINT job"
_RELEASE: Final = "RELEASE SAVEPOINT job"
_ROLLBACK_TO: Final = "ROLLBACK TO SAVEPOINT job"
FIND_OUT_SECONDS: Final = 10.0
"""How long a commit is looked for whose reply was lost: longer than a fail-over of a managed PostgreSQL's connections takes to begin, and shorter
than callers wait.
"""
_ASK_AGAIN_SECONDS: Final = 0.2
_BRIEFLY: Final = text("SET LOCAL lock_timeout = '2s'")
"""A server that still holds the lost connection's transaction is asked again."""


class Writer:
    """Group commit: callers that wait at the same time share one transaction and one sync to disk.

    Each caller's work has a savepoint of its own, so it can fail alone. Callers get their results only after the commit.
    """

    def __init__(
        self,
        store: Store,
        key: bytes,
        anchor: Anchor | None = None,
        *,
        seen: ChainEndRow = START,
        shortener: Shortener | None = None,
        mover: LogMover | None = None,
    ) -> None:
        """`key` keys the record hashes; `anchor` is told of every commit, and can refuse new work; `seen` is the last record known now.

        Without `shortener` bodies are stored whole; without `mover` SQLite's log is moved by a commit once it is full.
        """
        self._store = store
        self._key = key
        self._anchor = anchor
        self._seen = seen
        self._shortener = shortener
        self._mover = mover
        self._queue: SimpleQueue[_Job | None] = SimpleQueue()
        self._closed = False
        self._closing = threading.Lock()
        """Held while something is put into the queue: nothing may come after its end, where nobody would take it and its caller wait for ever."""
        self._thread = threading.Thread(target=self._run, name="ledger-writer", daemon=True)
        self._thread.start()

    async def submit(self, work: Callable[[Transaction], T], body: Body | None = None) -> T:
        """The result of `work`, after its transaction is committed. `body` is that of a record which it appends, if it is known already.

        Raises what `work` raises (nothing of it was then stored), and `errors.LedgerUnavailable`. Submitted work is
        done even if the caller stops waiting.
        """
        if self._anchor is not None:
            self._anchor.guard()
        job = new_job(work, body)
        with self._closing:
            if self._closed:
                raise LedgerUnavailable("The ledger is closed, so nothing was stored.")
            if self._queue.qsize() >= MOST_WAITING:
                raise LedgerUnavailable(
                    f"{MOST_WAITING:,} changes wait to be stored already, because the ledger's database does not answer in time. Nothing of this one was "
                    "stored, and what waits still does. Ask again in a moment; see `sentinel doctor` if it stays so."
                )
            self._queue.put(job)
        return await job.future

    def close(self) -> None:
        """Finish the submitted work, and stop. Blocks until then."""
        with self._closing:
            self._closed = True
            self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        connection: Connection | None = None
        while batch := self._gather():
            try:
                connection = connection or self._store.connect(writes=True)
                end = commit(self._store, connection, batch, key=self._key, seen=self._seen, shortener=self._shortener)
                self._committed(end, len(batch))
            except Exception as error:  # noqa: BLE001  no failure of a batch may end the thread
                _fail(batch, error)
                if connection is not None:
                    connection.invalidate()
                    connection.close()
                connection = None
            _resolve_all(batch)
            if self._shortener is not None and self._shortener.learned:
                self._learn(self._shortener)
        if connection is not None:
            connection.close()

    def _learn(self, shortener: Shortener) -> None:
        """Store the learned forms. Nobody waits for it, and without them bodies are stored whole."""
        stored: Collection[str] = ()
        try:
            with self._store.connect(writes=True) as connection, unavailable():
                self._store.lock(connection)
                stored = store_forms(Session(connection), shortener.learned)
                connection.commit()
        except SentinelError as error:
            log.warning("forms_not_stored", reason=str(error))
            stored = ()
        shortener.stored(stored)

    def _committed(self, end: ChainEndRow, jobs: int) -> None:
        self._seen = end
        if self._anchor is not None:
            self._anchor.committed(end)
        if self._mover is not None:
            self._mover.committed(jobs)

    def _gather(self) -> list[_Job]:
        """Wait for the first job, then take all that wait; an empty list means stop."""
        first = self._queue.get()
        if first is None:
            return []
        batch = [first]
        while len(batch) < _BATCH and self._queue.qsize():  # nobody else takes from it
            job = self._queue.get()
            if job is None:
                self._queue.put(None)
                break
            batch.append(job)
        return batch


def commit(
    store: Store,
    connection: Connection,
    batch: Sequence[_Job],
    *,
    key: bytes,
    seen: ChainEndRow,
    shortener: Shortener | None = None,
) -> ChainEndRow:
    """Run every job and commit those that did not fail; the last record known to be stored, at first `seen`.

    Raises `errors.LedgerUnavailable`; none is then stored.
    """
    bodies = _written_ahead(batch, shortener)
    with unavailable():
        try:
            driver = store.begin(connection, writes=True)
            transaction = Transaction(connection, key, seen=seen, shortener=shortener, bodies=bodies)
            stored = False
            for job in batch:
                _run_one(transaction, job, alone=len(batch) == 1)
                stored = stored or job.error is None
        except BaseException:
            _roll_back(store, connection)
            raise
        if not stored:
            driver.rollback()
            return seen
    try:
        with unavailable():
            driver.commit()
    except LedgerUnavailable:
        _roll_back(store, connection)
        if not _is_committed(store, transaction):
            raise
    failpoint(Point.STORED)
    return transaction.end or seen


def _written_ahead(batch: Sequence[_Job], shortener: Shortener | None) -> Mapping[int, BodyTexts]:
    """The known bodies, by identity. They are written before the lock is taken: another process waits for it."""
    bodies: dict[int, BodyTexts] = {}
    left = _WRITTEN_AHEAD
    for job in batch:
        if job.body is not None and left > 0:
            with suppress(Exception):  # it is written again where its job can fail alone
                bodies[id(job.body)] = ahead = written(job.body, shortener)
                left -= len(ahead.text)
    return bodies


def _run_one(transaction: Transaction, job: _Job, *, alone: bool) -> None:
    if alone:
        job.result, job.error = _attempt(transaction, job)
        return
    before = transaction.end
    transaction.command(_SAVEPOINT)
    job.result, job.error = _attempt(transaction, job)
    if job.error is not None:
        transaction.command(_ROLLBACK_TO)
        transaction.end = before
    transaction.command(_RELEASE)


def _attempt(transaction: Transaction, job: _Job) -> tuple[Any, BaseException | None]:
    """The job's result or its error. If the error also broke the transaction, the next statement on it fails."""
    try:
        return job.work(transaction), None
    except Exception as error:  # noqa: BLE001  raised to the caller who waits
        return None, as_unavailable(error)


def _roll_back(store: Store, connection: Connection) -> None:
    try:
        with unavailable():
            driver: Any = connection.connection.dbapi_connection
            driver.rollback()
    except LedgerUnavailable:
        store.forget(connection)


def _is_committed(store: Store, transaction: Transaction) -> bool:
    """Whether a commit whose reply was lost is on disk: its last record is then there, with the same hash.

    Raises `errors.LedgerUnavailable` if that cannot be found out in time: after a fail-over the server may be another one.
    """
    end = transaction.end
    if end is None or not store.postgresql:
        return False
    until = monotonic() + FIND_OUT_SECONDS
    while True:
        try:
            return _stored_hash(store, end.seq) == end.hash
        except (SentinelError, SQLAlchemyError) as error:
            if monotonic() >= until:
                message = (
                    "The connection to the ledger was lost at a commit, and the ledger has not answered since. Whether this was stored is not known: "
                    "look for it once the ledger answers, before you ask again. Nothing was sent to AWS."
                )
                raise LedgerUnavailable(message) from error
        sleep(_ASK_AGAIN_SECONDS)


def _stored_hash(store: Store, seq: int) -> str | None:
    """The hash of a record, asked under the write lock: only then has the transaction ended whose reply was lost."""
    with store.connect(writes=True) as connection, unavailable():
        connection.begin()
        connection.execute(_BRIEFLY)
        store.take_lock(connection)
        found: str | None = connection.execute(select(RECORDS.c.hash).where(RECORDS.c.seq == seq)).scalar()
        connection.rollback()
    return found


def _fail(batch: Sequence[_Job], error: Exception) -> None:
    for job in batch:
        # One error object per caller: a shared one would collect all their tracebacks.
        job.error = LedgerUnavailable(str(error)) if isinstance(error, SentinelError) else _unexpected(error)


def _unexpected(error: Exception) -> LedgerUnavailable:
    return LedgerUnavailable(f"The ledger's writer failed ({type(error).__name__}), so nothing was stored.")


def _resolve_all(batch: Sequence[_Job]) -> None:
    """Resolve the futures, with one callback for each event loop."""
    loops: dict[asyncio.AbstractEventLoop, list[_Job]] = {}
    for job in batch:
        loops.setdefault(job.loop, []).append(job)
    for loop, jobs in loops.items():
        try:
            loop.call_soon_threadsafe(_resolve, jobs)
        except RuntimeError:
            # The loop is closed, so nobody waits. What was committed stays.
            continue


def _resolve(jobs: Sequence[_Job]) -> None:
    for job in jobs:
        job.resolve()
