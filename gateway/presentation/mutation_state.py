"""Says how far a mutation has come, from its records alone."""

from collections.abc import Sequence
from enum import StrEnum

from gateway.core.model.verdict import Verdict
from gateway.core.records.approvals import ConsentBody, RejectedBody, WithdrawnBody
from gateway.core.records.decided import DecidedBody, RecordedDecision
from gateway.core.records.plans import PlanEndedBody
from gateway.core.records.record import Record
from gateway.core.records.settled import SettledBody


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
    APPLYING = "applying"
    """A plan whose session is open; nothing is sent for it itself."""
    ENDED = "ended"
    """A plan whose session has ended."""


UNDECIDED = frozenset({MutationState.HELD, MutationState.IN_FLIGHT, MutationState.IN_DOUBT})
"""The states that end by themselves or by the word of a human. A request that waits for a mutation waits while it is in one."""


def mutation_state(records: Sequence[Record]) -> MutationState:
    """The state of a mutation that was decided, from its records, oldest first."""
    state = MutationState.DENIED
    for record in records:
        match record.body:
            case DecidedBody() as body:
                state = _decided(body.decision) if body.plan is None else MutationState.APPLYING
            case PlanEndedBody():
                state = MutationState.ENDED
            case ConsentBody() as body if not body.missing:
                state = MutationState.APPROVED
            case WithdrawnBody():
                state = MutationState.HELD
            case RejectedBody():
                state = MutationState.REJECTED
            case SettledBody() as body:
                state = MutationState(body.outcome)
    return state


def _decided(decision: RecordedDecision) -> MutationState:
    if decision.carried_out:
        return MutationState.IN_FLIGHT
    return MutationState.HELD if decision.verdict is Verdict.HOLD else MutationState.DENIED
