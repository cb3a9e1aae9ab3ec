"""Stores for ledgers of tests: SQLite in a file, and a private PostgreSQL cluster that ends with its block."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Final

import psycopg
import pytest
from sqlalchemy import Connection

from gateway.ledger.chain.schema import check_schema
from gateway.ledger.ledger_keys import ledger_keys
from gateway.ledger.store.database import Store, open_store, sqlite_file
from tests.kit.in_memory import in_memory

MASTER = b"m" * 32
KEYS = ledger_keys(MASTER)
"""For `open_ledger(url, KEYS)`, in every process of a test."""


_ROOM = 2 << 30
"""Bytes; a cluster of tests takes some hundred million."""
_STRATEGIES = 150_000
"""The version of PostgreSQL since which a database may be copied in two ways."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """A running cluster. Its socket is in `directory`; it does not listen on the network."""

    directory: Path
    _numbers: Iterator[int] = field(default_factory=count)
    _templates: list[str] = field(default_factory=list)
    """The name of the migrated database, once there is one."""

    def new_database(self, template: str = "template1") -> str:
        """The SQLAlchemy URL of a new database: empty, or a copy of another one that nobody is connected to."""
        name = f"ledger_{next(self._numbers)}"
        with psycopg.connect(
            host=str(self.directory), user="sentinel", dbname="postgres", autocommit=True
        ) as connection:
            # Files are copied, where they are in memory: to write each page to the log takes twice as long. On a disk, the checkpoint for it would.
            copied = connection.info.server_version >= _STRATEGIES and self.directory.is_relative_to("/dev/shm")  # noqa: S108
            how = "STRATEGY FILE_COPY" if copied else ""
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {template} {how}".encode())
        return self._url(name)

    def new_ledger(self) -> str:
        """The SQLAlchemy URL of a new database with the schema of a ledger, copied from one that was migrated once: that is four times as fast."""
        if not self._templates:
            url = self.new_database()
            open_store(url).close()
            self._templates.append(url.partition("@/")[2].partition("?")[0])
        return self.new_database(self._templates[0])

    def _url(self, name: str) -> str:
        return f"postgresql+psycopg://sentinel@/{name}?host={self.directory}"

    @property
    def socket(self) -> Path:
        """What its clients connect to."""
        return self.directory / ".s.PGSQL.5432"

    def crash(self) -> None:
        """Stop it as a crash would, every connection cut."""
        _control(self.directory, "-m", "immediate", "-w", "stop")

    def promote(self) -> None:
        """Make a standby the primary; it takes writes when this returns."""
        _control(self.directory, "-w", "promote")

    def crash_and_start(self) -> None:
        """Stop it as a crash would, every connection cut, and start it again, which recovers from its log."""
        _control(self.directory, "-m", "immediate", "-w", "restart")


@contextmanager
def running_cluster() -> Iterator[Cluster]:
    """A new cluster. Raises `RuntimeError` if PostgreSQL is not installed or does not start."""
    directory = Path(tempfile.mkdtemp(prefix="sentinel-pg-", dir=in_memory(_ROOM)))
    if os.geteuid() == 0:
        owner = pwd.getpwnam("postgres")
        os.chown(directory, owner.pw_uid, owner.pw_gid)
    data = directory / "data"
    _run([_binary("initdb"), "-D", str(data), "-U", "sentinel", "--auth=trust", "--no-sync", "-E", "UTF8"])
    with _started(directory) as cluster:
        yield cluster


@contextmanager
def running_standby(primary: Cluster) -> Iterator[Cluster]:
    """A streaming copy of a cluster, which waits for it with every commit from then on, until it is promoted. Raises as `running_cluster`."""
    directory = Path(tempfile.mkdtemp(prefix="sentinel-pg-"))
    if os.geteuid() == 0:
        owner = pwd.getpwnam("postgres")
        os.chown(directory, owner.pw_uid, owner.pw_gid)
    copy = [
        "-D",
        str(directory / "data"),
        "-h",
        str(primary.directory),
        "-U",
        "sentinel",
        "-R",
        "-X",
        "stream",
        "-c",
        "fast",
    ]
    _run([_binary("pg_basebackup"), *copy])
    with _started(directory) as standby:
        with psycopg.connect(host=str(primary.directory), user="sentinel", dbname="postgres", autocommit=True) as asked:
            asked.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
            asked.execute("SELECT pg_reload_conf()")
        yield standby


@contextmanager
def _started(directory: Path) -> Iterator[Cluster]:
    """A cluster whose data lie in a directory, while the block lasts; then the directory is removed."""
    options = f"-c listen_addresses='' -c unix_socket_directories='{directory}' -c shared_buffers=32MB"
    _control(directory, "-o", options, "-l", str(directory / "log"), "-w", "start")
    try:
        yield Cluster(directory)
    finally:
        with suppress(RuntimeError):  # a test may have stopped it
            _control(directory, "-m", "immediate", "-w", "stop")
        shutil.rmtree(directory, ignore_errors=True)


def _control(directory: Path, *arguments: str) -> None:
    _run([_binary("pg_ctl"), "-D", str(directory / "data"), *arguments])


def _binary(name: str) -> str:
    """A program of the newest PostgreSQL. Debian does not put them on PATH."""
    installed = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: int(path.parts[-3]))
    found = str(installed[-1]) if installed else shutil.which(name)
    if found is None:
        raise RuntimeError(f"PostgreSQL's `{name}` is not installed, and this needs it.")
    return found


def _run(arguments: Sequence[str]) -> None:
    """Run a server program. They refuse root, so root runs them as the user `postgres`."""
    if os.geteuid() == 0:
        arguments = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", *arguments]
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
    # A restarted server keeps what it inherits open, so its output is no pipe that somebody would wait for the end of.
    with tempfile.TemporaryFile(mode="w+") as told:
        done = subprocess.run(arguments, check=False, stdout=told, stderr=told, cwd="/", env=environment)
        told.seek(0)
        if done.returncode:
            raise RuntimeError(f"{' '.join(arguments)} failed: {told.read()}")


def open_copied_store(url: str) -> Store:
    """As `open_store`, but a new SQLite ledger begins as a copy of one that this process migrated: Alembic would take 0.2 s for each."""
    file = sqlite_file(url)
    if file is not None:
        with suppress(OSError):  # `open_store` says what is wrong with the path
            _copy(file)
    return open_store(url)


def _copy(path: Path) -> None:
    """Put a migrated ledger at the path unless something is there already. Like the ledger's own file, only its owner reads it."""
    if path.exists():
        return
    content = _migrated()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    try:
        os.link(name, path)  # whole, or not at all
    finally:
        Path(name).unlink()


