"""Change tickets prove only while they are open, and within their time."""

from typing import Any

import pytest

from gateway.core.errors import Malformed
from gateway.signals.forms.tickets import read

TICKET: dict[str, Any] = {
    "id": "CHG-7",
    "title": "New brokers",
    "state": "approved",
    "since": "2026-11-22T00:00:00Z",
    "until": "2026-11-23T00:00:00Z",
    "labels": {"service": "kafka"},
    "references": ["https://tickets/7"],
}


@pytest.mark.parametrize("document", [[TICKET], {"tickets": [TICKET]}])
def test_an_open_ticket_is_a_signal(document: Any) -> None:
    [found] = read(document)
    assert (found.key, found.name, found.references) == ("CHG-7", "New brokers", ("https://tickets/7",))
    assert found.until is not None
    assert found.labels == {"id": "CHG-7", "service": "kafka"}


@pytest.mark.parametrize("state", ["closed", "Rejected", "draft", "cancelled"])
def test_a_ticket_that_is_not_open_proves_nothing(state: str) -> None:
    assert list(read([{**TICKET, "state": state}])) == []


@pytest.mark.parametrize(
    "change", [{"state": "perhaps"}, {"id": ""}, {"since": None}, {"until": "later"}, {"state": None}]
)
def test_anything_else_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(Malformed):
        list(read([{**TICKET, **change}]))
