"""`sentinel serve`: what it needs to start, what it says when it has started, and the line it logs for each decision."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
import structlog
from typer.testing import Result

from gateway.cli.serve import UNTAKEN_SECONDS, listening
from gateway.core.errors import SettingsInvalid
from gateway.core.settings import ServerSettings
from tests.kit.forked import Forked, python_m
from tests.kit.up import free_port

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

ROOT = Path(__file__).parents[3]
KAFKA = ROOT / "tests" / "cases" / "stacks" / "kafka"
_PATIENCE = 300.0


@pytest.fixture(autouse=True)
def logging_put_back() -> Iterator[None]:
    """`serve` sets up logging for its whole process, which here is the tests' own."""
    yield
    structlog.reset_defaults()


def test_it_does_not_start_without_anything_to_guard(
    sentinel: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SENTINEL_STACKS", raising=False)
    done = sentinel("serve")
    assert done.exit_code == 1
    assert "Sentinel does not start. There is no sentinel.toml in" in done.stderr.replace("\n", " ")
    assert not Path(".sentinel").exists()


def test_a_port_in_use_is_a_sentence() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(SettingsInvalid, match=rf"cannot listen on 127.0.0.1 port {port}: Address already in use"):
            listening(ServerSettings(port=port))


def test_a_client_that_takes_nothing_is_let_go_even_where_its_connection_is_closed_here() -> None:
    """What is left of an answer may fit into the buffers, so that only the system knows that nobody takes it."""
    with listening(ServerSettings(port=free_port())) as listener:
        listener.listen()
        with socket.create_connection(listener.getsockname()), listener.accept()[0] as connection:
            limit = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
    assert limit == UNTAKEN_SECONDS * 1000


@pytest.mark.slow
def test_it_says_what_it_is_and_logs_each_decision(elsewhere: Path) -> None:
    port = free_port()
    (elsewhere / "sentinel.toml").write_text(
        f'data = "{elsewhere / "data"}"\n[server]\nport = {port}\n[upstream]\nsimulated = "http://127.0.0.1:9"\n'
        f'[[stacks]]\nname = "kafka"\npath = "{KAFKA}"\nmode = "observe"\n'
    )
    run = [sys.executable, "-m", "gateway"]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    created = subprocess.run([*run, "key", "create", "scaler", "--json"], capture_output=True, env=environ, check=True)
    key = json.loads(created.stdout)
    with (elsewhere / "log").open("wb") as log:
        process = python_m("gateway", "serve", environment=environ, directory=elsewhere, errors=log)
    try:
        _wait_until_ready(process, port)
        token = {"Authorization": f"Bearer {key['access_key_id']}.{key['secret_access_key']}"}
        body = {"service": "events", "operation": "CancelReplay", "parameters": {"ReplayName": "a-value"}}
        reply = httpx.post(f"http://127.0.0.1:{port}/v1/mutations", json=body, headers=token, timeout=60)
        assert reply.status_code in (202, 403)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(_PATIENCE)
    text = (elsewhere / "log").read_text()
    assert key["secret_access_key"] not in text
    lines = {line["event"]: line for line in map(json.loads, text.splitlines())}
    started, decision = lines["started"], lines["decision"]
    assert started["address"] == f"http://127.0.0.1:{port}"
    assert (started["stacks"], started["mode"]) == ({"kafka": "observe"}, "enforce")
    assert started["ledger"] == f"sqlite:///{elsewhere / 'data' / 'ledger.db'}"
    assert len(started["policy"]) == 64
    assert (decision["actor"], decision["operation"], decision["outcome"]) == (
        "scaler",
        "events:CancelReplay",
        "refused",
    )
    assert decision["mutation"] == reply.json()["mutation"]["id"]


def _wait_until_ready(process: Forked, port: int) -> None:
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        assert process.poll() is None, "the gateway ended"
        try:
            if httpx.get(f"http://127.0.0.1:{port}/readyz").status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.1)
    raise AssertionError("the gateway was never ready")
