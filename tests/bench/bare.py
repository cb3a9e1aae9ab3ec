"""What durability costs by itself: commits of one row each on SQLite with the ledger's own settings and nothing around them."""

import sqlite3
import time
from pathlib import Path
from types import TracebackType
from typing import Self


class BareCommits:
    """A database beside the ledger's, on the same disk."""

    def __init__(self, directory: Path) -> None:
        self._driver = sqlite3.connect(directory / "bare.db")
        self._driver.execute("PRAGMA journal_mode=WAL")
        self._driver.execute("PRAGMA synchronous=FULL")
        self._driver.execute("CREATE TABLE rows (content TEXT)")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        self._driver.close()

    def two(self) -> float:
        """Milliseconds that two commits take: a mutation's DECIDED and SETTLED."""
        started = time.perf_counter()
        for _ in range(2):
            self._driver.execute("INSERT INTO rows VALUES (?)", ("x" * 2_000,))
            self._driver.commit()
        return (time.perf_counter() - started) * 1000
