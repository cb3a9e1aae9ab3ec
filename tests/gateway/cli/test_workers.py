"""`sentinel serve --workers N`: one port, one ledger; a worker that is killed is replaced, and all end together."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from gateway.cli.serve import listening
from gateway.cli.workers import _beside
from gateway.core.settings import ServerSettings
from tests.kit.up import free_port

pytestmark = [pytest.mark.slow, pytest.mark.allow_hosts(["127.0.0.1"])]

ROOT = Path(__file__).parents[3]
KAFKA = ROOT / "tests" / "cases" / "stacks" / "kafka"


@contextmanager
def _served(directory: Path, *arguments: str, stack: Path = KAFKA) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    port = free_port()
    (directory / "sentinel.toml").write_text(
        f'[server]\nport = {port}\nlease_seconds = 2\n[upstream]\nsimulated = "http://127.0.0.1:1"\n'
        f'[[stacks]]\nname = "kafka"\npath = "{stack}"\n'
    )
    command = [sys.executable, "-m", "gateway", "serve", "--workers", "2", *arguments]
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


def test_a_killed_worker_is_replaced_and_all_end_together(tmp_path: Path) -> None:
    with _served(tmp_path) as (process, url):
        _until(lambda: _ready(url) and len(_children(process.pid)) == 2)
        killed, other = _children(process.pid)
        os.kill(killed, signal.SIGKILL)
        _until(lambda: killed not in (now := _children(process.pid)) and len(now) == 2)
        assert other in _children(process.pid)
        _until(lambda: _ready(url))
        _until(lambda: (tmp_path / "log").read_text().count('"started"') >= 3)
        process.send_signal(signal.SIGTERM)
        assert process.wait(300) == 0
        assert _children(process.pid) == []


def test_connections_are_spread_over_the_workers() -> None:
    with (
        listening(ServerSettings(port=free_port()), shared=True) as bound,
        _beside(bound) as one,
        _beside(bound) as other,
    ):
        one.listen(64)
        other.listen(64)
        clients = [socket.create_connection(bound.getsockname()) for _ in range(64)]
        for own in (one, other):
            own.settimeout(60)
            own.accept()[0].close()  # of 64 connections each has some
        for client in clients:
            client.close()


@pytest.mark.long
def test_settings_with_which_no_worker_starts_end_all(tmp_path: Path) -> None:
    with _served(tmp_path, stack=tmp_path / "nowhere") as (process, _):
        assert process.wait(300) == 1
    assert "Sentinel does not start" in (tmp_path / "log").read_text()
