"""Mutations in doubt: which there are, how they are settled once the truth is known, and how they are left to a human."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, update

from gateway.core.errors import Malformed, NotAllowed, NotFound
from gateway.core.model.caller import Caller
from gateway.core.model.outcome import Resolution, SettledBy
from gateway.core.ports import Doubt
from gateway.core.records.settled import SettledBody
from gateway.ledger.ask.record_search import MAX_PAGE
from gateway.ledger.decide.commands import is_approver
from gateway.ledger.decide.outcome import MAX_MESSAGE, append_settled, attempt_of_mutation, settle_resolved
from gateway.ledger.store.rows import AttemptRow, DoubtRow
from gateway.ledger.store.statements import Query, Session, Statement
from gateway.ledger.store.states import AttemptState
from gateway.ledger.store.tables import ATTEMPTS, IN_DOUBT
from gateway.ledger.store.timestamps import from_text, to_text
from gateway.ledger.store.transaction import Transaction

_DOUBTS: Final = Query.of(
    ATTEMPTS, DoubtRow, ATTEMPTS.c.state == IN_DOUBT, order_by=(ATTEMPTS.c.decided_at,), limit=MAX_PAGE
)
_LEAVE: Final = Statement(
    update(ATTEMPTS)
    .where(ATTEMPTS.c.mutation_id == bindparam("mutation"), ATTEMPTS.c.state == IN_DOUBT, ATTEMPTS.c.left_at == "")
    .values(left_at=bindparam("at"))
)


def in_doubt(session: Session) -> Sequence[Doubt]:
    """The mutations in doubt, oldest first; at most `record_search.MAX_PAGE`."""
    return tuple(
        Doubt(
            mutation_id=row.mutation_id,
            stack=row.stack,
            decided_at=from_text(row.decided_at),
            left_to_human=bool(row.left_at),
        )
        for row in session.rows(_DOUBTS, {})
    )


def resolve(transaction: Transaction, mutation_id: str, resolution: Resolution, at: datetime) -> None:
    """Settle a mutation in doubt. Raises `errors.NotFound`, and `errors.NotAllowed` if it is not in doubt (any more)."""
    settle_resolved(transaction, _attempt_in_doubt(transaction, mutation_id), resolution, at)


def settle_by_hand(
    transaction: Transaction, mutation_id: str, *, approver: Caller, carried_out: bool, reason: str, at: datetime
) -> None:
    """Settle a mutation in doubt on the word of an approver. Raises as `resolve`, and `errors.Malformed` without a reason."""
    if not is_approver(approver):
        raise NotAllowed("Only a human with the role `approver` may settle a mutation in doubt.")
    if not reason.strip():
        raise Malformed(
            "Settling a mutation by hand needs a reason: how you found out what AWS did. Nothing was changed."
        )
    given = Resolution(carried_out=carried_out, by=SettledBy.HUMAN, reason=reason.strip(), actor=approver.actor)
    resolve(transaction, mutation_id, given, at)


def leave_to_human(transaction: Transaction, mutation_id: str, reason: str, at: datetime) -> bool:
    """Record once that nothing showed the outcome, so a human must settle it; whether this was the first time."""
    attempt = _attempt_in_doubt(transaction, mutation_id)
    if transaction.change(_LEAVE, {"mutation": mutation_id, "at": to_text(at)}) != 1:
        return False
    body = SettledBody(outcome=AttemptState.IN_DOUBT, reason=reason[:MAX_MESSAGE], left_to_human=True)
    append_settled(transaction, at, attempt, body)
    return True


def _attempt_in_doubt(transaction: Transaction, mutation_id: str) -> AttemptRow:
    attempt = attempt_of_mutation(transaction, mutation_id)
    if attempt is None:
        raise NotFound(f"Mutation {mutation_id} was never carried out, so there is no doubt about it.")
    if attempt.state == AttemptState.IN_FLIGHT:
        raise NotAllowed(
            f"Mutation {mutation_id} is being sent by a running gateway, so it is not in doubt. Wait for its outcome."
        )
    if attempt.state != AttemptState.IN_DOUBT:
        raise NotAllowed(f"The outcome of mutation {mutation_id} is recorded already ({attempt.state}) and stays.")
    return attempt
