"""The webhook body of Prometheus Alertmanager, version 4."""

from collections.abc import Mapping
from typing import Any

from gateway.core.errors import Malformed
from gateway.core.model.signal import SignalEvent, SignalState
from gateway.signals.forms.fields import clean, items, labels, mapping, member, optional, text, time


def read(source: str, document: Mapping[str, Any]) -> list[SignalEvent]:
    """One event for each alert of the message. Raises `errors.Malformed`."""
    if document.get("truncatedAlerts"):
        raise Malformed(
            "Alertmanager left alerts out of this message (`truncatedAlerts`), so nothing of it was taken. Raise `max_alerts` of the webhook."
        )
    return [
        _event(source, mapping(alert, "alerts"), clean(str(document.get("groupKey", ""))))
        for alert in items(member(document, "alerts"), "alerts")
    ]


def _event(source: str, alert: Mapping[str, Any], group: str) -> SignalEvent:
    firing = text(alert, "status") == "firing"
    found = labels(alert.get("labels"), "labels")
    key = text(alert, "fingerprint")
    return SignalEvent(
        source=source,
        key=key,
        name=found.get("alertname") or key,
        state=SignalState.OPEN if firing else SignalState.CLOSED,
        at=time(alert, "startsAt" if firing else "endsAt"),
        labels=found,
        references=tuple(each for each in (optional(alert, "generatorURL"), group) if each),
    )
