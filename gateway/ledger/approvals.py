"""Commands of humans and of the reconciler on held mutations and claims. Each appends its record in the same transaction."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import bindparam, delete, insert, select, update

from gateway.errors import NotAllowed, NotFound
from gateway.ledger.claims import end_claims, open_claims_of, settle_claims
from gateway.ledger.lookup import approval_from_row
from gateway.ledger.outcome import attempt_of_mutation
from gateway.ledger.rows import ApprovalRow, ClaimRow, HoldRow
from gateway.ledger.serialize import canonical_text, claim_from_row, ids
from gateway.ledger.statements import Among, Query, Statement, columns
from gateway.ledger.states import ApprovalState, AttemptState
from gateway.ledger.tables import APPROVALS, CLAIMS, HOLDS, UNUSED, VALUES
from gateway.ledger.timestamps import to_text
from gateway.ledger.transaction import Transaction
from gateway.model.binding import binding_from_json, binding_to_json
from gateway.model.caller import ActorKind, Caller
from gateway.model.claim import Claim, ClaimEnd
from gateway.model.facts import Approval
from gateway.model.hold import HoldState
from gateway.model.ids import new_id
from gateway.model.json import Json
from gateway.model.record import Record, Stage

_HOLD: Final = Query(
    select(*columns(HOLDS, HoldRow)).where(HOLDS.c.mutation_id == bindparam("mutation")),
    HoldRow,
)
_UNUSED: Final = Query(
    select(*columns(APPROVALS, ApprovalRow)).where(
        APPROVALS.c.actor == bindparam("who"),
        APPROVALS.c.call_digest == bindparam("digest"),
        APPROVALS.c.state == UNUSED,
    ),
    ApprovalRow,
)
_OPEN_ALIKE: Final = Statement(
    update(HOLDS)
    .where(
        HOLDS.c.actor == bindparam("who"),
        HOLDS.c.call_digest == bindparam("digest"),
        HOLDS.c.binding == bindparam("bound_to"),
        HOLDS.c.state == HoldState.OPEN.value,
    )
    .values(state=HoldState.APPROVED.value)
)
_INSERT_APPROVAL: Final = Statement(insert(APPROVALS))
_END_APPROVAL: Final = Statement(
    update(APPROVALS).where(APPROVALS.c.id == bindparam("approval")).values(state=bindparam("new_state"))
)
_MARK_HOLDS: Final = Statement(
    update(HOLDS)
    .where(
        HOLDS.c.actor == bindparam("who"),
        HOLDS.c.call_digest == bindparam("digest"),
        Among(HOLDS.c.state, "from_states"),
    )
    .values(state=bindparam("new_state"))
)
_CLAIMS_BY_ID: Final = Query(
    select(*columns(CLAIMS, ClaimRow)).where(Among(CLAIMS.c.id, "ids")).order_by(CLAIMS.c.id),
    ClaimRow,
)
_MERGED_VALUES: Final = Statement(delete(VALUES).where(VALUES.c.mutation_id == bindparam("mutation")))


def is_approver(caller: Caller) -> bool:
    """Whether the caller is a human with the role `approver`."""
    return caller.kind is ActorKind.HUMAN and "approver" in caller.roles


def approve(
    transaction: Transaction, mutation_id: str, *, approver: Caller, at: datetime, lasts: timedelta
) -> Approval:
    """Approve a held call; the approval. One approval permits one call, so approving the call again, or another hold of
    the same call, actor and circumstances, returns the approval that is still unused. Approving a hold of the same call in other
    circumstances withdraws it.
    """
    hold = _held(transaction, mutation_id, approver)
    if lasts <= timedelta(0):
        raise NotAllowed("An approval must last for some time.")
    if hold.state == HoldState.REJECTED:
        raise NotAllowed(f"Mutation {mutation_id} was rejected for good. Ask its actor to send it again.")
    _refuse_unseen(mutation_id, hold)
    unused = transaction.row(_UNUSED, {"who": hold.actor, "digest": hold.call_digest})
    expired = unused is not None and unused.until <= to_text(at)
    if unused is not None and not expired and unused.binding == hold.binding:
        return approval_from_row(unused)
    if hold.state == HoldState.APPROVED and (unused is None or unused.binding != hold.binding):
        raise NotAllowed(
            f"The approval of mutation {mutation_id} was used, or a later one replaced it. Ask its actor to send the call again."
        )
    if unused is not None:
        ended = ApprovalState.EXPIRED if expired else ApprovalState.WITHDRAWN
        transaction.change(_END_APPROVAL, {"approval": unused.id, "new_state": ended.value})
    approval = Approval(
        id=new_id("apr"),
        mutation_id=mutation_id,
        approver=approver.actor,
        until=at + lasts,
        binding=binding_from_json(json.loads(hold.binding)),
    )
    _store_approval(transaction, approval, hold, at)
    return approval


def _store_approval(transaction: Transaction, approval: Approval, hold: HoldRow, at: datetime) -> None:
    row = {
        "id": approval.id,
        "mutation_id": approval.mutation_id,
        "actor": hold.actor,
        "call_digest": hold.call_digest,
        "approver": approval.approver,
        "at": to_text(at),
        "until": to_text(approval.until),
        "state": ApprovalState.UNUSED.value,
        "used_by": "",
        "binding": hold.binding,
    }
    transaction.change(_INSERT_APPROVAL, row)
    alike = {"who": hold.actor, "digest": hold.call_digest, "bound_to": hold.binding}
    transaction.change(_OPEN_ALIKE, alike)
    body: dict[str, Json] = {
        "approval": approval.id,
        "requester": hold.actor,
        "digest": hold.call_digest,
        "until": to_text(approval.until),
        "binding": binding_to_json(approval.binding),
    }
    transaction.append(
        Record(
            stage=Stage.APPROVED,
            at=at,
            mutation_id=approval.mutation_id,
            actor=approval.approver,
            stack=hold.stack,
            body=body,
        )
    )


def reject(transaction: Transaction, mutation_id: str, *, approver: Caller, reason: str, at: datetime) -> None:
    """Reject a held call, and withdraw its approval if that is unused."""
    hold = _held(transaction, mutation_id, approver)
    unused = transaction.row(_UNUSED, {"who": hold.actor, "digest": hold.call_digest})
    if hold.state == HoldState.REJECTED:
        raise NotAllowed(f"Mutation {mutation_id} was rejected already.")
    if hold.state == HoldState.APPROVED and unused is None:
        raise NotAllowed(f"Mutation {mutation_id} was approved and the approval is used; it can no longer be rejected.")
    if unused is not None:
        transaction.change(_END_APPROVAL, {"approval": unused.id, "new_state": ApprovalState.WITHDRAWN.value})
    _mark_holds(transaction, hold, HoldState.REJECTED, [HoldState.OPEN, HoldState.APPROVED])
    body: dict[str, Json] = {
        "reason": reason[:2_000],
        "requester": hold.actor,
        "digest": hold.call_digest,
        "withdrawn": unused.id if unused is not None else "",
    }
    transaction.append(
        Record(stage=Stage.REJECTED, at=at, mutation_id=mutation_id, actor=approver.actor, stack=hold.stack, body=body)
    )


def release(transaction: Transaction, mutation_id: str, *, caller: Caller, at: datetime) -> tuple[Claim, ...]:
    """End a mutation's claims early; the claims ended. While it is in doubt only an approver may, who has looked at the resource."""
    attempt = attempt_of_mutation(transaction, mutation_id)
    rows = open_claims_of(transaction, mutation_id)
    if attempt is None or not rows or (attempt.actor != caller.actor and not is_approver(caller)):
        raise NotFound(f"You hold no open claim of a mutation {mutation_id}.")
    if attempt.state == AttemptState.IN_FLIGHT or (attempt.state == AttemptState.IN_DOUBT and not is_approver(caller)):
        raise NotAllowed(
            f"The outcome of mutation {mutation_id} is not known yet, so its claims stay. Wait until it is read back, or ask an approver."
        )
    end_claims(transaction, rows, at, ClaimEnd.RELEASED)
    settle_claims(transaction, mutation_id)
    body: dict[str, Json] = {"claims": ids(rows), "holder": attempt.actor}
    resources = [(row.address, row.attribute) for row in rows]
    transaction.append(
        Record(
            stage=Stage.RELEASED, at=at, mutation_id=mutation_id, actor=caller.actor, stack=attempt.stack, body=body
        ),
        resources=resources,
    )
    return tuple(claim_from_row(row) for row in transaction.rows(_CLAIMS_BY_ID, {"ids": canonical_text(ids(rows))}))


