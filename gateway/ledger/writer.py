"""The one thread that writes: it takes what has gathered in its queue and commits it as one transaction."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, Final, Generic, TypeVar

from sqlalchemy import Connection, select
from sqlalchemy.exc import SQLAlchemyError

from gateway.errors import LedgerUnavailable, SentinelError
from gateway.ledger.store import Store, unavailable
from gateway.ledger.tables import RECORDS
from gateway.ledger.transaction import Transaction

T = TypeVar("T")

_BATCH: Final = 256
_SAVEPOINT: Final = "SAVEPOINT item"
_RELEASE: Final = "RELEASE SAVEPOINT item"
_ROLLBACK_TO: Final = "ROLLBACK TO SAVEPOINT item"


@dataclass(slots=True)
class _Item(Generic[T]):
    """One caller's work, and where its result goes."""

    work: Callable[[Transaction], T]
    future: asyncio.Future[T]
    loop: asyncio.AbstractEventLoop
    result: T | None = None
    error: Exception | None = None

    def resolve(self) -> None:
        if self.future.done():
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)  # type: ignore[arg-type]  # T itself may be None


class Writer:
    """Group commit: callers that wait at the same time share one transaction and one sync to disk.

    Each caller's work stands or falls alone (a savepoint), and is answered only after the commit.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._queue: SimpleQueue[_Item[Any] | None] = SimpleQueue()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="ledger-writer", daemon=True)
        self._thread.start()

    async def submit(self, work: Callable[[Transaction], T]) -> T:
        """Run `work` in a transaction; its result, once that is committed.

        Raises what `work` raises (then nothing of it was stored), and `errors.LedgerUnavailable`. Once given, work is
        carried out even if the caller stops waiting.
        """
        if self._closed:
            raise LedgerUnavailable("The ledger is closed, so nothing was stored.")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        item = _Item(work=work, future=future, loop=loop)
        self._queue.put(item)
        return await future

    def close(self) -> None:
        """Finish what was given and stop. Blocks until then."""
        self._closed = True
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        connection: Connection | None = None
        while batch := self._gather():
            try:
                connection = connection or self._store.connect(writes=True)
                commit(self._store, connection, batch)
            except Exception as error:  # noqa: BLE001  the thread must outlive whatever one batch does
                _fail(batch, error)
                if connection is not None:
                    connection.invalidate()
                    connection.close()
                connection = None
            _answer(batch)
        if connection is not None:
            connection.close()

    def _gather(self) -> list[_Item[Any]]:
        """Wait for the first item, then take what is there already; empty when it is time to stop."""
        first = self._queue.get()
        if first is None:
            return []
        batch = [first]
        try:
            while len(batch) < _BATCH:
                item = self._queue.get_nowait()
                if item is None:
                    self._queue.put(None)
                    break
                batch.append(item)
        except Empty:
            pass
        return batch


def commit(store: Store, connection: Connection, batch: Sequence[_Item[Any]]) -> None:
    """Run every item and commit those that did not fail. Raises `errors.LedgerUnavailable`; then none is stored."""
    with unavailable():
        try:
            store.lock(connection)
            transaction = Transaction(connection)
            for item in batch:
                _run_one(transaction, item, alone=len(batch) == 1)
        except BaseException:
            _quietly_roll_back(connection)
            raise
        if all(item.error is not None for item in batch):
            connection.rollback()
            return
    try:
        with unavailable():
            connection.commit()
    except LedgerUnavailable:
        _quietly_roll_back(connection)
        if not _committed_after_all(store, transaction):
            raise


def _run_one(transaction: Transaction, item: _Item[Any], *, alone: bool) -> None:
    if alone:
        item.result, item.error = _attempt(transaction, item)
        return
    before = transaction.end
    transaction.command(_SAVEPOINT)
    item.result, item.error = _attempt(transaction, item)
    if item.error is not None:
        transaction.command(_ROLLBACK_TO)
        transaction.end = before
    transaction.command(_RELEASE)


def _attempt(transaction: Transaction, item: _Item[Any]) -> tuple[Any, Exception | None]:
    """The item's result or its error. A database error is one item's only if the transaction can go on, which the caller finds out."""
    try:
        with unavailable():
            return item.work(transaction), None
    except Exception as error:  # noqa: BLE001  handed to the caller who waits
        return None, error


def _quietly_roll_back(connection: Connection) -> None:
    try:
        connection.rollback()
    except SQLAlchemyError:
        connection.invalidate()


def _committed_after_all(store: Store, transaction: Transaction) -> bool:
    """Whether a commit whose answer was lost is on disk: then its last record is there, hash and all."""
    tail = transaction.end
    if tail is None or not store.postgresql:
        return False
    try:
        with store.connect() as connection:
            found = connection.execute(select(RECORDS.c.hash).where(RECORDS.c.seq == tail[0])).scalar()
    except (SentinelError, SQLAlchemyError):
        return False
    return bool(found == tail[1])


def _fail(batch: Sequence[_Item[Any]], error: Exception) -> None:
    for item in batch:
        # One error object per caller: a shared one would gather all their tracebacks.
        item.error = LedgerUnavailable(str(error)) if isinstance(error, SentinelError) else _unexpected(error)


def _unexpected(error: Exception) -> LedgerUnavailable:
    return LedgerUnavailable(f"The ledger's writer failed ({type(error).__name__}), so nothing was stored.")


def _answer(batch: Sequence[_Item[Any]]) -> None:
    """Wake each loop once for all its callers."""
    loops: dict[asyncio.AbstractEventLoop, list[_Item[Any]]] = {}
    for item in batch:
        loops.setdefault(item.loop, []).append(item)
    for loop, items in loops.items():
        try:
            loop.call_soon_threadsafe(_resolve, items)
        except RuntimeError:
            # The loop is closed: nobody waits any more, and what was committed stays.
            continue


def _resolve(items: Sequence[_Item[Any]]) -> None:
    for item in items:
        item.resolve()
