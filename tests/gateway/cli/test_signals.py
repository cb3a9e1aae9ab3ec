"""`sentinel signals`, against a running gateway."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gateway.core.model.signal import SignalState
from tests.kit.gate import Gate
from tests.kit.history import event

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


def test_they_are_listed_with_what_to_state_as_evidence(
    gate: Gate, speak_as: Callable[..., None], sentinel: Callable[..., Any], document: Callable[..., tuple[int, Any]]
) -> None:
    speak_as(gate, "human")
    assert sentinel("signals").stdout == "No signal is open.\n"
    now = datetime.now(UTC) - timedelta(minutes=1)
    gate.run(gate.ledger.record_signals([event("K-1", at=now)], now))
    code, reply = document("signals", "--json", "--stack", "shop", "--service", "orders")
    assert (code, [each["key"] for each in reply["signals"]]) == (0, ["K-1"])
    assert "alerts:K-1" in sentinel("signals").stdout.replace("\n", "")
    gate.run(gate.ledger.record_signals([event("K-1", SignalState.CLOSED, at=datetime.now(UTC))], now))
    assert sentinel("signals", "--source", "none", "--all").stdout == "There is no such signal.\n"
    code, reply = document("signals", "--all", "--json")
    assert [each["state"] for each in reply["signals"]] == ["closed"]


def test_an_agent_is_told_why_not(gate: Gate, speak_as: Callable[..., None], document: Callable[..., Any]) -> None:
    speak_as(gate, "agent")
    code, reply = document("signals", "--json")
    assert (code, reply["code"]) == (1, "not_allowed")
