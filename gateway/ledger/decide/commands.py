"""Commands of people and of the reconciler on held mutations, on claims, and on mutations in doubt. Each appends its record in the same transaction."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from msgspec import structs
from sqlalchemy import bindparam, delete, update

from gateway.core.errors import Malformed, NotAllowed, NotFound
from gateway.core.failpoints import Point, failpoint
from gateway.core.model.approval import HoldState, is_approver
from gateway.core.model.caller import Caller
from gateway.core.model.claim import Claim, ClaimEnd
from gateway.core.model.json import canonical_text
from gateway.core.model.outcome import Resolution, SettledBy
from gateway.core.ports import Doubt
from gateway.core.records.approvals import RejectedBody
from gateway.core.records.claims import ReleasedBody
from gateway.core.records.record import Record
from gateway.core.records.settled import SettledBody
from gateway.core.records.write_backs import ReconciledBody
from gateway.ledger.ask.record_search import MAX_PAGE
from gateway.ledger.decide.approvals import held, standing_approval, withdraw
from gateway.ledger.decide.claims import end_claims, open_claims_of, settle_claims
from gateway.ledger.decide.plan_sessions import session_of_plan
from gateway.ledger.decide.revocation import refuse_revoked
from gateway.ledger.decide.settlement import MAX_MESSAGE, append_settled, attempt_of_mutation, settle_resolved
from gateway.ledger.store.rows import AttemptRow, ClaimRow, DoubtRow, HoldRow
from gateway.ledger.store.serialize import claim_from_row, ids
from gateway.ledger.store.statements import Among, Query, Session, Statement
from gateway.ledger.store.states import AttemptState
from gateway.ledger.store.tables import ATTEMPTS, CLAIMS, HOLDS, IN_DOUBT, VALUES
from gateway.ledger.store.timestamps import from_text, to_text
from gateway.ledger.store.transaction import Transaction

_MARK_HOLDS: Final = Statement(
    update(HOLDS)
    .where(
        HOLDS.c.actor == bindparam("who"),
        HOLDS.c.call_digest == bindparam("digest"),
        Among(HOLDS.c.state, "from_states"),
    )
    .values(state=bindparam("new_state"))
)
_CLAIMS_BY_ID: Final = Query.of(CLAIMS, ClaimRow, Among(CLAIMS.c.id, "ids"), order_by=(CLAIMS.c.id,))
_MERGED_VALUES: Final = Statement(delete(VALUES).where(VALUES.c.mutation_id == bindparam("mutation")))


def reject(
    transaction: Transaction, mutation_id: str, *, approver: Caller, reason: str, at: datetime, door: str = ""
) -> None:
    """Reject a held call, and withdraw its approval if that is unused."""
    hold = held(transaction, mutation_id, approver)
    unused = standing_approval(transaction, hold)
    if hold.state == HoldState.REJECTED:
        raise NotAllowed(f"Mutation {mutation_id} was rejected already.")
    if hold.state == HoldState.APPROVED and unused is None:
        raise NotAllowed(f"Mutation {mutation_id} was approved and the approval is used; it can no longer be rejected.")
    if unused is not None:
        withdraw(transaction, unused)
    _mark_holds(transaction, hold, HoldState.REJECTED, [HoldState.OPEN, HoldState.APPROVED])
    body = RejectedBody(
        reason=reason[:2_000],
        requester=hold.actor,
        digest=hold.call_digest,
        withdrawn=unused.id if unused is not None else "",
        door=str(door),
    )
    transaction.append(Record(at=at, mutation_id=mutation_id, actor=approver.actor, stack=hold.stack, body=body))


def release(transaction: Transaction, mutation_id: str, *, caller: Caller, at: datetime) -> tuple[Claim, ...]:
    """End a mutation's claims early; the claims ended. While it is in doubt only an approver may, who has looked at the resource."""
    refuse_revoked(transaction, caller)
    attempt = attempt_of_mutation(transaction, mutation_id)
    taken = attempt or session_of_plan(transaction, mutation_id)
    rows = open_claims_of(transaction, mutation_id)
    if taken is None or not rows or (taken.actor != caller.actor and not is_approver(caller)):
        raise NotFound(f"You hold no open claim of a mutation {mutation_id}.")
    state = attempt.state if attempt is not None else AttemptState.APPLIED
    if state == AttemptState.IN_FLIGHT or (state == AttemptState.IN_DOUBT and not is_approver(caller)):
        raise NotAllowed(
            f"The outcome of mutation {mutation_id} is not known yet, so its claims stay. Wait until it is read back, or ask an approver."
        )
    end_claims(transaction, rows, at, ClaimEnd.RELEASED)
    settle_claims(transaction, mutation_id)
    body = ReleasedBody(claims=tuple(ids(rows)), holder=taken.actor)
    resources = [(row.address, row.attribute) for row in rows]
    transaction.append(
        Record(at=at, mutation_id=mutation_id, actor=caller.actor, stack=taken.stack, body=body),
        resources=resources,
    )
    return tuple(claim_from_row(row) for row in transaction.rows(_CLAIMS_BY_ID, {"ids": canonical_text(ids(rows))}))


def record_reconciliation(
    transaction: Transaction, mutation_id: str, *, at: datetime, body: ReconciledBody, stack: str = ""
) -> None:
    """Record what the reconciler did about a mutation. If it is merged, the code now declares its values, so its claims and applied
    values end. The record is of the mutation's stack, or of `stack` where nobody knows which one that is.
    """
    attempt = attempt_of_mutation(transaction, mutation_id)
    if attempt is None:
        raise NotFound(f"Mutation {mutation_id} was never carried out, so there is nothing to write back.")
    rows: Sequence[ClaimRow] = ()
    if body.merged and attempt.state == AttemptState.APPLIED:
        rows = open_claims_of(transaction, mutation_id)
        end_claims(transaction, rows, at, ClaimEnd.MERGED)
        transaction.change(_MERGED_VALUES, {"mutation": mutation_id})
    full = structs.replace(body, claims_ended=tuple(ids(rows)))
    whose = attempt.stack or stack
    transaction.append(Record(at=at, mutation_id=mutation_id, actor=attempt.actor, stack=whose, body=full))


def _mark_holds(transaction: Transaction, hold: HoldRow, state: HoldState, from_states: Sequence[HoldState]) -> None:
    """Set the state of all holds of the same actor and call that are in one of `from_states`."""
    values = {
        "who": hold.actor,
        "digest": hold.call_digest,
        "from_states": canonical_text(from_states),
        "new_state": state.value,
    }
    transaction.change(_MARK_HOLDS, values)


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
    failpoint(Point.RESOLUTION_WRITTEN)


def settle_by_hand(
    transaction: Transaction, mutation_id: str, *, approver: Caller, carried_out: bool, reason: str, at: datetime
) -> None:
    """Settle a mutation in doubt on the word of an approver. Raises as `resolve`, and `errors.Malformed` without a reason."""
    if not is_approver(approver):
        raise NotAllowed("Only a human with the role `approver` may settle a mutation in doubt.")
    refuse_revoked(transaction, approver)
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
