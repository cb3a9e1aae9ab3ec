"""PagerDuty's webhooks, version 3: events of incidents."""

from collections.abc import Mapping
from typing import Any, Final

from gateway.core.model.signal import SignalEvent, SignalState
from gateway.signals.forms.fields import mapping, member, optional, text, time

_STATES: Final = {
    "triggered": SignalState.OPEN,
    "acknowledged": SignalState.OPEN,
    "resolved": SignalState.CLOSED,
}


def read(source: str, document: Mapping[str, Any]) -> list[SignalEvent]:
    """The event of the message, if it says how an incident stands: a ping, a note or a responder says nothing. Raises `errors.Malformed`."""
    event = mapping(member(document, "event"), "event")
    kind = text(event, "event_type")
    data = mapping(event.get("data") or {}, "data")
    state = _STATES.get(optional(data, "status"))
    if not kind.startswith("incident.") or data.get("type") != "incident" or state is None:
        return []
    key = text(data, "id")
    about = {name: optional(mapping(data.get(name) or {}, name), "summary") for name in ("service", "priority")}
    found = {**about, "urgency": optional(data, "urgency"), "title": optional(data, "title")}
    number = optional(data, "number")
    references = (optional(data, "html_url"), f"#{number}" if number else "")
    return [
        SignalEvent(
            source=source,
            key=key,
            name=optional(data, "title") or key,
            state=state,
            at=time(event, "occurred_at"),
            labels={name: value for name, value in found.items() if value},
            references=tuple(each for each in references if each),
        )
    ]