def record_reconciliation(
    transaction: Transaction, mutation_id: str, *, at: datetime, body: Mapping[str, Json]
) -> None:
    """Record what the reconciler did about a mutation. If `body["merged"]` is true, the code now declares its values, so its
    claims and applied values end.
    """
    attempt = attempt_of_mutation(transaction, mutation_id)
    if attempt is None:
        raise NotFound(f"Mutation {mutation_id} was never carried out, so there is nothing to write back.")
    rows: Sequence[ClaimRow] = ()
    if body.get("merged") is True and attempt.state == AttemptState.APPLIED:
        rows = open_claims_of(transaction, mutation_id)
        end_claims(transaction, rows, at, ClaimEnd.MERGED)
        transaction.change(_MERGED_VALUES, {"mutation": mutation_id})
    full = {**body, "claims_ended": ids(rows)}
    transaction.append(
        Record(
            stage=Stage.RECONCILED, at=at, mutation_id=mutation_id, actor=attempt.actor, stack=attempt.stack, body=full
        )
    )


def _refuse_unseen(mutation_id: str, hold: HoldRow) -> None:
    """Raise `errors.NotAllowed` for a hold whose approver cannot have seen what it would permit."""
    if not hold.binding or json.loads(hold.binding) is None:
        raise NotAllowed(
            f"Mutation {mutation_id} was held by an older version of Sentinel, which did not keep what an approval is bound to. "
            "Ask its actor to send the call again, and approve the new hold."
        )
    summary = json.loads(hold.summary)
    if summary["call"].get("whole") is not True or "cut" in summary:
        raise NotAllowed(
            f"Mutation {mutation_id} is too large to be kept, or it runs a text that holds a secret, so nobody can see all of what would be "
            "approved. Ask its actor to send smaller calls, and to name the secret (Secrets Manager, Parameter Store) instead of sending it; "
            "or reject it."
        )


def _held(transaction: Transaction, mutation_id: str, approver: Caller) -> HoldRow:
    """The hold. Raises `errors.NotAllowed` for a caller who may not decide on it, `errors.NotFound` if there is no such hold."""
    if not is_approver(approver):
        raise NotAllowed("Only a human with the role `approver` may decide on held mutations.")
    hold = transaction.row(_HOLD, {"mutation": mutation_id})
    if hold is None:
        raise NotFound(f"No mutation {mutation_id} is held.")
    requesters = {hold.actor, hold.on_behalf_of} - {""}
    if requesters & {approver.actor, approver.on_behalf_of}:
        raise NotAllowed(
            f"Mutation {mutation_id} is your own, or made on your behalf; another human must decide on it."
        )
    return hold


def _mark_holds(transaction: Transaction, hold: HoldRow, state: HoldState, from_states: Sequence[HoldState]) -> None:
    """Set the state of all holds of the same actor and call that are in one of `from_states`."""
    values = {
        "who": hold.actor,
        "digest": hold.call_digest,
        "from_states": canonical_text(from_states),
        "new_state": state.value,
    }
    transaction.change(_MARK_HOLDS, values)
