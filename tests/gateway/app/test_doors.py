"""The doors that the settings open, where they are reached, and what is closed with the gateway."""

import asyncio
import base64
import subprocess
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from gateway.app.doors import (
    base_url_of,
    console_doors,
    context_reader,
    delivery_book,
    hosts_of,
    mcp_doors,
    metrics_doors,
    slack_chat,
)
from gateway.core.settings import ReconcileSettings, ServerSettings, Settings
from gateway.core.settings.agents import LOOPBACK_HOSTS, ContextSettings, McpSettings
from gateway.core.settings.console import ConsoleSettings
from gateway.core.settings.telemetry import TelemetrySettings
from gateway.doors.shutdown import Stopping
from tests.kit.doubles import FixedClock
from tests.kit.gate import Gate


class _WithoutConsole:
    settings = Settings(console=ConsoleSettings(enabled=False))


def test_the_console_can_be_switched_off() -> None:
    nothing = cast("Any", None)
    assert console_doors(cast("Any", _WithoutConsole()), nothing, nothing, Stopping()) == {}


@pytest.mark.allow_hosts(["127.0.0.1"])
def test_the_console_is_on(gate: Gate) -> None:
    assert "/console" in gate.app._doors


@pytest.mark.parametrize("on", [True, False])
def test_the_settings_say_which_live_values_are_read(on: bool) -> None:
    settings = Settings(
        context=ContextSettings(live=on, live_reads_per_minute=3, live_seconds=2),
        reconcile=ReconcileSettings(drift_every=60 if on else 0),
        account="123456789012",
    )
    unused: Any = SimpleNamespace()
    ports: Any = SimpleNamespace(
        settings=settings,
        masker=unused,
        stacks=unused,
        ledger=unused,
        engine=unused,
        clock=unused,
        signals=SimpleNamespace(about=tuple),
        aws=SimpleNamespace(aws=unused, models=unused),
    )
    made = context_reader(ports)
    assert (made.live.reads_per_minute, made.live.deadline_seconds, made.seeks_drift) == (3, 2, on)
    source: Any = made.live.source
    assert (source is not None) is on
    assert not on or source.account == "123456789012"


ROOT = Path(__file__).resolve().parents[3]


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


async def test_switched_off_there_is_no_mcp_door_and_else_it_ends_with_the_stack() -> None:
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


@pytest.mark.slow
def test_a_gateway_that_nobody_asks_does_not_load_the_sdk() -> None:
    code = "import sys, gateway.app.running; print([name for name in sys.modules if name.partition('.')[0] in ('mcp', 'mcp_types')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


def _with_telemetry(**telemetry: Any) -> Any:
    settings = Settings(telemetry=TelemetrySettings(**telemetry))
    return SimpleNamespace(settings=settings, keys=None, clock=None, telemetry=None, ledger=None, engine=None)


def test_metrics_are_off_by_default() -> None:
    assert metrics_doors(_with_telemetry(), None) == {}  # type: ignore[arg-type]  # not used
    assert list(metrics_doors(_with_telemetry(metrics=True), None)) == ["/metrics"]  # type: ignore[arg-type]  # not used


SECRET = "whsec_" + base64.b64encode(b"s" * 32).decode()
SLACK = {"signing_secret": "s" * 32, "team": "T1", "webhook_url": "https://hooks.slack.com/services/x"}


def _with_chat(**settings: Any) -> Any:
    nothing = SimpleNamespace()
    parts = {"ledger": nothing, "keys": nothing, "wakeups": nothing, "clock": FixedClock()}
    return SimpleNamespace(settings=Settings.model_validate(settings), **parts)


def test_the_receivers_are_those_that_the_reconciler_delivers_to() -> None:
    hooks = [{"name": "ops", "url": "https://a.example", "secret": SECRET}]
    assert delivery_book(_with_chat()).receivers == []
    assert delivery_book(_with_chat(webhooks=hooks, chat={"slack": SLACK})).receivers == ["ops", "chat-slack"]


async def test_the_chat_is_closed_with_the_gateway() -> None:
    async with AsyncExitStack() as stack:
        chat = slack_chat(_with_chat(chat={"slack": SLACK}), stack)
        assert (chat.settings.on, chat.links.team) == (True, "T1")
        assert not slack_chat(_with_chat(), stack).settings.on
