"""What programs store on a ledger: each generation is what an earlier version could not read, so it is allowed once no such program is left.

A new ledger allows all from the start. In one that an earlier version made, `sentinel migrate --finish` does.
"""

from datetime import datetime
from enum import IntEnum
from typing import Final

from sqlalchemy import bindparam, func, insert, select

from gateway.core.errors import LedgerUnavailable
from gateway.ledger.store.statements import Session, Statement
from gateway.ledger.store.tables import FORMS, LEASES
from gateway.ledger.store.timestamps import to_text


class Generation(IntEnum):
    """Each one includes those before it."""

    WHOLE = 0
    """Everything as it is read."""
    SHORT_BODIES = 1
    """Bodies of records by forms (`forms.py`)."""
    COMPACT = 2
    """Replies of attempts by forms, and questions packed with a longer dictionary. No record with the hash of the one before, and no ended attempt with
    its sender, which other rows say."""


READS: Final = max(Generation)
"""What this version reads."""
_KEYS: Final = {Generation.SHORT_BODIES: "", Generation.COMPACT: "2"}
"""The keys of the rows in `forms` that allow a generation. No form has so short a one."""
_IS_ALLOWED: Final = Statement(select(func.count()).select_from(FORMS).where(FORMS.c.key == bindparam("which")))
_ALLOW: Final = Statement(insert(FORMS))
_OLDER: Final = Statement(select(LEASES.c.owner).where(LEASES.c.until > bindparam("now"), LEASES.c.reads < READS.value))
_BY_COLUMNS: Final = ("records_by_kind", "records_by_actor", "records_by_key")
"""Indexes of PostgreSQL that only an earlier version uses."""


def allowed(session: Session) -> Generation:
    """The last generation that may be stored on this ledger."""
    return max(
        (each for each, key in _KEYS.items() if session.scalar(_IS_ALLOWED, {"which": key})), default=Generation.WHOLE
    )


def allow_all(session: Session, now: datetime) -> bool:
    """Let every program store what this version reads, from its next start on; False if it may already. The write lock is held.

    Raises `errors.LedgerUnavailable` while a gateway lives that cannot read it.
    """
    before = allowed(session)
    if before == READS:
        return False
    if older := session.column(_OLDER, {"now": to_text(now)}):
        count = (
            "A gateway of an earlier version holds"
            if len(older) == 1
            else f"{len(older)} gateways of an earlier version hold"
        )
        message = (
            f"{count} a lease of this ledger still, and could not read what this version would write. Nothing was changed. "
            "End what is of an earlier version, wait until its leases have run out, and try again."
        )
        raise LedgerUnavailable(message)
    if session.connection.dialect.name == "postgresql":
        # Who reads for long holds the table; who writes would wait behind this one.
        session.command("SET LOCAL lock_timeout = '5s'")
        session.command(f"DROP INDEX IF EXISTS {', '.join(_BY_COLUMNS)}")
    for generation, key in _KEYS.items():
        if generation > before:
            # With a base, so that no earlier version takes it for a form that gives bodies.
            session.change(_ALLOW, {"key": key, "stage": "", "base": key, "holes": 0, "text": ""})
    return True
