"""Stores for ledgers of tests: SQLite in a file, and a private PostgreSQL cluster that ends with its block."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import psycopg
import pytest

from gateway.ledger.sealed_ledger import ledger_keys

MASTER = b"m" * 32
KEYS = ledger_keys(MASTER)
"""For `open_ledger(url, KEYS)`, in every process of a test."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """A running cluster. Its socket is in `directory`; it does not listen on the network."""

    directory: Path
    _numbers: Iterator[int] = field(default_factory=count)

    def new_database(self) -> str:
        """The SQLAlchemy URL of a new, empty database."""
        name = f"ledger_{next(self._numbers)}"
        with psycopg.connect(
            host=str(self.directory), user="sentinel", dbname="postgres", autocommit=True
        ) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return f"postgresql+psycopg://sentinel@/{name}?host={self.directory}"

    def crash_and_start(self) -> None:
        """Stop it as a crash would, every connection cut, and start it again, which recovers from its log."""
        _control(self.directory, "-m", "immediate", "-w", "restart")


@contextmanager
def running_cluster() -> Iterator[Cluster]:
    """A new cluster. Raises `RuntimeError` if PostgreSQL is not installed or does not start."""
    directory = Path(tempfile.mkdtemp(prefix="sentinel-pg-"))
    if os.geteuid() == 0:
        owner = pwd.getpwnam("postgres")
        os.chown(directory, owner.pw_uid, owner.pw_gid)
    data = directory / "data"
    _run([_binary("initdb"), "-D", str(data), "-U", "sentinel", "--auth=trust", "--no-sync", "-E", "UTF8"])
    options = f"-c listen_addresses='' -c unix_socket_directories='{directory}' -c shared_buffers=32MB"
    _control(directory, "-o", options, "-l", str(directory / "log"), "-w", "start")
    try:
        yield Cluster(directory)
    finally:
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


@pytest.fixture(scope="session")
def postgres() -> Iterator[Cluster]:
    """A running private cluster."""
    with running_cluster() as cluster:
        yield cluster


@pytest.fixture
def postgres_url(postgres: Cluster) -> str:
    """The URL of a new, empty database."""
    return postgres.new_database()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a new store, once for each database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'ledger.db'}"
    url: str = request.getfixturevalue("postgres_url")
    return url
