"""The console is a door of the gateway unless it is switched off."""

from typing import Any, cast

import pytest

from gateway.app.doors import console_doors
from gateway.core.settings import Settings
from gateway.core.settings.console import ConsoleSettings
from gateway.doors.shutdown import Stopping
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


class _Ports:
    settings = Settings(console=ConsoleSettings(enabled=False))


def test_it_can_be_switched_off() -> None:
    nothing = cast("Any", None)
    assert console_doors(cast("Any", _Ports()), nothing, nothing, Stopping()) == {}


def test_it_is_on(gate: Gate) -> None:
    assert "/console" in gate.app._doors
