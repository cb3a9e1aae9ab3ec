"""Reopens the claims that a mutation superseded, if it failed, or as far as it only restated the values they hold."""

from collections.abc import Iterable
from typing import Final

from sqlalchemy import bindparam, select, update

from gateway.ledger.claims import end_claims, open_claims_of
from gateway.ledger.rows import ClaimRow
from gateway.ledger.statements import Query, Statement, columns
from gateway.ledger.tables import CLAIMS
from gateway.ledger.timestamps import from_text
from gateway.ledger.transaction import Transaction
from gateway.model.claim import ClaimEnd
from gateway.model.overlap import Overlaps

_SUPERSEDED: Final = Query(
    select(*columns(CLAIMS, ClaimRow)).where(
        CLAIMS.c.ended_by == bindparam("mutation"), CLAIMS.c.end == ClaimEnd.SUPERSEDED.value
    ),
    ClaimRow,
)
_HOLDER: Final = Statement(
    select(CLAIMS.c.id).where(
        CLAIMS.c.address == bindparam("where"), CLAIMS.c.attribute == bindparam("what"), CLAIMS.c.ended_at.is_(None)
    )
)
_REOPEN: Final = Statement(
    update(CLAIMS).where(CLAIMS.c.id == bindparam("claim")).values(ended_at=None, end=None, ended_by=None)
)


def end_restated(
    transaction: Transaction, mutation_id: str, now: str, effects: Iterable[tuple[str, str]]
) -> tuple[list[str], list[str]]:
    """End the claims of an applied mutation on values that it only restated, and reopen those they stood in for; the ids of both.

    `effects` are the (address, attribute) pairs that it set. A claim on anything that it changed stays superseded.
    """
    restated = [row for row in open_claims_of(transaction, mutation_id) if row.until and row.until <= row.since]
    if not restated:
        return [], []
    end_claims(transaction, restated, from_text(now), ClaimEnd.RESTATED)
    kept = {(row.address, row.attribute) for row in restated}
    changed = Overlaps((address, attribute, None) for address, attribute in effects if (address, attribute) not in kept)
    return [row.id for row in restated], reopen_superseded(transaction, mutation_id, now, changed)


def reopen_superseded(
    transaction: Transaction, mutation_id: str, now: str, changed: Overlaps[None] | None = None
) -> list[str]:
    """Reopen the claims that the mutation superseded; their ids. Not those that have expired, are on an attribute with another claim,
    or overlap with one of the attributes that it `changed`.
    """
    reopened = []
    for row in transaction.rows(_SUPERSEDED, {"mutation": mutation_id}):
        if changed is not None and changed.of(row.address, row.attribute):
            continue
        holder = transaction.scalar(_HOLDER, {"where": row.address, "what": row.attribute})
        if holder is None and (row.until is None or row.until > now):
            transaction.change(_REOPEN, {"claim": row.id})
            reopened.append(row.id)
    return reopened
