"""Moves what was committed from SQLite's log into its file, beside the thread that writes.

SQLite itself has the commit that fills the log do that: one mutation of 20 then waited for two syncs of the disk more than the others.
"""

import threading
from typing import Any, Final

import structlog

from gateway.core.errors import SentinelError
from gateway.ledger.store.database import Store, unavailable

log = structlog.get_logger()

EVERY_JOBS: Final = 160
"""So many units of work, two a mutation, make some 3,700 pages of the log, and fewer where many share a commit."""


class LogMover:
    """Moves the log once in `EVERY_JOBS`, on a thread of its own. Only for SQLite.

    SQLite begins the log again only where nothing is left in it, so under load it grows: at `database.LOG_PAGES` the writer moves what is left.
    """

    def __init__(self, store: Store) -> None:
        """The thread runs until `close`."""
        self._store = store
        self._jobs = 0
        self._wake = threading.Event()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="ledger-log-mover", daemon=True)
        self._thread.start()

    def committed(self, jobs: int) -> None:
        """Take note of a commit of so many units of work. For the writer's thread."""
        self._jobs += jobs
        if self._jobs >= EVERY_JOBS:
            self._jobs = 0
            self._wake.set()

    def close(self) -> None:
        """Stop. Blocks until then."""
        self._closed = True
        self._wake.set()
        self._thread.join()

    def _run(self) -> None:
        while True:
            self._wake.wait()
            self._wake.clear()
            if self._closed:  # looked at after the clearing, which may have taken the call of `close`
                return
            try:
                self._move()
            except SentinelError as error:
                log.warning("log_not_moved", reason=str(error))  # nothing is lost, and the writer moves it in the end

    def _move(self) -> None:
        """Move what no reader and no writer waits for (https://www.sqlite.org/pragma.html#pragma_wal_checkpoint)."""
        with self._store.connect() as connection, unavailable():
            driver: Any = (
                connection.connection.dbapi_connection
            )  # SQLAlchemy would begin a transaction, in which nothing can be moved
            driver.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
