"""What people consent to: approvals of held calls, by one person or several, and the breaking of the glass."""

import json
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import bindparam, insert, update

from gateway.core.errors import NotAllowed, NotFound
from gateway.core.model.approval import (
    ApprovalRule,
    HoldState,
    approval_rule_from_json,
    binding_from_json,
    glass_objection,
    objection,
    own_objection,
)
from gateway.core.model.caller import Caller
from gateway.core.model.facts import Approval
from gateway.core.model.ids import new_id
from gateway.core.model.json import canonical_text
from gateway.core.model.stop import Reach
from gateway.core.records.approvals import ApprovedBody, BrokeGlassBody
from gateway.core.records.record import Record
from gateway.ledger.decide.ledger_view import approval_from_row
from gateway.ledger.decide.revocation import refuse_revoked
from gateway.ledger.decide.stops import refuse_stopped
from gateway.ledger.store.rows import ApprovalRow, HoldRow
from gateway.ledger.store.statements import Query, Statement
from gateway.ledger.store.states import ApprovalState
from gateway.ledger.store.tables import APPROVALS, HOLDS, PARTIAL, UNUSED
from gateway.ledger.store.timestamps import from_text, to_text
from gateway.ledger.store.transaction import Transaction

_GLASS_LASTS: Final = timedelta(hours=1)
"""How long what passed by breaking the glass waits for the call."""

