"""Runs queries on a thread with one connection, each in one consistent snapshot; and probes whether the ledger answers."""

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable
from queue import SimpleQueue
from time import monotonic
from typing import Any, Final, TypeVar

from sqlalchemy import Connection, select
from sqlalchemy.exc import SQLAlchemyError

from gateway.core.errors import LedgerUnavailable
from gateway.ledger.store.database import Store, unavailable
from gateway.ledger.store.job import Job, new_job
from gateway.ledger.store.statements import Session, Statement
from gateway.ledger.store.tables import RECORDS

T = TypeVar("T")

_LONGEST_SECONDS: Final = 20.0
"""How long the ledger may say nothing while mutations wait: a server that is not reachable any more is silent (`database._REACHABLE`).

A ledger that answers one query after the other is not silent, however many wait: on a busy machine only the wait is long.
"""

_PLANS_LAST: Final = 1_000
"""After so many queries PostgreSQL's prepared statements are forgotten, as psycopg does at a rollback: their plans were made for smaller tables. To
parse and plan those of a mutation each time takes 2 ms of its 5.5.
"""


class Reader:
    """Runs queries on a thread of its own, so that neither the event loop nor the writer waits for them.

    Every mutation is handed over to it, so the thread has a plain queue: it takes half the time of an executor's two futures.
    """

    def __init__(self, store: Store, name: str, *, prepared: bool = False) -> None:
        """With `prepared` its queries run prepared statements only, each through a `Session`, and SQLAlchemy is not asked to begin and end a transaction."""
        self._store = store
        self._prepared = prepared
        # Other statements are planned for their own values each time: planned for any, some would read all claims of a resource.
        self._keeps_plans = prepared and store.postgresql
        self._ended = 0
        self._queue: SimpleQueue[Job[Connection, Any] | None] = SimpleQueue()
        self._connection: Connection | None = None
        self._closed = False
        self._closing = threading.Lock()
        """Held while something is put into the queue: nothing may come after its end, where nobody would take it and its caller wait for ever."""
        self._answered_at = monotonic()
        self._thread = threading.Thread(target=self._answer, name=f"ledger-{name}", daemon=True)
        self._thread.start()

    async def read_in_time(self, query: Callable[[Connection], T]) -> T:
        """As `read`; raises `errors.LedgerUnavailable` also if the ledger answers neither this query nor one before it in time."""
        asked, reading = monotonic(), self._asked(query)
        timer = reading.get_loop().call_later(_LONGEST_SECONDS, self._look, asked, reading)
        try:
            return await reading
        finally:
            timer.cancel()

    def _look(self, asked: float, reading: asyncio.Future[T]) -> None:
        """End the wait for a query if the ledger has been silent for too long; else look again when it would have been."""
        if reading.done():
            return
        left = max(asked, self._answered_at) + _LONGEST_SECONDS - monotonic()
        if left > 0:
            reading.get_loop().call_later(left, self._look, asked, reading)
            return
        message = (
            f"The ledger has not answered for {_LONGEST_SECONDS:g} seconds. Nothing was stored or sent; try again."
        )
        reading.set_exception(LedgerUnavailable(message))

    def read(self, query: Callable[[Connection], T]) -> Awaitable[T]:
        """The result of `query`, to be awaited. Raises what it raises, and `errors.LedgerUnavailable`."""
        return self._asked(query)

    def _asked(self, query: Callable[[Connection], T]) -> asyncio.Future[T]:
        job = new_job(query)
        with self._closing:
            if self._closed:
                raise LedgerUnavailable("The ledger is closed, so nothing could be read.")
            self._queue.put(job)
        return job.future

    def close(self) -> None:
        """Finish the queries that wait, and stop. Blocks until then."""
        with self._closing:
            self._closed = True
            self._queue.put(None)
        self._thread.join()

    def _answer(self) -> None:
        while (job := self._queue.get()) is not None:
            # Who waits no longer needs no answer.
            if not job.future.cancelled():
                try:
                    job.result = self._run(job.work)
                except BaseException as error:  # noqa: BLE001  whatever it is, who waits for the result gets it
                    job.error = error
                with contextlib.suppress(RuntimeError):  # the loop is closed, so nobody waits
                    job.loop.call_soon_threadsafe(job.resolve)
            del job  # not kept alive while this thread waits
        self._drop()

    def _run(self, query: Callable[[Connection], T]) -> T:
        reused = self._connection is not None
        try:
            return self._run_once(query)
        except LedgerUnavailable:
            self._drop(broken=True)
            if not reused:
                raise
        # A reused connection may have died since, e.g. because the server restarted. A query can be repeated.
        return self._run_once(query)

    def _run_once(self, query: Callable[[Connection], T]) -> T:
        if self._connection is None:
            self._connection = self._store.connect()
        with unavailable():
            transaction = self._store.begin(self._connection) if self._prepared else self._connection.begin()
            try:
                found = query(self._connection)
            except BaseException:
                transaction.rollback()
                raise
            self._ended += 1
            if self._keeps_plans and self._ended % _PLANS_LAST:
                transaction.commit()
            else:
                transaction.rollback()
        self._answered_at = monotonic()
        return found

    def _drop(self, *, broken: bool = False) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        try:
            if broken:
                self._store.forget(connection)
            connection.close()
        except SQLAlchemyError:
            connection.invalidate()


FRESH_SECONDS: Final = 1.0
"""How long an answer counts, so that frequent readiness checks cost the ledger one query a second."""
ANSWER_SECONDS: Final = 2.0
"""How long to wait for the ledger. An unreachable server takes longer to be noticed."""

_QUESTION: Final = Statement(select(RECORDS.c.seq).where(RECORDS.c.seq == 1))


class Probe:
    """Asks through a reader, one question at a time."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._asked: asyncio.Future[str] | None = None
        self._answered_at = float("-inf")

    async def problem(self) -> str:
        """Why the ledger cannot be read, as a sentence; empty if it can. At most `FRESH_SECONDS` old. Raises nothing."""
        if self._asked is None or (self._asked.done() and monotonic() - self._answered_at >= FRESH_SECONDS):
            self._asked = asyncio.ensure_future(self._ask())
        try:
            return await asyncio.wait_for(asyncio.shield(self._asked), ANSWER_SECONDS)
        except TimeoutError:
            return f"The ledger has not answered for {ANSWER_SECONDS:.0f} seconds. Changes are refused until it does."

    async def _ask(self) -> str:
        try:
            await self._reader.read(lambda connection: Session(connection).scalar(_QUESTION, {}))
        except LedgerUnavailable as error:
            return str(error)
        except Exception as error:  # noqa: BLE001  a probe that breaks tells that something is wrong, whatever it is
            return f"The ledger cannot be read ({type(error).__name__})."
        finally:
            self._answered_at = monotonic()
        return ""
