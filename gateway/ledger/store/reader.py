"""Runs queries on a thread with one connection, each in one consistent snapshot; and probes whether the ledger answers."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import Final, TypeVar

from sqlalchemy import Connection, text
from sqlalchemy.exc import SQLAlchemyError

from gateway.core.errors import LedgerUnavailable
from gateway.ledger.store.database import Store, unavailable

T = TypeVar("T")

_LONGEST_SECONDS: Final = 20.0
"""How long the ledger may say nothing while mutations wait: a server that is not reachable any more is silent (`database._REACHABLE`).

A ledger that answers one query after the other is not silent, however many wait: on a busy machine only the wait is long.
"""


class Reader:
    """Runs queries on a thread of its own, so that neither the event loop nor the writer waits for them."""

    def __init__(self, store: Store, name: str) -> None:
        self._store = store
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"ledger-{name}")
        self._connection: Connection | None = None
        self._closed = False
        self._answered_at = monotonic()

    async def read_in_time(self, query: Callable[[Connection], T]) -> T:
        """As `read`; raises `errors.LedgerUnavailable` also if the ledger answers neither this query nor one before it in time."""
        asked, reading = monotonic(), asyncio.ensure_future(self.read(query))
        while True:
            until = max(asked, self._answered_at) + _LONGEST_SECONDS
            done, _ = await asyncio.wait({reading}, timeout=until - monotonic())
            if done:
                return reading.result()
            if monotonic() >= max(asked, self._answered_at) + _LONGEST_SECONDS:
                reading.cancel()
                message = f"The ledger has not answered for {_LONGEST_SECONDS:g} seconds. Nothing was stored or sent; try again."
                raise LedgerUnavailable(message)

    def read(self, query: Callable[[Connection], T]) -> Awaitable[T]:
        """The result of `query`, to be awaited. Raises what it raises, and `errors.LedgerUnavailable`."""
        if self._closed:
            raise LedgerUnavailable("The ledger is closed, so nothing could be read.")
        return asyncio.get_running_loop().run_in_executor(self._thread, self._run, query)

    def close(self) -> None:
        """Finish the queries that wait, and stop. Blocks until then."""
        self._closed = True
        self._thread.submit(self._drop)
        self._thread.shutdown()

    def _run(self, query: Callable[[Connection], T]) -> T:
        reused = self._connection is not None
        try:
            return self._run_once(query)
        except LedgerUnavailable:
            self._drop()
            if not reused:
                raise
        # A reused connection may have died since, e.g. because the server restarted. A query can be repeated.
        return self._run_once(query)

    def _run_once(self, query: Callable[[Connection], T]) -> T:
        if self._connection is None:
            self._connection = self._store.connect()
        with unavailable():
            self._connection.begin()
            try:
                found = query(self._connection)
            finally:
                self._connection.rollback()
        self._answered_at = monotonic()
        return found

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        try:
            connection.close()
        except SQLAlchemyError:
            connection.invalidate()


FRESH_SECONDS: Final = 1.0
"""How long an answer counts, so that frequent readiness checks cost the ledger one query a second."""
ANSWER_SECONDS: Final = 2.0
"""How long to wait for the ledger. An unreachable server takes longer to be noticed."""

_QUESTION: Final = text("SELECT 1 FROM records WHERE seq = 1")


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
            await self._reader.read(lambda connection: connection.execute(_QUESTION).first())
        except LedgerUnavailable as error:
            return str(error)
        except Exception as error:  # noqa: BLE001  a probe that breaks tells that something is wrong, whatever it is
            return f"The ledger cannot be read ({type(error).__name__})."
        finally:
            self._answered_at = monotonic()
        return ""
