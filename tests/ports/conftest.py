"""Stores for the port suites: SQLite in a file, and a private PostgreSQL cluster."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from itertools import count
from pathlib import Path

import psycopg
import pytest

from gateway.ledger.ledger import SqlLedger, open_ledger
from tests.kit.sealed import KEYS

_NUMBERS = count()


def _binary(name: str) -> str:
    """A program of the newest PostgreSQL. Debian does not put them on PATH."""
    installed = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: int(path.parts[-3]))
    found = str(installed[-1]) if installed else shutil.which(name)
    if found is None:
        pytest.fail(f"PostgreSQL's `{name}` is not installed, and this test needs it.")
    return found


def _run(arguments: Sequence[str]) -> None:
    """Run a server program. They refuse root, so root runs them as the user `postgres`."""
    if os.geteuid() == 0:
        arguments = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", *arguments]
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
    done = subprocess.run(arguments, check=False, capture_output=True, text=True, cwd="/", env=environment)
    if done.returncode:
        pytest.fail(f"{' '.join(arguments)} failed: {done.stdout}{done.stderr}")


@pytest.fixture(scope="session")
def postgres_socket() -> Iterator[Path]:
    """The socket directory of a running private cluster."""
    directory = Path(tempfile.mkdtemp(prefix="sentinel-pg-"))
    if os.geteuid() == 0:
        owner = pwd.getpwnam("postgres")
        os.chown(directory, owner.pw_uid, owner.pw_gid)
    data = directory / "data"
    _run([_binary("initdb"), "-D", str(data), "-U", "sentinel", "--auth=trust", "--no-sync", "-E", "UTF8"])
    options = f"-c listen_addresses='' -c unix_socket_directories='{directory}' -c shared_buffers=32MB"
    _run([_binary("pg_ctl"), "-D", str(data), "-o", options, "-l", str(directory / "log"), "-w", "start"])
    try:
        yield directory
    finally:
        _run([_binary("pg_ctl"), "-D", str(data), "-m", "immediate", "-w", "stop"])
        shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture
def postgres_url(postgres_socket: Path) -> str:
    """The URL of a new, empty database."""
    name = f"ledger_{next(_NUMBERS)}"
    with psycopg.connect(host=str(postgres_socket), user="sentinel", dbname="postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return f"postgresql+psycopg://sentinel@/{name}?host={postgres_socket}"


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a new store, once for each database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'ledger.db'}"
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture
async def ledger(store_url: str) -> AsyncIterator[SqlLedger]:
    """An open ledger, once for each database. Whatever a test did with it, all its tables must follow from its records."""
    async with open_ledger(store_url, KEYS) as opened:
        yield opened
        await opened.verify()
