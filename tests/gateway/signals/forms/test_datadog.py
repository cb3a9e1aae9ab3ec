"""A monitor of Datadog is open while it alerts or has no data."""

from typing import Any

import pytest

from gateway.core.errors import Malformed
from gateway.core.model.signal import SignalState
from gateway.signals.forms.datadog import read

MESSAGE: dict[str, Any] = {
    "alert_id": "101",
    "scope": "host:a",
    "cycle": "9001",
    "transition": "Triggered",
    "title": "[Triggered] Lag",
    "date": "1795323600000",
    "tags": "service:kafka,env:prod,plain, url:http://x",
    "link": "https://app.datadoghq.com/event/1",
}


def test_tags_are_labels_and_the_date_is_in_milliseconds() -> None:
    [event] = read("s", MESSAGE)
    assert (event.key, event.at.isoformat()) == ("101/host:a", "2026-11-22T05:00:00+00:00")
    assert event.labels == {"service": "kafka", "env": "prod", "url": "http://x"}
    assert event.references == ("101", "9001", "https://app.datadoghq.com/event/1")
    assert read("s", {**MESSAGE, "scope": "", "date": 1795323600000, "tags": None})[0].key == "101"


@pytest.mark.parametrize(
    ("transition", "state"),
    [("Re-Triggered", "open"), ("No Data", "open"), ("Warn", "closed"), ("Recovered", "closed")],
)
def test_the_transition_decides(transition: str, state: str) -> None:
    assert read("s", {**MESSAGE, "transition": transition})[0].state is SignalState(state)


@pytest.mark.parametrize(
    "change", [{"transition": "$ALERT_TRANSITION"}, {"date": "today"}, {"date": "9" * 30}, {"alert_id": None}]
)
def test_anything_else_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(Malformed):
        read("s", {**MESSAGE, **change})
