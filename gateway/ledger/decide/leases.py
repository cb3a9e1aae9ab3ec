"""The leases of the gateways on one ledger. Each gateway renews its lease; attempts in flight whose gateway has no current lease become in doubt.

A paused gateway may still record the outcome of an attempt that was marked as in doubt meanwhile.
"""

import hmac
from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, delete, exists, insert, select, update

from gateway.core.errors import LedgerBroken
from gateway.core.failpoints import Point, failpoint
from gateway.ledger.decide.settlement import STOPPED, doubt
from gateway.ledger.store.generations import READS
from gateway.ledger.store.rows import AttemptRow
from gateway.ledger.store.statements import Query, Statement
from gateway.ledger.store.tables import ATTEMPTS, IN_FLIGHT, LEASES
from gateway.ledger.store.timestamps import to_text
from gateway.ledger.store.transaction import Transaction

_RENEW: Final = Statement(update(LEASES).where(LEASES.c.owner == bindparam("who")).values(until=bindparam("new_until")))
_BEGIN: Final = Statement(insert(LEASES))
_END: Final = Statement(delete(LEASES).where(LEASES.c.owner == bindparam("who")))
_END_EXPIRED: Final = Statement(delete(LEASES).where(LEASES.c.until <= bindparam("now")))
_STANDING: Final = Statement(select(LEASES.c.owner).where(LEASES.c.until > bindparam("now")))
_MARK: Final = "."
"""Between the id of a gateway and the mark of its master key."""
_ABANDONED: Final = Query.of(
    ATTEMPTS,
    AttemptRow,
    ATTEMPTS.c.state == IN_FLIGHT,
    ~exists().where(LEASES.c.owner == ATTEMPTS.c.owner, LEASES.c.until > bindparam("now")),
    order_by=(ATTEMPTS.c.decided_at,),
)


def owner_of(gateway: str, chain_key: bytes) -> str:
    """The owner of a lease: the gateway's id, and a mark of its master key that tells nothing about it."""
    return f"{gateway}{_MARK}{hmac.digest(chain_key, b'owner of a lease', 'sha256')[:8].hex()}"


def renew(transaction: Transaction, owner: str, at: datetime, until: datetime) -> None:
    """Begin or extend the lease of a gateway. Raises `errors.LedgerBroken` if a gateway with another master key has one."""
    if transaction.change(_RENEW, {"who": owner, "new_until": to_text(until)}) == 0:
        _require_same_key(transaction, owner, at)
        transaction.change(_BEGIN, {"owner": owner, "until": to_text(until), "reads": READS.value})


def _require_same_key(transaction: Transaction, owner: str, at: datetime) -> None:
    """Two gateways that each made a master key for a new ledger would each write records that the other cannot check."""
    mine = owner.partition(_MARK)[2]
    for other in transaction.column(_STANDING, {"now": to_text(at)}):
        gateway, _, theirs = other.partition(_MARK)
        if theirs and theirs != mine:
            message = (
                f"The gateway {gateway} runs on this ledger with another master key. All gateways of a ledger need the same one: "
                "set SENTINEL_MASTER_KEY, or give each the same file master.key. Nothing was stored."
            )
            raise LedgerBroken(message)


def end(transaction: Transaction, owner: str) -> None:
    """End the lease of a gateway that has recorded all its outcomes."""
    transaction.change(_END, {"who": owner})


def recover(transaction: Transaction, at: datetime) -> int:
    """Mark every attempt in flight as in doubt whose owner has no current lease; the number of them. Their claims stay."""
    attempts = transaction.rows(_ABANDONED, {"now": to_text(at)})
    for attempt in attempts:
        doubt(transaction, at, STOPPED, attempt)
    transaction.change(_END_EXPIRED, {"now": to_text(at)})
    if attempts:
        failpoint(Point.DOUBT_WRITTEN)
    return len(attempts)
