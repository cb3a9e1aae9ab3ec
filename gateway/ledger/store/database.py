"""Opens the ledger's database so that a commit is on disk: SQLite (WAL, `synchronous=FULL`) or PostgreSQL."""

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from types import TracebackType
from typing import Any, Final, cast

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry

from gateway.core.errors import LedgerUnavailable, SettingsInvalid
from gateway.ledger.store.forms import IN_SQLITE, whole
from gateway.ledger.store.migrate import migrate
from gateway.ledger.store.statements import driver_errors

BUSY_MS = 5_000
"""How long a writer waits for another process's transaction, in milliseconds."""

LOG_PAGES: Final = 8_000
"""Pages of SQLite's log at which a commit moves it into the file: 32 MB, some 200 mutations. Before that, `log_mover.py` does so beside the commits."""

_WAIT: Final = f"PRAGMA busy_timeout={BUSY_MS}"
_LOOKS: Final = "looks_for_lock"
"""In the `info` of a connection that does not wait for the write lock in SQLite."""

_LOOK_AGAIN_SECONDS: Final = 0.0003
_AT_LAST_SECONDS: Final = 0.003
"""How soon a writer looks again whether SQLite's write lock is free, at first and after a while."""

_CHAIN_LOCK = 0x53454E54494E454C
"""Key of the PostgreSQL advisory lock that serializes the writers of the chain ("SENTINEL" in ASCII)."""


class Store:
    """An opened ledger database. A writer's transaction holds the write lock from its start."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.postgresql = engine.dialect.name == "postgresql"

    def connect(self, *, writes: bool = False) -> Connection:
        """A connection whose durability settings were checked. With `writes`, call `lock` at the start of every transaction; without, PostgreSQL refuses writes.

        Raises `errors.LedgerUnavailable`.
        """
        with unavailable():
            connection = self._engine.connect().execution_options(sentinel_writes=writes)
            if writes and not self.postgresql:
                _look_for_lock(connection)
            # A reader's transactions end with a commit, so that their plans are kept: what wrote by mistake would stay.
            return connection if writes else connection.execution_options(postgresql_readonly=True)

    def lock(self, connection: Connection) -> None:
        """Begin a transaction and take the write lock. Other processes wait here."""
        # On SQLite the begin hook below runs BEGIN IMMEDIATE, which takes the lock.
        connection.begin()
        self.take_lock(connection)

    def take_lock(self, connection: Connection) -> None:
        """Take the write lock in a transaction that was begun."""
        if self.postgresql:
            connection.execute(_ADVISORY, {"key": _CHAIN_LOCK})

    def begin(self, connection: Connection, *, writes: bool = False) -> Any:
        """Begin a transaction on the driver's own connection, for a `Session`; with `writes` it has the write lock. Its commit or rollback ends it.

        Each mutation begins four or five. SQLAlchemy, which does not know of it, would take 10,000 instructions for each begin and each end of one.
        """
        driver: Any = connection.connection.dbapi_connection
        if not self.postgresql:
            _begin_on(driver, writes=writes)
        elif writes:
            driver.execute(_LOCK_CHAIN, (_CHAIN_LOCK,))  # its first statement begins a transaction
        return driver

    def forget(self, connection: Connection) -> None:
        """Never use a broken connection again, nor those that are as old: they may lead to a server that is about to die.

        SQLAlchemy drops all of these where it sees an error of a broken one, which it does not between `begin` and its end. So it is shown one.
        """
        if self.postgresql:
            with suppress(SQLAlchemyError):
                connection.exec_driver_sql("ROLLBACK")
            with suppress(SQLAlchemyError):
                connection.rollback()
        connection.invalidate()

    def begin_snapshot(self, connection: Connection) -> None:
        """Begin a transaction in which every statement sees the same state of the ledger."""
        connection.begin()
        if self.postgresql:
            # On SQLite a transaction sees one state in any case.
            connection.execute(_SNAPSHOT)

    def close(self) -> None:
        """Close every pooled connection."""
        self._engine.dispose()


_LOCK_CHAIN: Final = "SELECT pg_advisory_xact_lock(%s)"
_ADVISORY = text("SELECT pg_advisory_xact_lock(:key)")
_SNAPSHOT = text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")


def open_store(url: str) -> Store:
    """Open the database at a SQLAlchemy URL and bring its schema up to date.

    Raises `errors.SettingsInvalid` for an unsupported URL, `errors.LedgerUnavailable` if the database cannot be opened
    or would not put a commit on disk.
    """
    store = Store(_engine(_parsed(url)))
    try:
        with store.connect(writes=True) as connection, unavailable():
            store.lock(connection)
            migrate(connection)
            connection.commit()
    except BaseException:
        store.close()
        raise
    return store


@contextmanager
def connect_unprepared(url: str) -> Iterator[Connection]:
    """A connection to the database at a SQLAlchemy URL as it is, with whatever schema it has. Raises as `open_store`."""
    engine = _engine(_parsed(url))
    try:
        with unavailable(), engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()


def sqlite_file(url: str) -> Path | None:
    """The file of an SQLite database; None for PostgreSQL. Raises `errors.SettingsInvalid` for an unsupported URL."""
    parsed = _parsed(url)
    return None if parsed.get_backend_name() == "postgresql" else Path(str(parsed.database))


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        message = "The ledger's URL cannot be read. Write `sqlite:///path` or `postgresql+psycopg://user@host/name`."
        raise SettingsInvalid(message) from error
    if parsed.drivername in ("postgresql", "postgresql+psycopg"):
        return parsed.set(drivername="postgresql+psycopg")
    if parsed.drivername in ("sqlite", "sqlite+pysqlite") and parsed.database not in (None, "", ":memory:"):
        return parsed
    message = (
        f"The ledger cannot be stored with `{parsed.drivername}` at this URL: it needs a file (`sqlite:///path`) or "
        "PostgreSQL (`postgresql+psycopg://user@host/name`)."
    )
    raise SettingsInvalid(message)


def _engine(url: URL) -> Engine:
    if url.get_backend_name() == "postgresql":
        engine = create_engine(url, pool_pre_ping=True, connect_args=_REACHABLE)
        event.listen(engine, "connect", _assert_postgresql_durable)
        event.listen(engine, "connect", _plan_for_few_rows)
        return engine
    _create_private(Path(str(url.database)))
    arguments = {"timeout": BUSY_MS / 1000, "check_same_thread": False, "isolation_level": None}
    engine = create_engine(url, connect_args=arguments, paramstyle="named")
    event.listen(engine, "connect", _assert_sqlite_durable)
    event.listen(engine, "connect", _read_short_bodies)
    event.listen(engine, "begin", _begin_sqlite)
    event.listen(engine, "checkin", _wait_for_lock)
    return engine


_REACHABLE: Final = {
    "client_encoding": "utf8",  # a role may set another one, in which texts come as bytes
    "connect_timeout": 5,
    "keepalives_idle": 5,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}
"""A server that is gone without a word is noticed after some 20 seconds, not after hours (libpq, "Parameter Key Words")."""


def _create_private(path: Path) -> None:
    """Create the file before SQLite does, so that only its owner can read it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        message = (
            f"The ledger {path} cannot be opened for writing ({error.strerror}), so nothing can be recorded or changed."
        )
        raise LedgerUnavailable(message) from error


