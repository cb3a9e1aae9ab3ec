"""Revokes a key with all that ends with it: its sessions, the unused approvals given with it, and the plans that these opened."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, or_, select, update

from gateway.core.errors import NotFound
from gateway.core.ports import Revoked
from gateway.core.records.keys import KeyRevokedBody, RecordedAssumption
from gateway.core.records.record import Record
from gateway.ledger.decide.plan_sessions import end_of_keys
from gateway.ledger.decide.revocation import plan_keys_approved_with, withdraw_approvals
from gateway.ledger.store.rows import KeyRow
from gateway.ledger.store.statements import Query, Session, Statement
from gateway.ledger.store.tables import KEYS
from gateway.ledger.store.timestamps import to_text
from gateway.ledger.store.transaction import Transaction

_ACTOR: Final = Statement(select(KEYS.c.actor).where(KEYS.c.id == bindparam("key")))
_SESSIONS: Final = Statement(
    select(KEYS.c.id)
    .where(
        KEYS.c.session_of == bindparam("key"),
        KEYS.c.revoked_at.is_(None),
        or_(KEYS.c.expires_at.is_(None), KEYS.c.expires_at > bindparam("now")),
    )
    .order_by(KEYS.c.id)
)
"""Those that are open. What has ended needs no revocation, however many there were."""
_OPEN_UNDER: Final = Query.of(
    KEYS,
    KeyRow,
    KEYS.c.session_of == bindparam("key"),
    KEYS.c.revoked_at.is_(None),
    KEYS.c.expires_at > bindparam("now"),
    KEYS.c.assumed.is_not(None),
    order_by=(KEYS.c.id,),
)
_SESSION_OF: Final = Statement(select(KEYS.c.session_of).where(KEYS.c.id == bindparam("key")))
_REVOKE: Final = Statement(
    update(KEYS).where(KEYS.c.id == bindparam("key"), KEYS.c.revoked_at.is_(None)).values(revoked_at=bindparam("at"))
)
_STANDING: Final = Statement(select(KEYS.c.id).where(KEYS.c.id == bindparam("key"), KEYS.c.revoked_at.is_(None)))


def revoke_key(transaction: Transaction, key_id: str, at: datetime, *, distrust: bool = True) -> Revoked:
    """Revoke a key and its session keys, with one KEY_REVOKED record. Revoking again changes nothing. Raises `errors.NotFound`.

    With `distrust` its consents count no more, nor those of its sessions, ended ones too: unused approvals are withdrawn, and the sessions
    of plans end that such a consent opened.
    """
    actor = transaction.scalar(_ACTOR, {"key": key_id})
    if actor is None:
        raise NotFound(f"There is no key {key_id}.")
    sessions = transaction.column(_SESSIONS, {"key": key_id, "now": to_text(at)})
    sessions += _assumed_with(transaction, key_id, at)
    withdrawn: Sequence[str] = ()
    if distrust:
        withdrawn = withdraw_approvals(transaction, key_id, actor, at)
        plans = plan_keys_approved_with(transaction, key_id, actor)
        sessions = sorted({*sessions, *(key for key in plans if transaction.column(_STANDING, {"key": key}))})
    moment = to_text(at)
    end_of_keys(transaction, (key_id, *sessions), at)
    revoked = transaction.change(_REVOKE, {"key": key_id, "at": moment})
    transaction.change_each(_REVOKE, [{"key": session, "at": moment} for session in sessions])
    if revoked or sessions or withdrawn:
        body = KeyRevokedBody(key=key_id, sessions=tuple(sessions), withdrawn=tuple(withdrawn))
        transaction.append(Record(at=at, actor=actor, body=body))
    return Revoked(sessions=tuple(sessions), approvals=tuple(withdrawn))


def _assumed_with(session: Session, key_id: str, at: datetime) -> list[str]:
    """The open keys that this session key assumed, and those that they assumed in turn. Those of a standing key are its sessions anyway."""
    root = session.scalar(_SESSION_OF, {"key": key_id})
    if not root:
        return []
    children: dict[str, list[str]] = {}
    for row in session.rows(_OPEN_UNDER, {"key": root, "now": to_text(at)}):
        children.setdefault(RecordedAssumption.read(row.assumed).parent, []).append(row.id)
    found, waiting = [], [key_id]
    while waiting:
        below = children.pop(waiting.pop(), [])
        found += below
        waiting += below
    return sorted(found)
