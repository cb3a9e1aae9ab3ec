"""A generic message opens or closes one signal."""

from typing import Any

import pytest

from gateway.core.errors import Malformed
from gateway.core.model.signal import SignalState
from gateway.signals.forms.standard import read

MESSAGE: dict[str, Any] = {
    "type": "signal.opened",
    "timestamp": "2026-11-22T05:00:00Z",
    "data": {"id": "i-1", "name": "Lag", "labels": {"service": "kafka"}, "references": ["https://x", 7]},
}


def test_it_describes_one_signal() -> None:
    [event] = read("s", MESSAGE)
    assert (event.key, event.name, event.state, event.references) == ("i-1", "Lag", SignalState.OPEN, ("https://x",))
    assert read("s", {**MESSAGE, "type": "signal.closed"})[0].state is SignalState.CLOSED


@pytest.mark.parametrize(
    "change", [{"type": "other"}, {"timestamp": "2026-11-22T05:00:00"}, {"data": []}, {"data": {}}, {"type": 7.5}]
)
def test_anything_else_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(Malformed):
        read("s", {**MESSAGE, **change})
