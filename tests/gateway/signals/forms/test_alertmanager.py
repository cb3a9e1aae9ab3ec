"""Alertmanager's alerts: open from `startsAt`, closed at `endsAt`, known by their fingerprint."""

from typing import Any

import pytest

from gateway.core.errors import Malformed
from gateway.core.model.signal import SignalState
from gateway.signals.forms.alertmanager import read

ALERT = {
    "status": "firing",
    "labels": {"alertname": "Lag", "service": "kafka"},
    "startsAt": "2026-11-22T05:00:00.123456789Z",
    "endsAt": "0001-01-01T00:00:00Z",
    "generatorURL": "http://prometheus/graph",
    "fingerprint": "c0ffee",
}


def test_one_event_for_each_alert() -> None:
    closed = {**ALERT, "status": "resolved", "endsAt": "2026-11-22T06:00:00+01:00", "fingerprint": "b", "labels": {}}
    first, second = read("s", {"groupKey": "{}:{}", "alerts": [ALERT, closed]})
    assert (first.key, first.name, first.state) == ("c0ffee", "Lag", SignalState.OPEN)
    assert first.at.isoformat() == "2026-11-22T05:00:00.123456+00:00"
    assert first.references == ("http://prometheus/graph", "{}:{}")
    assert (second.name, second.state, second.at.hour) == ("b", SignalState.CLOSED, 5)


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"alerts": [ALERT], "truncatedAlerts": 1},
        {"alerts": [{**ALERT, "startsAt": None}]},
        {"alerts": ["x"]},
        {"alerts": [{**ALERT, "labels": []}]},
    ],
)
def test_anything_else_is_refused(message: dict[str, Any]) -> None:
    with pytest.raises(Malformed, match="nothing of it was taken"):
        read("s", message)
