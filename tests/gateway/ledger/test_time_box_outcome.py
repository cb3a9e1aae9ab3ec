"""An outcome changes only the time-boxed change that it is about."""

from gateway.ledger.ledger import SqlLedger
from gateway.ledger.states import AttemptState
from gateway.ledger.time_box_outcome import follow_outcome
from gateway.model.time_box import TimeBoxState
from tests.kit.history import NOW
from tests.kit.timed import HOUR, Timed


async def test_another_mutations_outcome_changes_nothing(ledger: SqlLedger) -> None:
    timed = Timed(ledger)
    boxed = await timed.change()
    await timed.put_back(boxed, at=NOW + HOUR, outcome=None)
    for state in (AttemptState.APPLIED, AttemptState.FAILED, AttemptState.IN_DOUBT):
        await ledger.write(lambda transaction, state=state: follow_outcome(transaction, "mut_x", state, boxed.id))  # type: ignore[misc]
    assert await timed.states(boxed) == {"delay": TimeBoxState.PUTTING_BACK}
