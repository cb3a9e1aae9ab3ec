"""A thread that reads: each question is answered from one moment's view of the ledger."""

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
    """One connection on one thread, so that neither the event loop nor the writer waits for a question."""

    def __init__(self, store: Store, name: str) -> None:
        self._store = store
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"ledger-{name}")
        self._connection: Connection | None = None
        self._closed = False

    async def read(self, question: Callable[[Connection], T]) -> T:
        """The answer to `question`. Raises what it raises, and `errors.LedgerUnavailable`."""
        if self._closed:
            raise LedgerUnavailable("The ledger is closed, so nothing could be read.")
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._ask, question)

    def close(self) -> None:
        """Finish and stop. Blocks until then."""
        self._closed = True
        self._thread.submit(self._drop)
        self._thread.shutdown()

    def _ask(self, question: Callable[[Connection], T]) -> T:
        held = self._connection is not None
        try:
            return self._once(question)
        except LedgerUnavailable:
            self._drop()
            if not held:
                raise
        # The held connection may have died since (a server that restarted); a question can be asked again.
        return self._once(question)

    def _once(self, question: Callable[[Connection], T]) -> T:
        if self._connection is None:
            self._connection = self._store.connect()
        with unavailable():
            self._connection.begin()
            try:
                return question(self._connection)
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
