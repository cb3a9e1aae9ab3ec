"""What a revoked key leaves behind: its unused approvals are withdrawn, and sessions of plans end that were opened with its consent."""

import json
from collections.abc import Container
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, select, update

from gateway.core.errors import NotAllowed
from gateway.core.model.approval import HoldState
from gateway.core.model.caller import Caller
from gateway.core.model.json import canonical_text
from gateway.core.records.approvals import WithdrawnBody
from gateway.core.records.record import Record
from gateway.ledger.store.rows import ApprovalKeysRow, PlanSessionRow
from gateway.ledger.store.statements import Among, Query, Session, Statement
from gateway.ledger.store.states import ApprovalState
from gateway.ledger.store.tables import APPROVALS, HOLDS, KEYS, PARTIAL, PLAN_SESSIONS, UNUSED
from gateway.ledger.store.timestamps import to_text
from gateway.ledger.store.transaction import Transaction

_REVOKED: Final = Statement(select(KEYS.c.id).where(KEYS.c.id == bindparam("key"), KEYS.c.revoked_at.is_not(None)))
_SESSION_OF: Final = Statement(select(KEYS.c.session_of).where(KEYS.c.id == bindparam("key")))
_STANDING: Final = tuple(
    # Two queries, because each of the two partial indexes serves one state.
    Query.of(APPROVALS, ApprovalKeysRow, APPROVALS.c.state == state, APPROVALS.c.until > bindparam("now"))
    for state in (UNUSED, PARTIAL)
)
_WITHDRAW: Final = Statement(
    update(APPROVALS).where(APPROVALS.c.id == bindparam("approval")).values(state=ApprovalState.WITHDRAWN.value)
)
_STACK: Final = Statement(select(HOLDS.c.stack).where(HOLDS.c.mutation_id == bindparam("mutation")))
_WAIT_AGAIN: Final = Statement(
    update(HOLDS)
    .where(HOLDS.c.mutation_id == bindparam("mutation"), HOLDS.c.state == HoldState.APPROVED.value)
    .values(state=HoldState.OPEN.value)
)
_OPEN_PLANS: Final = Query.of(PLAN_SESSIONS, PlanSessionRow, PLAN_SESSIONS.c.ended_at.is_(None))
_USED_BY: Final = Query.of(APPROVALS, ApprovalKeysRow, Among(APPROVALS.c.used_by, "mutations"))


def refuse_revoked(transaction: Transaction, caller: Caller) -> None:
    """Raise `errors.NotAllowed` if the caller's key was revoked meanwhile: a gateway may know a key for a second longer, a word lasts."""
    if transaction.scalar(_REVOKED, {"key": caller.key_id}) is not None:
        raise NotAllowed("The key was revoked, so what is said with it counts no more. Nothing was changed or sent.")


@dataclass(frozen=True, slots=True)
class _KeyAndSessions:
    """A standing key and all its sessions, ended ones too. Only keys that are asked about are looked up: nobody knows how many sessions there were."""

    session: Session
    key: str
    _known: dict[object, bool] = field(default_factory=dict)

    def __contains__(self, key: object) -> bool:
        """Whether it is the key, or one of its sessions."""
        if key not in self._known:
            self._known[key] = key == self.key or self.session.scalar(_SESSION_OF, {"key": str(key)}) == self.key
        return self._known[key]


def withdraw_approvals(transaction: Transaction, key: str, owner: str, at: datetime) -> list[str]:
    """Withdraw the approvals that nobody has used and that this key or one of its sessions consented to; their ids.

    What they approved waits for people again, and those who consented with other keys must do so again. `owner` is the actor of the key.
    """
    now = to_text(at)
    keys = _KeyAndSessions(transaction, key)
    rows = [row for query in _STANDING for row in transaction.rows(query, {"now": now})]
    given = [row for row in rows if _consented(row, keys, owner)]
    for row in sorted(given):
        transaction.change(_WITHDRAW, {"approval": row.id})
        transaction.change(_WAIT_AGAIN, {"mutation": row.mutation_id})
        stack = str(transaction.scalar(_STACK, {"mutation": row.mutation_id}) or "")
        body = WithdrawnBody(
            approval=row.id,
            requester=row.actor,
            approvers=(*json.loads(row.others), row.approver),
            key=key,
        )
        transaction.append(Record(at=at, mutation_id=row.mutation_id, actor=owner, stack=stack, body=body))
    return sorted(row.id for row in given)


def plan_keys_approved_with(session: Session, key: str, owner: str) -> list[str]:
    """The keys of the open sessions of plans that a consent of this key or its sessions opened."""
    plans = {row.mutation_id: row.key_id for row in session.rows(_OPEN_PLANS, {})}
    if not plans:
        return []
    used = session.rows(_USED_BY, {"mutations": canonical_text(sorted(plans))})
    keys = _KeyAndSessions(session, key)
    return sorted(plans[row.used_by] for row in used if _consented(row, keys, owner))


def _consented(row: ApprovalKeysRow, keys: Container[str], owner: str) -> bool:
    """Whether one of the keys consented. Where the record does not tell the key, every consent of their owner counts as theirs."""
    people = (*json.loads(row.others), row.approver)
    given = json.loads(row.keys) if row.keys is not None else ("",) * len(people)
    return any(key in keys if key else who == owner for who, key in zip(people, given, strict=True))
