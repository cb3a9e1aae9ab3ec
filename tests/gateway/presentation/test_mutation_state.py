"""How far a mutation has come follows from its records alone."""

from typing import Any

import pytest

from gateway.core.records.record import Record, Stage
from gateway.presentation.mutation_state import UNDECIDED, MutationState, mutation_state
from tests.kit.bodies import sample_record
from tests.kit.doubles import NOW

HELD = {"decision": {"verdict": "hold", "carried_out": False}}
SENT = {"decision": {"verdict": "allow", "carried_out": True}}


def records(*stages: tuple[Stage, dict[str, Any]]) -> list[Record]:
    return [sample_record(stage=stage, at=NOW, mutation_id="m", body=body) for stage, body in stages]


@pytest.mark.parametrize(
    ("history", "state"),
    [
        ([(Stage.DECIDED, {"decision": {"verdict": "deny", "carried_out": False}})], MutationState.DENIED),
        ([(Stage.DECIDED, HELD)], MutationState.HELD),
        ([(Stage.DECIDED, HELD), (Stage.APPROVED, {"missing": 1})], MutationState.HELD),
        ([(Stage.DECIDED, HELD), (Stage.APPROVED, {"missing": 0})], MutationState.APPROVED),
        ([(Stage.DECIDED, HELD), (Stage.APPROVED, {})], MutationState.APPROVED),
        ([(Stage.DECIDED, HELD), (Stage.BROKE_GLASS, {})], MutationState.APPROVED),
        ([(Stage.DECIDED, HELD), (Stage.REJECTED, {})], MutationState.REJECTED),
        ([(Stage.DECIDED, SENT)], MutationState.IN_FLIGHT),
        ([(Stage.DECIDED, SENT), (Stage.SETTLED, {"outcome": "in_doubt"})], MutationState.IN_DOUBT),
        ([(Stage.DECIDED, SENT), (Stage.SETTLED, {"outcome": "in_doubt"}), (Stage.SETTLED, {"outcome": "applied"})], MutationState.APPLIED),
        ([(Stage.DECIDED, SENT), (Stage.SETTLED, {"outcome": "failed"}), (Stage.RELEASED, {})], MutationState.FAILED),
    ],
)  # fmt: skip
def test_each_history_has_its_state(history: list[tuple[Stage, dict[str, Any]]], state: MutationState) -> None:
    assert mutation_state(records(*history)) is state


def test_only_what_may_still_change_is_waited_for() -> None:
    assert {MutationState.HELD, MutationState.IN_FLIGHT, MutationState.IN_DOUBT} == UNDECIDED
