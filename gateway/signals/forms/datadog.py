"""Datadog's webhooks, with the payload that `docs/operators.md` gives: Datadog's own does not say whether a monitor recovered."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from gateway.core.errors import Malformed
from gateway.core.model.signal import SignalEvent, SignalState
from gateway.signals.forms.fields import MOST_LABELS, optional, text

_STATES: Final = {
    "triggered": SignalState.OPEN,
    "re-triggered": SignalState.OPEN,
    "no data": SignalState.OPEN,
    "re-no data": SignalState.OPEN,
    "renotify": SignalState.OPEN,
    # A warning is no incident.
    "warn": SignalState.CLOSED,
    "re-warn": SignalState.CLOSED,
    "recovered": SignalState.CLOSED,
}


def read(source: str, document: Mapping[str, Any]) -> list[SignalEvent]:
    """The event of the message. Raises `errors.Malformed`."""
    transition = text(document, "transition")
    state = _STATES.get(transition.lower())
    if state is None:
        raise Malformed(
            f"`transition` is {transition!r}, which is no transition of a monitor. Nothing of the message was taken."
        )
    monitor, scope = text(document, "alert_id"), optional(document, "scope")
    references = (monitor, optional(document, "cycle"), optional(document, "link"))
    return [
        SignalEvent(
            source=source,
            key=f"{monitor}/{scope}" if scope else monitor,
            name=optional(document, "title") or monitor,
            state=state,
            at=_time(text(document, "date")),
            labels=_labels(document),
            references=tuple(each for each in references if each),
        )
    ]


def _labels(document: Mapping[str, Any]) -> dict[str, str]:
    """The tags of the form `name:value`."""
    given = document.get("tags") or ""
    tags = (given if isinstance(given, str) else "").split(",")[:MOST_LABELS]
    pairs = (tag.strip().partition(":") for tag in tags)
    return {name: optional({name: value}, name) for name, colon, value in pairs if name and colon}


def _time(milliseconds: str) -> datetime:
    try:
        return datetime.fromtimestamp(int(milliseconds) / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        raise Malformed("`date` is not a number of milliseconds ($DATE). Nothing of the message was taken.") from None
