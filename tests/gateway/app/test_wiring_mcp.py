"""Where the gateway is reached, and which hosts are its own."""

import asyncio
import subprocess
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gateway.app.doors import base_url_of, hosts_of, mcp_doors
from gateway.core.settings import ServerSettings, Settings
from gateway.core.settings.agents import LOOPBACK_HOSTS, McpSettings
from gateway.doors.shutdown import Stopping

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("server", "url"),
    [
        (ServerSettings(port=8484), "http://127.0.0.1:8484"),
        (ServerSettings(host="::1", port=1), "http://[::1]:1"),
        (ServerSettings(public_url="https://s.example"), "https://s.example"),
    ],
)
def test_where_it_is_reached(server: ServerSettings, url: str) -> None:
    assert base_url_of(server) == url


def test_the_hosts_are_the_settings_the_public_one_its_own_and_this_machine() -> None:
    server = ServerSettings(host="10.0.0.5", port=9, public_url="https://s.example:8443")
    assert hosts_of(server, ("more.example",)) == ("more.example", "s.example:8443", "10.0.0.5", "10.0.0.5:9", *LOOPBACK_HOSTS)  # fmt: skip
    assert hosts_of(ServerSettings(host="0.0.0.0"), ()) == LOOPBACK_HOSTS  # noqa: S104  nothing is bound


async def test_switched_off_there_is_no_door_and_else_it_ends_with_the_stack() -> None:
    unused: Any = SimpleNamespace()
    ports: Any = SimpleNamespace(settings=Settings(mcp=McpSettings(enabled=False)))
    async with AsyncExitStack() as stack:
        assert mcp_doors(ports, unused, stack, Stopping()) == {}
        engine = SimpleNamespace(rules=dict)
        ports = SimpleNamespace(settings=Settings(), stacks=unused, engine=engine, keys=unused, clock=unused)
        before = asyncio.all_tasks()
        doors = mcp_doors(ports, unused, stack, Stopping())
        assert set(doors) == {"/mcp", "/.well-known/oauth-protected-resource"}
        [running] = asyncio.all_tasks() - before
    assert running.done()


def test_a_gateway_that_nobody_asks_does_not_load_the_sdk() -> None:
    code = "import sys, gateway.app.running; print([name for name in sys.modules if name.partition('.')[0] in ('mcp', 'mcp_types')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"
