"""What an outcome means for time-boxed changes: of the change itself, and of the mutation that puts it back."""

from typing import Final

from sqlalchemy import bindparam, update

from gateway.ledger.statements import Statement
from gateway.ledger.states import AttemptState
from gateway.ledger.tables import TIME_BOXES
from gateway.ledger.transaction import Transaction
from gateway.model.time_box import TimeBoxState

_FAILED: Final = Statement(
    update(TIME_BOXES)
    .where(TIME_BOXES.c.mutation_id == bindparam("mutation"), TIME_BOXES.c.state == TimeBoxState.STANDING.value)
    .values(state=TimeBoxState.FAILED.value)
)
_PUT_BACK: Final = Statement(
    update(TIME_BOXES)
    .where(
        TIME_BOXES.c.mutation_id == bindparam("boxed"),
        TIME_BOXES.c.ended_by == bindparam("mutation"),
        TIME_BOXES.c.state == TimeBoxState.PUTTING_BACK.value,
    )
    .values(state=bindparam("new_state"), ended_by=bindparam("by"))
)


def follow_outcome(transaction: Transaction, mutation_id: str, state: AttemptState, puts_back: str) -> None:
    """What a time-boxed change failed to do is over; what a mutation put back is, and what it failed to put back waits again.

    `puts_back` is the time-boxed change that the mutation puts back; empty for any other.
    """
    if state is AttemptState.FAILED:
        transaction.change(_FAILED, {"mutation": mutation_id})
    if puts_back and state in (AttemptState.APPLIED, AttemptState.FAILED):
        applied = state is AttemptState.APPLIED
        values = {
            "boxed": puts_back,
            "mutation": mutation_id,
            "new_state": (TimeBoxState.PUT_BACK if applied else TimeBoxState.STANDING).value,
            "by": mutation_id if applied else "",
        }
        transaction.change(_PUT_BACK, values)