_HOLD: Final = Query.of(HOLDS, HoldRow, HOLDS.c.mutation_id == bindparam("mutation"))
_ALIKE: Final = (APPROVALS.c.actor == bindparam("who"), APPROVALS.c.call_digest == bindparam("digest"))
_STANDING: Final = tuple(
    # Two queries, because each of the two partial indexes serves one state.
    Query.of(APPROVALS, ApprovalRow, *_ALIKE, APPROVALS.c.state == state)
    for state in (UNUSED, PARTIAL)
)
_INSERT: Final = Statement(insert(APPROVALS))
_END: Final = Statement(
    update(APPROVALS).where(APPROVALS.c.id == bindparam("approval")).values(state=bindparam("new_state"))
)
_ADD: Final = Statement(
    update(APPROVALS)
    .where(APPROVALS.c.id == bindparam("approval"))
    .values(
        approver=bindparam("who"),
        others=bindparam("before"),
        keys=bindparam("given_with"),
        at=bindparam("given_at"),
        until=bindparam("ends"),
        state=bindparam("new_state"),
    )
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


def approve(
    transaction: Transaction,
    mutation_id: str,
    *,
    approver: Caller,
    at: datetime,
    lasts: timedelta,
    reason: str = "",
    door: str = "",
) -> Approval:
    """Approve a held call; the approval, which permits one call once enough people have consented.

    Approving the call again, or another hold of the same call, actor and circumstances, returns the approval that stands. Approving a
    hold of the same call in other circumstances withdraws it.
    """
    hold = held(transaction, mutation_id, approver)
    rule = rule_of(hold)
    if lasts <= timedelta(0):
        raise NotAllowed("An approval must last for some time.")
    if hold.state == HoldState.REJECTED:
        raise NotAllowed(f"Mutation {mutation_id} was rejected for good. Ask its actor to send it again.")
    _refuse_unseen(mutation_id, hold)
    refuse_stopped_hold(transaction, hold, approver)
    if rule.people > 1 and approver.on_behalf_of:
        raise NotAllowed(
            f"{rule.reason} Each must do so in their own name, and this key acts for {approver.on_behalf_of}."
        )
    standing = standing_approval(transaction, hold)
    if hold.state == HoldState.APPROVED and (standing is None or standing.binding != hold.binding):
        raise NotAllowed(
            f"The approval of mutation {mutation_id} was used, or a later one replaced it. Ask its actor to send the call again."
        )
    if standing is not None and not _still_fits(standing, hold, at):
        end_standing(transaction, standing, at)
        standing = None
    if standing is not None and (standing.state == ApprovalState.UNUSED or approver.actor in _given(standing)):
        missing = rule.people - len(_given(standing)) if standing.state == ApprovalState.PARTIAL else 0
        return replace(approval_from_row(standing), missing=missing)
    approval = _with_consent(standing, hold, mutation_id, approver, rule, until=at + min(lasts, rule.longest))
    keys = (*(_keys(standing) if standing is not None else ()), approver.key_id)
    _store(transaction, approval, hold, at, keys=keys, added=standing is not None)
    consent = _consent(approval, hold, keys=keys, reason=reason, door=door)
    body = ApprovedBody(**consent, others=approval.others, missing=approval.missing)
    record = Record(at=at, mutation_id=mutation_id, actor=approval.approver, stack=hold.stack, body=body)
    transaction.append(record)
    return approval


def break_glass(
    transaction: Transaction, mutation_id: str, *, human: Caller, reason: str, at: datetime, door: str = ""
) -> Approval:
    """Pass a held call at once, without those who may approve it and even if it is the human's own; the approval.

    Raises `errors.NotAllowed` unless a human with the role `break-glass` asks, `errors.NotFound` if nothing is held so.
    """
    if refused := glass_objection(human):
        raise NotAllowed(refused)
    refuse_revoked(transaction, human)
    hold = transaction.row(_HOLD, {"mutation": mutation_id})
    if hold is None:
        raise NotFound(f"No mutation {mutation_id} is held.")
    if hold.state != HoldState.OPEN:
        raise NotAllowed(
            f"Mutation {mutation_id} is not held any more: it was {hold.state}. Ask its actor to send the call again."
        )
    _refuse_unseen(mutation_id, hold)
    refuse_stopped_hold(transaction, hold, human)
    standing = standing_approval(transaction, hold)
    if standing is not None:
        end_standing(transaction, standing, at)
    approval = Approval(
        id=new_id("apr"),
        mutation_id=mutation_id,
        approver=human.actor,
        until=at + _GLASS_LASTS,
        binding=binding_from_json(json.loads(hold.binding)),
        broke_glass=True,
    )
    keys = (human.key_id,)
    _store(transaction, approval, hold, at, keys=keys, added=False)
    body = BrokeGlassBody(**_consent(approval, hold, keys=keys, reason=reason, door=door))
    record = Record(at=at, mutation_id=mutation_id, actor=approval.approver, stack=hold.stack, body=body)
    transaction.append(record)
    return approval


def held(transaction: Transaction, mutation_id: str, approver: Caller) -> HoldRow:
    """The hold. Raises `errors.NotAllowed` for a caller who may not decide on it, `errors.NotFound` if there is no such hold."""
    refuse_revoked(transaction, approver)
    hold = transaction.row(_HOLD, {"mutation": mutation_id})
    if refused := objection(approver, rule_of(hold) if hold else ApprovalRule()):
        raise NotAllowed(refused)
    if hold is None:
        raise NotFound(f"No mutation {mutation_id} is held.")
    if refused := own_objection(approver, mutation_id, (hold.actor, hold.on_behalf_of)):
        raise NotAllowed(refused)
    return hold


def refuse_stopped_hold(transaction: Transaction, hold: HoldRow, person: Caller) -> None:
    """Raise `errors.Stopped` if a stop is about the held call, or about the person who would let it pass."""
    summary = json.loads(hold.summary)
    reach = Reach(
        actors=frozenset({hold.actor, hold.on_behalf_of, person.actor, person.on_behalf_of} - {""}),
        service=summary["call"]["service"],
        stacks=frozenset({hold.stack} - {""}),
        any_stack=not summary["effects"],
    )
    refuse_stopped(transaction, reach, consequence="Nothing was approved; once it is resumed, approve it then.")


def rule_of(hold: HoldRow) -> ApprovalRule:
    """Who may approve the hold, as the policies said when it was held."""
    return approval_rule_from_json(json.loads(hold.summary)["decision"].get("needs"))


def standing_approval(transaction: Transaction, hold: HoldRow) -> ApprovalRow | None:
    """The approval of the held call that is unused, or that waits for more people; there is one at most."""
    for query in _STANDING:
        if (row := transaction.row(query, {"who": hold.actor, "digest": hold.call_digest})) is not None:
            return row
    return None


def end_standing(transaction: Transaction, standing: ApprovalRow, at: datetime) -> None:
    """End an approval that nobody used: expired, or else withdrawn."""
    ended = ApprovalState.EXPIRED if standing.until <= to_text(at) else ApprovalState.WITHDRAWN
    transaction.change(_END, {"approval": standing.id, "new_state": ended.value})


def withdraw(transaction: Transaction, standing: ApprovalRow) -> None:
    """Withdraw an approval that nobody used."""
    transaction.change(_END, {"approval": standing.id, "new_state": ApprovalState.WITHDRAWN.value})


def _still_fits(standing: ApprovalRow, hold: HoldRow, at: datetime) -> bool:
    return standing.until > to_text(at) and standing.binding == hold.binding


def _given(standing: ApprovalRow) -> tuple[str, ...]:
    """Who has consented so far, in that order."""
    return (*json.loads(standing.others), standing.approver)


def _keys(standing: ApprovalRow) -> tuple[str, ...]:
    """The keys with which they did; empty texts where that was not recorded."""
    return tuple(json.loads(standing.keys)) if standing.keys is not None else ("",) * len(_given(standing))


def _with_consent(
    standing: ApprovalRow | None,
    hold: HoldRow,
    mutation_id: str,
    approver: Caller,
    rule: ApprovalRule,
    *,
    until: datetime,
) -> Approval:
    """The approval with one person's consent more. It ends when the first of the consents does."""
    others = _given(standing) if standing is not None else ()
    return Approval(
        id=standing.id if standing is not None else new_id("apr"),
        mutation_id=standing.mutation_id if standing is not None else mutation_id,
        approver=approver.actor,
        until=min(until, from_text(standing.until)) if standing is not None else until,
        binding=binding_from_json(json.loads(hold.binding)),
        others=others,
        missing=max(0, rule.people - len(others) - 1),
    )


def _store(
    transaction: Transaction,
    approval: Approval,
    hold: HoldRow,
    at: datetime,
    *,
    keys: tuple[str, ...],
    added: bool,
) -> None:
    """Store the approval; once nobody's consent is missing, all holds of the call in these circumstances are approved."""
    state = ApprovalState.PARTIAL if approval.missing else ApprovalState.UNUSED
    others = canonical_text(list(approval.others))
    if added:
        values = {"approval": approval.id, "who": approval.approver, "before": others, "given_at": to_text(at)}
        given = {"given_with": canonical_text(keys), "ends": to_text(approval.until), "new_state": state.value}
        transaction.change(_ADD, {**values, **given})
    else:
        row = {
            "id": approval.id,
            "mutation_id": approval.mutation_id,
            "actor": hold.actor,
            "call_digest": hold.call_digest,
            "approver": approval.approver,
            "at": to_text(at),
            "until": to_text(approval.until),
            "state": state.value,
            "used_by": "",
            "binding": hold.binding,
            "others": others,
            "broke_glass": int(approval.broke_glass),
            "keys": canonical_text(keys),
        }
        transaction.change(_INSERT, row)
    if not approval.missing:
        alike = {"who": hold.actor, "digest": hold.call_digest, "bound_to": hold.binding}
        transaction.change(_OPEN_ALIKE, alike)


def _consent(approval: Approval, hold: HoldRow, *, keys: tuple[str, ...], reason: str, door: str) -> dict[str, Any]:
    """What the record of a consent says: what the approval's row holds, why, and through which door."""
    return {
        "approval": approval.id,
        "requester": hold.actor,
        "digest": hold.call_digest,
        "until": to_text(approval.until),
        "binding": approval.binding,
        "reason": reason[:2_000],
        "door": str(door),
        "keys": keys,
    }


def _refuse_unseen(mutation_id: str, hold: HoldRow) -> None:
    """Raise `errors.NotAllowed` for a hold whose approver cannot have seen what it would permit."""
    if json.loads(hold.binding) is None:
        raise NotAllowed(
            f"The hold of mutation {mutation_id} does not say what an approval of it is bound to. Ask its actor to send the call again, "
            "and approve the new hold."
        )
    summary = json.loads(hold.summary)
    if summary["call"].get("whole") is not True or "cut" in summary:
        raise NotAllowed(
            f"Mutation {mutation_id} is too large to be kept, or it runs a text that holds a secret, so nobody can see all of what would be "
            "approved. Ask its actor to send smaller calls, and to name the secret (Secrets Manager, Parameter Store) instead of sending it; "
            "or reject it."
        )
