"""The body of a message by the Standard Webhooks specification: `type` is `signal.opened` or `signal.closed`, `data` describes the signal."""

from collections.abc import Mapping
from typing import Any, Final

from gateway.core.errors import Malformed
from gateway.core.model.signal import SignalEvent, SignalState
from gateway.signals.forms.fields import labels, mapping, member, optional, text, texts, time

_STATES: Final = {"signal.opened": SignalState.OPEN, "signal.closed": SignalState.CLOSED}


def read(source: str, document: Mapping[str, Any]) -> list[SignalEvent]:
    """The one event of the message. Raises `errors.Malformed`."""
    kind = text(document, "type")
    if kind not in _STATES:
        raise Malformed(f"`type` is {' or '.join(_STATES)}, not {kind[:40]!r}. Nothing of the message was taken.")
    data = mapping(member(document, "data"), "data")
    key = text(data, "id")
    return [
        SignalEvent(
            source=source,
            key=key,
            name=optional(data, "name") or key,
            state=_STATES[kind],
            at=time(document, "timestamp"),
            labels=labels(data.get("labels"), "labels"),
            references=texts(data, "references"),
        )
    ]
