"""The message that CloudWatch publishes on an SNS topic when an alarm changes its state."""

from collections.abc import Mapping
from typing import Any

from gateway.core.model.signal import SignalEvent
from gateway.signals.forms import eventbridge
from gateway.signals.forms.fields import clean, items, mapping, optional, text, time


def read(source: str, document: Mapping[str, Any]) -> list[SignalEvent]:
    """The event of the message; one of EventBridge, whose rules can send to topics too, is read as such. Raises `errors.Malformed`."""
    if "detail-type" in document:
        return eventbridge.read(source, document)
    name = text(document, "AlarmName")
    trigger = mapping(document.get("Trigger") or {}, "Trigger")
    dimensions = [mapping(each, "Dimensions") for each in items(trigger.get("Dimensions") or [], "Dimensions")[:30]]
    found = {clean(str(each.get("name", ""))): optional(each, "value") for each in dimensions}
    known = {
        "alarm": name,
        "account": text(document, "AWSAccountId"),
        "namespace": optional(trigger, "Namespace"),
        "metric": optional(trigger, "MetricName"),
    }
    return [
        SignalEvent(
            source=source,
            key=text(document, "AlarmArn"),
            name=name,
            state=eventbridge.alarm_state(text(document, "NewStateValue")),
            at=time(document, "StateChangeTime"),
            labels={label: value for label, value in {**found, **known}.items() if label and value},
        )
    ]
