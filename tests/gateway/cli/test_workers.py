"""`sentinel serve --workers N`: one port, one ledger; a worker that is killed is replaced, and all end together."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from gateway.cli.places import FRESH_SECONDS
from tests.kit.up import free_port

pytestmark = [pytest.mark.slow, pytest.mark.allow_hosts(["127.0.0.1"])]

ROOT = Path(__file__).parents[3]
WORKERS = 2
KAFKA = ROOT / "tests" / "cases" / "stacks" / "kafka"


@contextmanager
def _served(
    directory: Path, *, stack: Path = KAFKA, own_core: bool = False
) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    port = free_port()
    (directory / "sentinel.toml").write_text(
        f'[server]\nport = {port}\nlease_seconds = 2\nown_core = {str(own_core).lower()}\n[upstream]\nsimulated = "http://127.0.0.1:1"\n'
        f'[[stacks]]\nname = "kafka"\npath = "{stack}"\n'
    )
    command = [sys.executable, "-m", "gateway", "serve", "--workers", str(WORKERS)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with (directory / "log").open("wb") as told:
        process = subprocess.Popen(command, cwd=directory, env=environment, stdout=told, stderr=told)
    try:
        yield process, f"http://127.0.0.1:{port}"
    finally:
        for child in _children(process.pid):
            os.kill(child, signal.SIGKILL)
        process.kill()
        process.wait()


def _children(process: int) -> list[int]:
    try:
        found = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        return []
    return [int(each) for each in found]


def _until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 300
    while not holds():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.1)


def _ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/readyz").status_code == 200
    except httpx.TransportError:
        return False


def _workers_of(process: int, port: int) -> dict[int, int]:
    """How many connections to this port each worker holds."""
    inodes = {
        fields[9]
        for fields in (line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:])
        if int(fields[1].rpartition(":")[2], 16) == port and fields[3] == "01"
    }
    found = {}
    for worker in _children(process):
        links = []
        for each in Path(f"/proc/{worker}/fd").iterdir():
            with suppress(OSError):  # it was closed
                links.append(str(each.readlink()))
        found[worker] = sum(link.removeprefix("socket:[").rstrip("]") in inodes for link in links)
    return found


def _connected(count: int, port: int) -> list[socket.socket]:
    """Connections over each of which a request was answered."""
    made = []
    for _ in range(count):
        connection = socket.create_connection(("127.0.0.1", port), timeout=300)
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert connection.recv(12) == b"HTTP/1.1 200"
        made.append(connection)
    return made


def test_each_worker_gets_as_many_connections_a_killed_one_is_replaced_and_all_end_together(tmp_path: Path) -> None:
    with _served(tmp_path) as (process, url):
        port = int(url.rpartition(":")[2])
        _until(lambda: _ready(url))
        kept: list[socket.socket] = []

        def all_take() -> bool:
            kept.extend(_connected(1, port))
            return len(spread := _workers_of(process.pid, port)) == WORKERS and min(spread.values()) > 0

        _until(all_take)
        kept += _connected(20 - len(kept) % 20, port)
        spread = _workers_of(process.pid, port)
        assert sum(spread.values()) == len(kept)
        assert max(spread.values()) - min(spread.values()) <= 4  # by chance it would often be more
        killed, other = spread
        os.kill(killed, signal.SIGSTOP)
        # Who does not answer is not waited for, and what it took before is not lost to the others.
        time.sleep(2 * FRESH_SECONDS)
        waiting = _connected(3, port)
        os.kill(killed, signal.SIGKILL)
        _until(lambda: killed not in (now := _children(process.pid)) and len(now) == WORKERS)
        assert other in _children(process.pid)
        _until(all_take)
        assert (tmp_path / "log").read_text().count('"started"') >= WORKERS + 1
        # The new one has fewer, so it gets what comes then.
        before = _workers_of(process.pid, port)[other]
        kept += _connected(10, port)
        assert _workers_of(process.pid, port)[other] <= before + 3
        for connection in kept + waiting:
            connection.close()
        process.send_signal(signal.SIGTERM)
        assert process.wait(300) == 0
        assert _children(process.pid) == []


def _cores_of(worker: int) -> set[str]:
    """On which cores the threads of a process may run."""
    found: set[str] = set()
    for thread in Path(f"/proc/{worker}/task").iterdir():
        with suppress(OSError):  # it has ended
            found.update(re.findall(r"^Cpus_allowed_list:\t(.*)$", (thread / "status").read_text(), re.MULTILINE))
    return found


def test_each_worker_stays_on_a_core_of_its_own(tmp_path: Path) -> None:
    every = sorted(os.sched_getaffinity(0))
    wanted = sorted(str(every[number % len(every)]) for number in range(WORKERS))
    with _served(tmp_path, own_core=True) as (process, _):
        _until(lambda: sorted(core for each in _children(process.pid) for core in _cores_of(each)) == wanted)


@pytest.mark.long
def test_settings_with_which_no_worker_starts_end_all(tmp_path: Path) -> None:
    with _served(tmp_path, stack=tmp_path / "nowhere") as (process, _):
        assert process.wait(300) == 1
    assert "Sentinel does not start" in (tmp_path / "log").read_text()


def test_no_program_is_started_with_the_current_directory_on_its_path() -> None:
    """With `-m` alone Python imports from there first, and a gateway may be started in a checkout of code, which others write."""
    sources = [path for room in ("gateway", "reconciler") for path in (ROOT / room).rglob("*.py")]
    started = re.compile(r'sys\.executable,\s*"-m"')
    assert [path for path in sources if started.search(path.read_text())] == []
