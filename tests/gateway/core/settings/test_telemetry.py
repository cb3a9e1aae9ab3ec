"""Telemetry in the settings: off by default, and never open by accident."""

import pytest
from pydantic import ValidationError

from gateway.core.settings.telemetry import TelemetrySettings


def test_everything_is_off_by_default() -> None:
    given = TelemetrySettings()
    assert (given.metrics, given.metrics_peers, given.otlp) == (False, (), "")


def test_networks_may_read_without_a_key() -> None:
    given = TelemetrySettings.model_validate({"metrics": True, "metrics_peers": ["10.0.7.0/24", "::1"]})
    assert [str(each) for each in given.metrics_peers] == ["10.0.7.0/24", "::1/128"]


@pytest.mark.parametrize(
    "given",
    [
        {"metrics_peers": ["10.0.7.0/24"]},
        {"metrics": True, "metrics_peers": ["everyone"]},
        {"otlp": "collector:4318"},
        {"traces": 1.1},
    ],
)
def test_a_mistake_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        TelemetrySettings.model_validate(given)
