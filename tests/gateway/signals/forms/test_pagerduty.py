"""PagerDuty's incidents are open until they are resolved; other events say nothing."""

from typing import Any

import pytest

from gateway.core.errors import Malformed
from gateway.core.model.signal import SignalState
from gateway.signals.forms.pagerduty import read

INCIDENT: dict[str, Any] = {
    "id": "PGR0VU2",
    "type": "incident",
    "html_url": "https://acme.pagerduty.com/incidents/PGR0VU2",
    "number": 2,
    "status": "triggered",
    "title": "A little bump in the road",
    "service": {"id": "PF9KMXH", "summary": "API Service", "type": "service_reference"},
    "priority": None,
    "urgency": "high",
}


def message(kind: str = "incident.triggered", **change: Any) -> dict[str, Any]:
    data = {**INCIDENT, **change}
    return {"event": {"id": "5ac64822", "event_type": kind, "occurred_at": "2026-11-22T05:02:16.218Z", "data": data}}


@pytest.mark.parametrize(
    ("kind", "status", "state"),
    [
        ("incident.triggered", "triggered", SignalState.OPEN),
        ("incident.acknowledged", "acknowledged", SignalState.OPEN),
        ("incident.reopened", "triggered", SignalState.OPEN),
        ("incident.resolved", "resolved", SignalState.CLOSED),
    ],
)
def test_the_status_decides(kind: str, status: str, state: SignalState) -> None:
    [event] = read("s", message(kind, status=status))
    assert (event.key, event.state, event.labels["service"]) == ("PGR0VU2", state, "API Service")
    assert event.references == ("https://acme.pagerduty.com/incidents/PGR0VU2", "#2")


@pytest.mark.parametrize(
    "told",
    [message("pagey.ping", type="ping"), message("incident.annotated", type="incident_note"), message(status="?")],
)
def test_other_events_say_nothing(told: dict[str, Any]) -> None:
    assert read("s", told) == []


def test_a_message_without_event_is_refused() -> None:
    with pytest.raises(Malformed, match="event"):
        read("s", {})
