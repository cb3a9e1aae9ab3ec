"""The door is there only if the settings switch it on."""

from types import SimpleNamespace
from typing import Any

from gateway.app.doors import metrics_doors
from gateway.core.settings import Settings
from gateway.core.settings.telemetry import TelemetrySettings


def _ports(**telemetry: Any) -> Any:
    settings = Settings(telemetry=TelemetrySettings(**telemetry))
    return SimpleNamespace(settings=settings, keys=None, clock=None, telemetry=None, ledger=None, engine=None)


def test_it_is_off_by_default() -> None:
    assert metrics_doors(_ports(), None) == {}  # type: ignore[arg-type]  # not used
    assert list(metrics_doors(_ports(metrics=True), None)) == ["/metrics"]  # type: ignore[arg-type]  # not used
