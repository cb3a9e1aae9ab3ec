"""A mutation's row and its path follow from its records alone."""

from typing import Any

import pytest

from gateway.core.records.record import Record, Stage
from gateway.presentation.changes import change_to_json, path_of
from tests.kit.bodies import sample_record
from tests.kit.doubles import NOW

HELD = {"decision": {"verdict": "hold", "carried_out": False}}
DENIED = {"decision": {"verdict": "deny", "carried_out": False}}
SENT = {"decision": {"verdict": "allow", "carried_out": True}}
OBSERVED = {"decision": {"verdict": "deny", "carried_out": True}}
LEFT = {"left": [{"address": "a.b", "attribute": "c", "reason": "No editor fits."}]}
APPLIED = (Stage.SETTLED, {"outcome": "applied"})


def records(*stages: tuple[Stage, dict[str, Any]]) -> list[Record]:
    return [
        sample_record(stage=stage, at=NOW, mutation_id="mut_1", actor="ana", seq=number, body=body)
        for number, (stage, body) in enumerate(stages, 1)
    ]


@pytest.mark.parametrize(
    ("history", "states"),
    [
        ([(Stage.DECIDED, DENIED)], "done stopped unneeded unneeded unneeded"),
        ([(Stage.DECIDED, HELD)], "done waits waits waits waits"),
        ([(Stage.DECIDED, HELD), (Stage.REJECTED, {})], "done stopped unneeded unneeded unneeded"),
        ([(Stage.DECIDED, HELD), (Stage.APPROVED, {"missing": 1})], "done waits waits waits waits"),
        ([(Stage.DECIDED, HELD), (Stage.APPROVED, {"missing": 0})], "done done waits waits waits"),
        ([(Stage.DECIDED, HELD), (Stage.APPROVED, {"missing": 0}), (Stage.WITHDRAWN, {})], "done waits waits waits waits"),
        ([(Stage.DECIDED, SENT)], "done done waits waits waits"),
        ([(Stage.DECIDED, OBSERVED), APPLIED], "done done done waits waits"),
        ([(Stage.DECIDED, SENT), (Stage.SETTLED, {"outcome": "failed"})], "done done stopped unneeded unneeded"),
        ([(Stage.DECIDED, SENT), (Stage.SETTLED, {"outcome": "in_doubt"})], "done done waits waits waits"),
        ([(Stage.DECIDED, SENT), APPLIED], "done done done waits waits"),
        ([(Stage.DECIDED, SENT), APPLIED, (Stage.RECONCILED, LEFT)], "done done done stopped unneeded"),
        ([(Stage.DECIDED, SENT), APPLIED, (Stage.RECONCILED, {"commit": "c0ffee"})], "done done done done waits"),
        ([(Stage.DECIDED, SENT), APPLIED, (Stage.RECONCILED, {"commit": "c0ffee"}), (Stage.RECONCILED, {"merged": True})], "done done done done done"),
        ([(Stage.DECIDED, SENT), APPLIED, (Stage.RECONCILED, {"nothing_to_do": "The code has it.", "merged": True})], "done done done done done"),
        ([(Stage.DECIDED, SENT), APPLIED, (Stage.RECONCILED, {"nothing_to_do": "For a time only."})], "done done done unneeded unneeded"),
        ([(Stage.DECIDED, {**SENT, "plan": {}}), (Stage.PLAN_ENDED, {"calls": {"applied": 3}})], "done done done unneeded unneeded"),
    ],
)  # fmt: skip
def test_each_history_has_its_path(history: list[tuple[Stage, dict[str, Any]]], states: str) -> None:
    path = path_of(records(*history))
    assert [mark.name for mark in path] == ["asked", "decided", "applied", "in code", "merged"]
    assert " ".join(mark.state.value for mark in path) == states


def test_the_row_says_who_why_and_the_first_objection() -> None:
    decision = {
        "verdict": "deny",
        "findings": [
            {"verdict": "allow", "rule": "quiet", "reason": "Fine."},
            {"verdict": "deny", "rule": "bounds.max", "reason": "It is over 16."},
        ],
    }
    motive = {"intent": "cost", "motivation": "budget", "text": "Too dear", "evidence": []}
    effects = [{"address": f"a.b{each}", "attribute": "c", "action": "set", "changes": True} for each in range(30)]
    body = {"caller": {"kind": "agent"}, "decision": decision, "motive": motive, "effects": effects}
    row = change_to_json(records((Stage.DECIDED, body)))
    assert row is not None
    shown = {name: row[name] for name in ("id", "actor", "kind", "intent", "motivation", "why", "verdict", "state")}
    assert shown == {
        "id": "mut_1",
        "actor": "ana",
        "kind": "agent",
        "intent": "cost",
        "motivation": "budget",
        "why": "Too dear",
        "verdict": "deny",
        "state": "denied",
    }
    assert (row["rule"], row["reason"]) == ("bounds.max", "It is over 16.")
    assert len(row["addresses"]) == 20


def test_what_was_never_decided_has_no_row() -> None:
    assert change_to_json(records((Stage.SIGNALLED, {}))) is None
