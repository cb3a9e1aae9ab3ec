"""What humans and the reconciler do to held mutations and claims; each act is a record in the same transaction."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import bindparam, delete, insert, select, update

from gateway.errors import NotAllowed, NotFound
from gateway.ledger.claims import end_claims, open_claims_of
from gateway.ledger.lookup import approval_of
from gateway.ledger.serialize import claim_of, ids, text_of
from gateway.ledger.statements import Among, Statement
from gateway.ledger.tables import APPROVALS, ATTEMPTS, CLAIMS, HOLDS, UNUSED, VALUES
from gateway.ledger.timestamps import to_text
from gateway.ledger.transaction import Transaction
from gateway.model.caller import ActorKind, Caller
from gateway.model.claim import Claim, ClaimEnd
from gateway.model.facts import Approval
from gateway.model.ids import new_id
from gateway.model.json import Json
from gateway.model.record import Record, Stage

_HOLD: Final = Statement(select(HOLDS).where(HOLDS.c.mutation_id == bindparam("mutation")))
_UNUSED: Final = Statement(
    select(APPROVALS).where(
        APPROVALS.c.actor == bindparam("who"),
        APPROVALS.c.call_digest == bindparam("digest"),
        APPROVALS.c.state == UNUSED,
    )
)
_INSERT_APPROVAL: Final = Statement(insert(APPROVALS))
_END_APPROVAL: Final = Statement(
    update(APPROVALS).where(APPROVALS.c.id == bindparam("approval")).values(state=bindparam("how"))
)
_MARK_HOLDS: Final = Statement(
    update(HOLDS)
    .where(
        HOLDS.c.actor == bindparam("who"),
        HOLDS.c.call_digest == bindparam("digest"),
        Among(HOLDS.c.state, "from_states"),
    )
    .values(state=bindparam("how"))
)
_ATTEMPT: Final = Statement(
    select(ATTEMPTS.c.actor, ATTEMPTS.c.stack, ATTEMPTS.c.state, ATTEMPTS.c.seq).where(
        ATTEMPTS.c.mutation_id == bindparam("mutation")
    )
)
_NAMED: Final = Statement(select(CLAIMS).where(Among(CLAIMS.c.id, "ids")).order_by(CLAIMS.c.id))
_SETTLE: Final = Statement(update(CLAIMS).where(CLAIMS.c.mutation_id == bindparam("mutation")).values(unsettled=0))
_MERGED_VALUES: Final = Statement(delete(VALUES).where(VALUES.c.mutation_id == bindparam("mutation")))


def is_approver(caller: Caller) -> bool:
    """Whether the caller is a human with the role `approver`."""
    return caller.kind is ActorKind.HUMAN and "approver" in caller.roles


def approve(
    transaction: Transaction, mutation_id: str, *, approver: Caller, at: datetime, lasts: timedelta
) -> Approval:
    """Consent to a held call. Approving it, or another hold of the same call by the same actor, again while the consent
    is unused gives the same approval: one consent carries one call.
    """
    hold = _held(transaction, mutation_id, approver)
    if lasts <= timedelta(0):
        raise NotAllowed("An approval must last longer than no time at all.")
    if hold.state == "rejected":
        raise NotAllowed(f"Mutation {mutation_id} was rejected for good. Ask its actor to send it again.")
    unused = transaction.row(_UNUSED, {"who": hold.actor, "digest": hold.call_digest})
    if unused is not None and unused.until > to_text(at):
        return approval_of(unused)
    if unused is not None:
        transaction.change(_END_APPROVAL, {"approval": unused.id, "how": "ended"})
    elif hold.state == "approved":
        raise NotAllowed(f"The approval of mutation {mutation_id} was used. Ask its actor to send the call again.")
    approval = Approval(id=new_id("apr"), mutation_id=mutation_id, approver=approver.actor, until=at + lasts)
    _store_approval(transaction, approval, hold, at)
    return approval


def _store_approval(transaction: Transaction, approval: Approval, hold: Any, at: datetime) -> None:
    row = {
        "id": approval.id,
        "mutation_id": approval.mutation_id,
        "actor": hold.actor,
        "call_digest": hold.call_digest,
        "approver": approval.approver,
        "at": to_text(at),
        "until": to_text(approval.until),
        "state": "open",
        "used_by": "",
    }
    transaction.change(_INSERT_APPROVAL, row)
    _mark(transaction, hold, "approved", ["open"])
    body: dict[str, Json] = {
        "approval": approval.id,
        "requester": hold.actor,
        "digest": hold.call_digest,
        "until": to_text(approval.until),
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
    """Refuse a held call, and withdraw the consent to it where it is not used yet."""
    hold = _held(transaction, mutation_id, approver)
    unused = transaction.row(_UNUSED, {"who": hold.actor, "digest": hold.call_digest})
    if hold.state == "rejected":
        raise NotAllowed(f"Mutation {mutation_id} was rejected already.")
    if hold.state == "approved" and unused is None:
        raise NotAllowed(f"Mutation {mutation_id} was approved and the approval is used; it can no longer be rejected.")
    if unused is not None:
        transaction.change(_END_APPROVAL, {"approval": unused.id, "how": "withdrawn"})
    _mark(transaction, hold, "rejected", ["open", "approved"])
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
    """End a mutation's claims before their time. While it is in doubt only an approver may, who has looked at the thing."""
    attempt = transaction.row(_ATTEMPT, {"mutation": mutation_id})
    rows = open_claims_of(transaction, mutation_id)
    if attempt is None or not rows or (attempt.actor != caller.actor and not is_approver(caller)):
        raise NotFound(f"You hold no open claim of a mutation {mutation_id}.")
    if attempt.state == "in_flight" or (attempt.state == "in_doubt" and not is_approver(caller)):
        raise NotAllowed(
            f"What came of mutation {mutation_id} is not known yet, so its claims stay. Wait until it is read back, or ask an approver."
        )
    end_claims(transaction, rows, at, ClaimEnd.RELEASED)
    transaction.change(_SETTLE, {"mutation": mutation_id})
    body: dict[str, Json] = {"claims": ids(rows), "holder": attempt.actor}
    resources = [(row.address, row.attribute) for row in rows]
    transaction.append(
        Record(
            stage=Stage.RELEASED, at=at, mutation_id=mutation_id, actor=caller.actor, stack=attempt.stack, body=body
        ),
        resources=resources,
    )
    return tuple(claim_of(row) for row in transaction.rows(_NAMED, {"ids": text_of(ids(rows))}))


