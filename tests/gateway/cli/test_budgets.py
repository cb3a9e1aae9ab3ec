"""`sentinel budgets`, against a running gateway."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gateway.core.model.budget import Used
from gateway.core.model.caller import ActorKind
from gateway.core.model.circuit_breaker import Breaker, BreakerState
from gateway.ledger.decide.budgets import _store
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


def test_what_is_left_is_shown(
    gate: Gate,
    speak_as: Callable[..., None],
    sentinel: Callable[..., Any],
    document: Callable[..., Any],
    propose: Any,
) -> None:
    speak_as(gate, "agent")
    assert sentinel(*propose).exit_code == 0
    code, reply = document("budgets")
    assert (code, [each["actor"] for each in reply["budgets"]]) == (0, ["agent"])
    assert [each["per"] for each in reply["budgets"][0]["mutations"][:2]] == ["minute", "hour"]
    [added] = reply["budgets"][0]["added"]
    assert added["left"] < added["most"], "the group grew"
    shown = sentinel("budgets").stdout
    assert all(part in shown for part in ("mutations a minute", "mutations an hour", "instances added a day"))
    assert all(part in shown for part in ("incident claims", "no limit", "(1 held)", "claims without a motive"))
    speak_as(gate, "human")
    assert "rival" in sentinel("budgets").stdout
    assert "rival" not in sentinel("budgets", "--actor", "agent").stdout


def test_an_open_breaker_is_shown_and_reset(
    gate: Gate, speak_as: Callable[..., None], sentinel: Callable[..., Any], document: Callable[..., Any]
) -> None:
    until = datetime.now(UTC) + timedelta(hours=1)
    broken = Used(breaker=Breaker(state=BreakerState.OPEN, in_a_row=7, until=until))
    gate.run(gate.ledger.write(lambda transaction: _store(transaction, "rival", Used(), broken)))
    gate.issue("chief", kind=ActorKind.HUMAN, roles=("operator",))
    speak_as(gate, "chief")
    shown = sentinel("budgets").stdout.replace("\n", "")
    assert "The breaker of rival is open until" in shown
    assert "7 refusals and failures in a row." in shown
    assert document("budgets", "--reset", "rival")[1]["code"] == "malformed"
    assert sentinel("budgets", "--reset", "rival", "--reason", "Mended").stdout.startswith("The breaker of rival is")
    assert document("budgets", "--reset", "rival", "--reason", "Mended")[1]["code"] == "not_found"
    assert document("budgets", "--reset", "a/../b?c", "--reason", "x")[1]["code"] == "not_found"
