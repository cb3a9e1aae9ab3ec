"""Events of EventBridge."""

from collections.abc import Callable
from typing import Any

import pytest

BUS = {"aws_cloudwatch_event_bus.b": {"name": "b"}}
EVENT = {"Source": "s", "DetailType": "t", "Detail": "{}"}


def test_events_invoke_every_bus_they_are_put_on(effects_of: Callable[..., Any]) -> None:
    entries = [EVENT, {**EVENT, "EventBusName": "b"}, {**EVENT, "EventBusName": "b"}]
    found = effects_of("events", "PutEvents", {"Entries": entries}, BUS)
    assert [(effect.address, effect.action) for effect in found] == [
        ("aws_cloudwatch_event_bus{name=default}", "invoke"),
        ("aws_cloudwatch_event_bus.b", "invoke"),
    ]


@pytest.mark.parametrize(
    "parameters",
    [
        {"Entries": []},
        {"Entries": "x"},
        {"Entries": [7]},
        {"Entries": [EVENT], "EndpointId": "another.region"},
        {"Entries": [{**EVENT, "EventBusName": "arn:aws:events:eu-west-1:999999999999:event-bus/b"}]},
    ],
)
def test_what_may_go_elsewhere_is_not_understood(effects_of: Callable[..., Any], parameters: dict[str, Any]) -> None:
    assert effects_of("events", "PutEvents", parameters, BUS) == ()
