"""The PostgreSQL that `sentinel up --postgres` starts: its data are in the home of this `sentinel up`, it listens on a Unix socket only, and ends with it."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from gateway.cli.demo.workspace import CannotStart

DIRECTORY: Final = "postgresql"
"""Its directory in the home. While it is there, the ledger is in it."""
_USER: Final = "sentinel"
_DATABASE: Final = "sentinel"
_SERVER_USER: Final = "postgres"
"""Who runs the server where root starts it: PostgreSQL refuses root."""


def has_postgresql(home: Path) -> bool:
    """Whether an earlier start put the ledger into PostgreSQL."""
    return (home / DIRECTORY / "data").is_dir()


@contextmanager
def own_postgresql(home: Path) -> Iterator[str]:
    """The SQLAlchemy URL of a database in `home`, created at the first start. Raises `CannotStart`, with the first line of what PostgreSQL said."""
    directory = home / DIRECTORY
    data = directory / "data"
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    # A path to a socket has about 100 characters at most, and a home may be longer.
    with tempfile.TemporaryDirectory(prefix="sentinel-pg-") as sockets:
        if os.geteuid() == 0:
            _give(directory, Path(sockets))
            home.chmod(0o711)  # the server's user reaches its own directory; the other files are private one by one
        if not data.is_dir():
            _run("initdb", "-D", str(data), "-U", _USER, "--auth=trust", "-E", "UTF8")
        elif _run("pg_ctl", "-D", str(data), "status", check=False):
            # One that was killed left its server running, on a socket that nobody knows any more.
            _run("pg_ctl", "-D", str(data), "-m", "fast", "-w", "stop")
        options = f"-c listen_addresses='' -c unix_socket_directories='{sockets}'"
        _run("pg_ctl", "-D", str(data), "-o", options, "-l", str(directory / "log"), "-w", "start")
        try:
            _create_database(sockets)
            yield f"postgresql+psycopg://{_USER}@/{_DATABASE}?host={sockets}"
        finally:
            _run("pg_ctl", "-D", str(data), "-m", "fast", "-w", "stop")


def _give(*directories: Path) -> None:
    try:
        owner = pwd.getpwnam(_SERVER_USER)
    except KeyError as error:
        message = "PostgreSQL refuses to be run by root, and there is no user `postgres`. Run `sentinel up --postgres` as another user."
        raise CannotStart(message) from error
    for directory in directories:
        os.chown(directory, owner.pw_uid, owner.pw_gid)


def _create_database(sockets: str) -> None:
    import psycopg

    with psycopg.connect(host=sockets, user=_USER, dbname="postgres", autocommit=True) as connection:
        if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [_DATABASE]).fetchone() is None:
            connection.execute(f"CREATE DATABASE {_DATABASE}")


def _run(program: str, *arguments: str, check: bool = True) -> bool:
    """Whether a server program succeeded. Root runs it as the user `postgres`. With `check`, raises `CannotStart` if it failed."""
    argv: Sequence[str] = [_binary(program), *arguments]
    if os.geteuid() == 0:
        argv = ["setpriv", f"--reuid={_SERVER_USER}", f"--regid={_SERVER_USER}", "--init-groups", *argv]
    environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8"}
    # A server keeps what it inherits open, so its output is no pipe that somebody would wait for the end of.
    with tempfile.TemporaryFile(mode="w+") as told:
        done = subprocess.run(
            argv,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=told,
            stderr=told,
            cwd="/",
            env=environment,
            start_new_session=True,
        )
        told.seek(0)
        lines = [line for line in told.read().splitlines() if line.strip()]
    if done.returncode and check:
        raise CannotStart(
            f"PostgreSQL's {program} failed: {lines[-1][:500] if lines else f'exit code {done.returncode}'}."
        )
    return done.returncode == 0


def _binary(name: str) -> str:
    """A program of the newest PostgreSQL. Debian does not put them on PATH."""
    installed = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: int(path.parts[-3]))
    found = str(installed[-1]) if installed else shutil.which(name)
    if found is None:
        message = f"PostgreSQL's `{name}` is not installed. Install PostgreSQL (on Debian: apt install postgresql), or start without --postgres."
        raise CannotStart(message)
    return found