def _begin_sqlite(connection: Connection) -> None:
    driver = cast("sqlite3.Connection", connection.connection.dbapi_connection)
    _begin_on(driver, writes=bool(connection.get_execution_options().get("sentinel_writes")))


def _begin_on(driver: sqlite3.Connection, *, writes: bool) -> None:
    if not writes:
        driver.execute("BEGIN")
        return
    until, pause = monotonic() + BUSY_MS / 1000, _LOOK_AGAIN_SECONDS
    while not _begun(driver, last=monotonic() > until):
        sleep(pause)
        pause = min(1.1 * pause, _AT_LAST_SECONDS)


def _begun(driver: sqlite3.Connection, *, last: bool) -> bool:
    """Whether the write lock was taken: False while another process has it, and raises sqlite3's error for that if it was the `last` look."""
    try:
        driver.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        if last or error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
            raise
        return False
    return True


def _look_for_lock(connection: Connection) -> None:
    """Have a connection that writes return at once where another process has the lock; `_begin_on` looks again.

    SQLite itself would sleep up to 100 ms between two looks, while a transaction takes a few: the others would come first again and again.
    """
    cast("sqlite3.Connection", connection.connection.dbapi_connection).execute("PRAGMA busy_timeout=0")
    connection.info[_LOOKS] = True


def _wait_for_lock(driver: sqlite3.Connection | None, record: ConnectionPoolEntry) -> None:
    """Have a connection that wrote wait again, as the next one to have it may read."""
    if record.info.pop(_LOOKS, False) and driver is not None:
        driver.execute(_WAIT)


def _read_short_bodies(connection: Any, _record: object) -> None:
    connection.create_function(IN_SQLITE, 3, whole, deterministic=True)


