"""Standing keys that end soon and that nobody has renewed yet."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from sqlalchemy import bindparam, or_, select

from gateway.ledger.store.statements import Query, Session, columns
from gateway.ledger.store.tables import KEYS
from gateway.ledger.store.timestamps import to_text

SOON: Final = timedelta(days=14)
"""How long before its end a key is warned of."""
MOST: Final = 100
"""Keys in one answer, those that end first."""


class EndingKey(NamedTuple):
    """A key that ends soon."""

    id: str
    actor: str
    kind: str
    expires_at: str


def _ending() -> Query[EndingKey]:
    """Renewed is a key whose actor has another one of the same kind, with the same roles, that ends later."""
    newer = KEYS.alias()
    renewed = (
        select(newer.c.id)
        .where(
            newer.c.actor == KEYS.c.actor,
            newer.c.kind == KEYS.c.kind,
            newer.c.roles == KEYS.c.roles,
            newer.c.on_behalf_of == KEYS.c.on_behalf_of,
            newer.c.session_of == "",
            newer.c.revoked_at.is_(None),
            or_(newer.c.expires_at.is_(None), newer.c.expires_at > bindparam("soon")),
        )
        .exists()
    )
    chosen = select(*columns(KEYS, EndingKey)).where(
        KEYS.c.session_of == "",
        KEYS.c.revoked_at.is_(None),
        KEYS.c.expires_at > bindparam("now"),
        KEYS.c.expires_at <= bindparam("soon"),
        ~renewed,
    )
    return Query(chosen.order_by(KEYS.c.expires_at, KEYS.c.id).limit(MOST), EndingKey)


_ENDING: Final = _ending()


def ending_keys(session: Session, at: datetime) -> Sequence[EndingKey]:
    """The keys that end within `SOON` and are neither revoked nor renewed, those that end first before the others."""
    return session.rows(_ENDING, {"now": to_text(at), "soon": to_text(at + SOON)})
