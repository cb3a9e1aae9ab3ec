"""A thread with one connection that reads. Each query sees one consistent snapshot of the ledger."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from gateway.errors import LedgerUnavailable
from gateway.ledger.store import Store, unavailable

T = TypeVar("T")


class Reader:
    """Runs queries on a thread of its own, so that neither the event loop nor the writer waits for them."""

    def __init__(self, store: Store, name: str) -> None:
        self._store = store
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"ledger-{name}")
        self._connection: Connection | None = None
        self._closed = False

    async def read(self, query: Callable[[Connection], T]) -> T:
        """The result of `query`. Raises what it raises, and `errors.LedgerUnavailable`."""
        if self._closed:
            raise LedgerUnavailable("The ledger is closed, so nothing could be read.")
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._run, query)

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
                return query(self._connection)
            finally:
                self._connection.rollback()

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        try:
            connection.close()
        except SQLAlchemyError:
            connection.invalidate()
