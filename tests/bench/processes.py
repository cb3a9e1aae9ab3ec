"""The gateway and the stand-in for AWS, each in a process of its own, and what such a process uses."""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from http.client import HTTPException
from pathlib import Path
from types import MappingProxyType

from gateway.core.model.caller import ActorKind
from gateway.core.ports import Key
from gateway.core.settings import Settings
from gateway.core.times import SystemClock
from gateway.ledger.keyring import SqlKeyRing
from gateway.ledger.ledger_keys import master_key_of
from gateway.ledger.sealed_ledger import open_sealed_ledger
from tests.kit.up import free_port

ROOT = Path(__file__).parent.parent.parent
_TICKS = os.sysconf("SC_CLK_TCK")
_START_SECONDS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """A running server."""

    pid: int
    port: int
    ready_seconds: float
    """From exec to its first good answer."""

    @property
    def resident_mb(self) -> float:
        """Resident memory in MB (10^6 bytes)."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) * 1024 / 1e6

    @property
    def cpu_seconds(self) -> float:
        """Processor time of all its threads so far, to 10 ms."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    @property
    def waited_seconds(self) -> float:
        """How long its first thread was ready to run and had no core so far: what other programs on the machine cost it."""
        return int(Path(f"/proc/{self.pid}/schedstat").read_text().split()[1]) / 1e9


def spent(served: Sequence[Process]) -> float:
    """Processor seconds of these processes and their children so far."""
    return sum(_seconds(pid) for pid in family(served))


def family(served: Sequence[Process]) -> set[int]:
    """The ids of these processes and their children."""
    parents = _parents()
    found = {process.pid for process in served}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def _parents() -> Mapping[int, int]:
    found = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            found[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue  # it has ended
    return found


def _seconds(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / _TICKS


@contextmanager
def stub() -> Iterator[Process]:
    """The stand-in for AWS."""
    port = free_port()
    with server([sys.executable, "-m", "tests.bench.stub", "--port", str(port)], port, "/_count") as process:
        yield process


@contextmanager
def gateway(
    data: Path,
    stack: Path,
    upstream: int,
    program: Sequence[str] = (sys.executable, "-m", "gateway"),
    *,
    workers: int = 1,
    own_core: bool = False,
) -> Iterator[Process]:
    """`sentinel serve` with its data in `data`, one stack, and the stand-in at port `upstream` as AWS."""
    port = free_port()
    data.mkdir(parents=True, exist_ok=True)
    config = data / "sentinel.toml"
    config.write_text(
        f'data = "{data}"\n[server]\nport = {port}\nown_core = {str(own_core).lower()}\n[upstream]\nsimulated = "http://127.0.0.1:{upstream}"\n'
        f'[[stacks]]\nname = "bench"\npath = "{stack}"\n'
    )
    several = ("--workers", str(workers)) if workers > 1 else ()
    with server([*program, "serve", "--config", str(config), *several], port, "/readyz") as process:
        yield process


def key(data: Path, actor: str, kind: ActorKind) -> Key:
    """A key of the gateway whose data lies there."""

    async def issue() -> Key:
        settings = Settings(data=data)
        async with open_sealed_ledger(settings) as ledger:
            ring = SqlKeyRing(ledger, master=master_key_of(settings), clock=SystemClock())
            return await ring.issue(actor=actor, kind=kind, lasts=timedelta(days=1))

    return asyncio.run(issue())


@contextmanager
def server(
    argv: list[str], port: int, path: str, headers: Mapping[str, str] = MappingProxyType({})
) -> Iterator[Process]:
    """Any server, from the moment when it answers a GET of `path` with these headers."""
    started = time.perf_counter()
    with (
        tempfile.TemporaryFile() as log,  # a line for each decision, as in production
        subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=log) as process,
    ):
        try:
            while not _answers(f"http://127.0.0.1:{port}{path}", headers):
                if process.poll() is not None or time.perf_counter() - started > _START_SECONDS:
                    sys.exit(f"{' '.join(argv)} did not start.")
                time.sleep(0.005)
            yield Process(pid=process.pid, port=port, ready_seconds=time.perf_counter() - started)
        finally:
            process.terminate()


def _answers(url: str, headers: Mapping[str, str]) -> bool:
    try:
        request = urllib.request.Request(url, headers=dict(headers))  # noqa: S310  our own server on loopback
        with urllib.request.urlopen(request, timeout=5) as reply:  # noqa: S310
            return bool(reply.status == 200)
    except (OSError, HTTPException):  # not there yet, or there and not ready
        return False