def record_reconciliation(
    transaction: Transaction, mutation_id: str, *, at: datetime, body: Mapping[str, Json]
) -> None:
    """Record what became of the change in code. `body["merged"]` true: the code declares it now, so the mutation's claims
    and the values kept for it end.
    """
    attempt = transaction.row(_ATTEMPT, {"mutation": mutation_id})
    if attempt is None:
        raise NotFound(f"Mutation {mutation_id} was never carried out, so there is nothing to write back.")
    rows: Sequence[Any] = ()
    if body.get("merged") is True and attempt.state == "applied":
        rows = open_claims_of(transaction, mutation_id)
        end_claims(transaction, rows, at, ClaimEnd.MERGED)
        transaction.change(_MERGED_VALUES, {"mutation": mutation_id})
    full = {**body, "claims_ended": ids(rows)}
    transaction.append(
        Record(
            stage=Stage.RECONCILED, at=at, mutation_id=mutation_id, actor=attempt.actor, stack=attempt.stack, body=full
        )
    )


def _held(transaction: Transaction, mutation_id: str, approver: Caller) -> Any:
    """The hold. Raises `errors.NotAllowed` for a caller who may not judge it, `errors.NotFound` where nothing is held."""
    if not is_approver(approver):
        raise NotAllowed("Only a human with the role `approver` may judge held mutations.")
    hold = transaction.row(_HOLD, {"mutation": mutation_id})
    if hold is None:
        raise NotFound(f"No mutation {mutation_id} is held.")
    requesters = {hold.actor, hold.on_behalf_of} - {""}
    if requesters & {approver.actor, approver.on_behalf_of}:
        raise NotAllowed(f"Mutation {mutation_id} is your own, or made on your behalf; another human must judge it.")
    return hold


def _mark(transaction: Transaction, hold: Any, how: str, from_states: Sequence[str]) -> None:
    values = {"who": hold.actor, "digest": hold.call_digest, "from_states": text_of(from_states), "how": how}
    transaction.change(_MARK_HOLDS, values)
