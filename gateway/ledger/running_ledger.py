"""A running ledger: one thread that writes, two that read, and what signs checkpoints. It knows nothing of what is written or asked."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Self, TypeVar

from gateway.core.records.asked import VERSION
from gateway.core.records.record import Body
from gateway.core.settings import Settings
from gateway.ledger.chain.anchor import Anchor
from gateway.ledger.chain.checkpoint import CheckpointFile
from gateway.ledger.ledger_keys import LedgerKeys, checkpoint_path, ledger_keys, master_key_of
from gateway.ledger.store.database import Store, open_store, unavailable
from gateway.ledger.store.log_mover import LogMover
from gateway.ledger.store.opening import prepare
from gateway.ledger.store.reader import Probe, Reader
from gateway.ledger.store.rows import ChainEndRow
from gateway.ledger.store.shortener import Shortener, shortener_of
from gateway.ledger.store.statements import Session
from gateway.ledger.store.transaction import Transaction
from gateway.ledger.store.writer import Writer

T = TypeVar("T")
LedgerT = TypeVar("LedgerT", bound="RunningLedger")


class RunningLedger:
    """The ledger on SQLite or PostgreSQL. `open` opens it, `close` closes it. A command that issues a key needs no more; `SqlLedger` has the ports.

    Every method may raise `errors.LedgerUnavailable`; nothing of that call was then stored.
    """

    def __init__(
        self,
        store: Store,
        keys: LedgerKeys,
        checkpoint: CheckpointFile | None,
        *,
        end: ChainEndRow,
        shortener: Shortener | None = None,
    ) -> None:
        """Takes ownership of a store that `prepare` has checked, and which ends so: `close` closes it. `shortener` shortens the stored bodies."""
        self._store = store
        self._keys = keys
        self._checkpoint = checkpoint
        self._anchor = Anchor(store, keys.chain, checkpoint, end=end) if checkpoint is not None else None
        self._mover = LogMover(store) if not store.postgresql else None
        self._writer = Writer(store, keys.chain, self._anchor, seen=end, shortener=shortener, mover=self._mover)
        self.asked_version = VERSION if shortener is not None and shortener.leaves_out else 1
        """That of packed questions which every program on this ledger reads."""
        self._hot_reader = Reader(store, "hot-reader", prepared=True)
        self._query_reader = Reader(store, "query-reader")
        self._probe = Probe(self._hot_reader)

    @classmethod
    async def open(cls, url: str, keys: LedgerKeys, checkpoint: Path | None = None) -> Self:
        """Open the database at a SQLAlchemy URL, bringing its schema up to date. Without the path of a checkpoint, none is signed.

        Raises `errors.SettingsInvalid`, `errors.LedgerUnavailable`, and `errors.LedgerBroken` if the ledger does not hold what the
        last checkpoint says, or ends with a record that these keys did not write.
        """
        file = CheckpointFile(checkpoint, keys.signing) if checkpoint is not None else None
        return await asyncio.to_thread(cls._open, url, keys, file)

    @classmethod
    def _open(cls, url: str, keys: LedgerKeys, file: CheckpointFile | None) -> Self:
        store = open_store(url)
        try:
            end = prepare(store, keys.chain, file)
            with store.connect() as connection, unavailable():
                shortener = shortener_of(Session(connection))
            return cls(store, keys, file, end=end, shortener=shortener)
        except BaseException:
            store.close()
            raise

    @property
    def problem(self) -> str:
        """Why the ledger's last checkpoint could not be signed, as a sentence; empty if it was."""
        return self._anchor.problem if self._anchor is not None else ""

    async def unreadable(self) -> str:
        """Why the ledger cannot be read now, as a sentence; empty if it can. Cheap: asked at most once a second."""
        return await self._probe.problem()

    async def close(self) -> None:
        """Finish what is waiting, and close the database."""
        # The anchor comes after the writer, so that the last checkpoint is signed over everything written here.
        for part in (self._writer, self._anchor, self._mover, self._hot_reader, self._query_reader, self._store):
            if part is not None:
                await asyncio.to_thread(part.close)

    async def write(self, work: Callable[[Transaction], T], body: Body | None = None) -> T:
        """Run `work` in a durable transaction; `body` as in `Writer.submit`. For the ledger's own modules and the keyring."""
        return await self._writer.submit(work, body)

    async def read(self, query: Callable[[Session], T]) -> T:
        """Run a query on the connection that every mutation waits for, so it must be fast. For the ledger's own modules and the keyring."""
        return await self._hot_reader.read_in_time(lambda connection: query(Session(connection)))

    async def query(self, query: Callable[[Session], T]) -> T:
        """Run a query on the connection that no mutation waits for. For the ledger's own modules."""
        return await self._query_reader.read(lambda connection: query(Session(connection)))


@asynccontextmanager
async def opened(
    kind: type[LedgerT], url: str, keys: LedgerKeys, checkpoint: Path | None = None
) -> AsyncIterator[LedgerT]:
    """The ledger at a SQLAlchemy URL for as long as the block lasts. Arguments and errors are those of `RunningLedger.open`."""
    ledger = await kind.open(url, keys, checkpoint)
    try:
        yield ledger
    finally:
        await ledger.close()


@asynccontextmanager
async def opened_sealed(kind: type[LedgerT], settings: Settings) -> AsyncIterator[LedgerT]:
    """The ledger that the settings name, with its keys. Raises what `RunningLedger.open` and `master_key` raise."""
    settings.data.mkdir(parents=True, exist_ok=True)
    keys = ledger_keys(await asyncio.to_thread(master_key_of, settings))
    async with opened(kind, settings.ledger_url, keys, checkpoint_path(settings)) as ledger:
        yield ledger
