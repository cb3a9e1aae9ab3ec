"""The keys of one actor that have not ended, with the newest of the sessions that were opened with each."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import bindparam, func, or_, select

from gateway.core.ports import ActorKey, ActorSession
from gateway.ledger.store.rows import StoredKeyRow
from gateway.ledger.store.statements import Query, Session, Statement, columns, unindexed
from gateway.ledger.store.tables import KEYS
from gateway.ledger.store.timestamps import from_text, to_text

MOST_KEYS: Final = 50
"""Keys in one answer, the newest."""
MOST_SESSIONS: Final = 10
"""Sessions of each key in one answer, those that end last."""

_UNENDED: Final = (
    KEYS.c.revoked_at.is_(None),
    or_(KEYS.c.expires_at.is_(None), KEYS.c.expires_at > bindparam("now")),
)
_STANDING: Final = Query(
    select(*columns(KEYS, StoredKeyRow))
    .where(KEYS.c.session_of == "", unindexed(KEYS.c.actor) == bindparam("actor"), *_UNENDED)
    .order_by(KEYS.c.created_at.desc(), KEYS.c.id)
    .limit(MOST_KEYS),
    StoredKeyRow,
)
_OPEN_SESSIONS: Final = (
    KEYS.c.session_of == bindparam("of"),
    KEYS.c.expires_at > bindparam("now"),
    unindexed(KEYS.c.actor) == bindparam("actor"),
    KEYS.c.revoked_at.is_(None),
)
_SESSIONS: Final = Query(
    select(*columns(KEYS, StoredKeyRow))
    .where(*_OPEN_SESSIONS)
    .order_by(KEYS.c.expires_at.desc(), KEYS.c.id)
    .limit(MOST_SESSIONS),
    StoredKeyRow,
)
_COUNT: Final = Statement(select(func.count()).select_from(KEYS).where(*_OPEN_SESSIONS))


def keys_of(session: Session, actor: str, roles: Sequence[str], now: datetime) -> Sequence[ActorKey]:
    """The keys of the actor that stand, newest first; then each of these roles of the gateway in which it has a session."""
    keys = [
        _key(session, row.id, now, actor, row) for row in session.rows(_STANDING, {"actor": actor, "now": to_text(now)})
    ]
    assumed = [_key(session, f"role:{role}", now, actor) for role in roles]
    return [*keys, *(each for each in assumed if each.open_sessions)]


def _key(session: Session, name: str, now: datetime, actor: str, row: StoredKeyRow | None = None) -> ActorKey:
    values = {"of": name, "now": to_text(now), "actor": actor}
    sessions = session.rows(_SESSIONS, values)
    count = len(sessions) if len(sessions) < MOST_SESSIONS else int(session.scalar(_COUNT, values) or 0)
    return ActorKey(
        id=name,
        kind=row.kind if row else "",
        roles=tuple(json.loads(row.roles)) if row else (),
        on_behalf_of=row.on_behalf_of if row else "",
        created_at=from_text(row.created_at) if row else None,
        expires_at=from_text(row.expires_at) if row and row.expires_at else None,
        open_sessions=count,
        sessions=tuple(_session(each) for each in sessions),
    )


def _session(row: StoredKeyRow) -> ActorSession:
    motive: dict[str, Any] = json.loads(row.motive) if row.motive else {}
    return ActorSession(
        id=row.id,
        intent=motive.get("intent") or "",
        motivation=motive.get("motivation") or "",
        created_at=from_text(row.created_at),
        expires_at=from_text(row.expires_at) if row.expires_at else None,
    )