_RIGHT: Final[set[tuple[object, ...]]] = set()
"""Schemas that were checked in this process, as their databases tell them."""
_OF_SQLITE: Final = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"
"""SQLite keeps nothing else of a schema."""
_CATALOGS: Final = (
    *("attrdef", "cast", "class", "constraint", "depend", "event_trigger", "inherits", "namespace", "operator"),
    *("policy", "proc", "rewrite", "trigger", "type", "attribute", "index"),
)
_OF_POSTGRESQL: Final = " UNION ALL ".join(
    (
        *(f"SELECT '{name}', count(*), max(xmin::text::bigint) FROM pg_{name}" for name in _CATALOGS),  # noqa: S608
        "SELECT current_setting('search_path'), 0, 0",
    )
)
"""How many rows each catalog has, and which transaction wrote the newest: copies of a database have the same, until somebody changes a schema."""


def check_schema_once(connection: Connection) -> None:
    """As `check_schema`, but one that was right is not read back again: that takes half as long as all else that a test does with a small ledger."""
    sqlite = connection.dialect.name == "sqlite"
    told = connection.exec_driver_sql(_OF_SQLITE if sqlite else _OF_POSTGRESQL)
    schema = (str(connection.engine.url.query), *map(tuple, told))
    if schema not in _RIGHT:
        check_schema(connection)
        _RIGHT.add(schema)


@lru_cache(maxsize=1)
def _migrated() -> bytes:
    """The bytes of an empty ledger."""
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "ledger.db"
        open_store(f"sqlite:///{file}").close()
        return file.read_bytes()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Cluster]:
    """A running private cluster."""
    with running_cluster() as cluster:
        yield cluster


@pytest.fixture
def postgres_url(postgres: Cluster) -> str:
    """The URL of a new ledger."""
    return postgres.new_ledger()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a new store, once for each database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'ledger.db'}"
    url: str = request.getfixturevalue("postgres_url")
    return url
