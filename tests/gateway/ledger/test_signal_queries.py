"""Signals are listed by state, source, service and the stack they concern."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from gateway.model.signal import SignalScope, SignalState
from gateway.signal_ports import SignalQuery
from tests.kit.history import NOW, event


@pytest.mark.parametrize(
    ("query", "keys"),
    [
        (SignalQuery(), ["c", "b", "a", "d"]),
        (SignalQuery(state=SignalState.OPEN), ["b", "a", "d"]),
        (SignalQuery(stack="shop"), ["c", "a", "d"]),
        (SignalQuery(stack="other"), ["b", "d"]),
        (SignalQuery(service="billing"), ["b"]),
        (SignalQuery(source="pager"), ["d"]),
        (SignalQuery(limit=1), ["c"]),
    ],
)
async def test_they_are_filtered(scene: Any, query: SignalQuery, keys: list[str]) -> None:
    def at(minutes: int) -> Any:
        return NOW + timedelta(minutes=minutes)

    told = [
        event("a", at=at(1)),
        replace(event("b", at=at(2)), service="billing", scopes=(SignalScope(stack="other"),)),
        event("c", SignalState.CLOSED, at=at(3)),
        replace(event("d", at=at(0), source="pager"), scopes=(SignalScope(stack="*"),)),
    ]
    await scene.ledger.record_signals(told, NOW)
    assert [each.key for each in await scene.ledger.signals(query)] == keys


async def test_one_is_read_as_it_was_told(scene: Any) -> None:
    told = event("a")
    await scene.ledger.record_signals([told], NOW)
    [found] = await scene.ledger.signals(SignalQuery())
    assert (found.id, found.labels, found.scopes, found.at, found.heard_at) == (
        told.id,
        told.labels,
        told.scopes,
        NOW,
        NOW,
    )
    assert "https://alerts.example/1" in found.references
    assert not found.filed


async def test_the_version_grows_with_each_change(scene: Any) -> None:
    assert await scene.ledger.signals_version() == 0
    await scene.ledger.record_signals([event("a")], NOW)
    first = await scene.ledger.signals_version()
    await scene.ledger.record_signals([event("a")], NOW)
    assert await scene.ledger.signals_version() == first > 0
    await scene.ledger.record_signals([event("a", SignalState.CLOSED)], NOW)
    assert await scene.ledger.signals_version() > first