def _assert_sqlite_durable(connection: Any, _record: object) -> None:
    """Set and read back the durability pragmas: without FULL a commit may be lost on power failure
    (https://www.sqlite.org/pragma.html#pragma_synchronous).
    """
    cursor = connection.cursor()
    cursor.execute(_WAIT)
    cursor.execute(f"PRAGMA wal_autocheckpoint={LOG_PAGES}")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    journal = cursor.execute("PRAGMA journal_mode").fetchone()[0]
    synchronous = cursor.execute("PRAGMA synchronous").fetchone()[0]
    cursor.close()
    if (journal, synchronous) != ("wal", 2):
        message = (
            f"SQLite would not make the ledger durable here (journal_mode={journal}, synchronous={synchronous}), so Sentinel "
            "refuses to use it. Put the ledger on a local disk."
        )
        raise LedgerUnavailable(message)


_GOOD: Final[Mapping[str, Sequence[str]]] = {
    "synchronous_commit": ("on", "remote_apply"),
    "fsync": ("on",),
    "full_page_writes": ("on",),
    "default_transaction_isolation": ("read committed",),
    "default_transaction_read_only": ("off",),
    "in_hot_standby": ("off",),
    "session_replication_role": ("origin",),
    "standard_conforming_strings": ("on",),
}
"""By setting of PostgreSQL: the values with which a commit is on disk when it is confirmed, a writer that waited for the lock sees what others committed,
triggers fire, and texts mean what they say."""
_CATALOG: Final = "pg_catalog"


def _assert_postgresql_durable(connection: Any, _record: object) -> None:
    """Refuse a server, database or role whose commits may be lost (https://www.postgresql.org/docs/current/wal-async-commit.html), or that would give a
    writer a view from before it had the write lock. What the server says counts: nothing is set for this connection alone.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_catalog.current_setting('search_path')")
        path = [each.strip().strip('"') for each in str(cursor.fetchone()[0]).split(",")]
        if _CATALOG in path[1:]:
            message = (
                "PostgreSQL would look for names in other schemas before its own catalog (search_path), so Sentinel refuses to use it; nothing was "
                "stored. Leave pg_catalog out of the search_path of the server, the database and the role: then it comes first."
            )
            raise LedgerUnavailable(message)
        cursor.execute("SELECT name, setting FROM pg_catalog.pg_settings WHERE name = ANY(%s)", [list(_GOOD)])
        found = dict(cursor.fetchall())
    connection.commit()
    wrong = {name: found[name] for name in _GOOD if name in found and found[name] not in _GOOD[name]}
    if wrong:
        said = ", ".join(f"{name} = {value}" for name, value in wrong.items())
        wanted = ", ".join(f"{name} = {_GOOD[name][0]}" for name in wrong)
        message = (
            f"PostgreSQL would not keep the ledger safe ({said}), so Sentinel refuses to use it; nothing was stored. "
            f"Set {wanted} for the server, the database and the role, or name the primary server."
        )
        raise LedgerUnavailable(message)


def _plan_for_few_rows(connection: Any, _record: object) -> None:
    """Leave out PostgreSQL's compiler and its parallel workers, which are for statements that read a large part of a table.

    Beside 100,000 claims it takes those of a mutation for such, and compiled for 1 s each time one that takes 0.5 ms. To start workers takes 10 ms,
    where to count the decisions of a day takes 3.
    """
    connection.execute("SET jit = off")
    connection.execute("SET max_parallel_workers_per_gather = 0")
    connection.commit()


class unavailable:  # noqa: N801  it is used as a function
    """Convert database errors as `as_unavailable` does.

    Each mutation passes it some ten times, and a generator would take three calls for each.
    """

    __slots__ = ()

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None) -> None:
        """Raise `errors.LedgerUnavailable` for an error of the database."""
        if error is not None and (told := as_unavailable(error)) is not error:
            raise told


def as_unavailable(error: BaseException) -> BaseException:
    """The `errors.LedgerUnavailable` for an error of the database, whose sentence holds neither the statement nor its values; any other error itself."""
    if isinstance(error, driver_errors()):
        told = LedgerUnavailable(_sentence(error))
    elif isinstance(error, DBAPIError):
        told = LedgerUnavailable(_sentence(error.orig))
    elif isinstance(error, SQLAlchemyError):
        told = LedgerUnavailable(f"The ledger could not be used ({type(error).__name__}); nothing was stored.")
    else:
        return error
    told.__cause__ = error
    return told


def _sentence(error: BaseException | None) -> str:
    reason = str(error).strip().partition("\n")[0]
    known = {
        "locked": "another process is writing to it for too long. Try again",
        "lock timeout": "another process uses it for too long. Try again",
        "full": "the disk is full. Free some space and try again",
        "readonly": "it is read-only. Give the gateway's user write permission",
        "unable to open": "it cannot be opened. Check its path and permissions",
        "disk I/O": "the disk failed. Check the disk first",
    }
    for part, sentence in known.items():
        if part in reason:
            return f"The ledger is unavailable: {sentence}. Nothing was stored."
    return f"The ledger is unavailable ({reason}). Nothing was stored."
