"""Says how far a mutation has come, from its records alone."""

from collections.abc import Sequence
from enum import StrEnum

from gateway.core.model.verdict import Verdict
from gateway.core.records.record import Record, Stage


class MutationState(StrEnum):
    """How far a mutation has come."""

    DENIED = "denied"
    HELD = "held"
    """The mutation waits for a human."""
    APPROVED = "approved"
    """A human approved it; the identical call now passes once."""
    REJECTED = "rejected"
    IN_FLIGHT = "in_flight"
    APPLIED = "applied"
    FAILED = "failed"
    IN_DOUBT = "in_doubt"


UNDECIDED = frozenset({MutationState.HELD, MutationState.IN_FLIGHT, MutationState.IN_DOUBT})
"""The states that end by themselves or by the word of a human. A request that waits for a mutation waits while it is in one."""
_OUTCOMES = {"applied": MutationState.APPLIED, "failed": MutationState.FAILED, "in_doubt": MutationState.IN_DOUBT}


def mutation_state(records: Sequence[Record]) -> MutationState:
    """The state of a mutation that was decided, from its records, oldest first."""
    state = MutationState.DENIED
    for record in records:
        match record.stage:
            case Stage.DECIDED:
                state = _decided(record)
            case Stage.APPROVED if not record.body.get("missing"):
                state = MutationState.APPROVED
            case Stage.BROKE_GLASS:
                state = MutationState.APPROVED
            case Stage.REJECTED:
                state = MutationState.REJECTED
            case Stage.SETTLED:
                state = _OUTCOMES.get(str(record.body.get("outcome")), state)
    return state


def _decided(record: Record) -> MutationState:
    decision = record.body.get("decision")
    members = decision if isinstance(decision, dict) else {}
    if members.get("carried_out"):
        return MutationState.IN_FLIGHT
    return MutationState.HELD if members.get("verdict") == Verdict.HOLD else MutationState.DENIED
