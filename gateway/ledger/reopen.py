"""Reopens the claims that a mutation superseded, if it failed, or as far as it only restated the values they hold."""

from collections.abc import Iterable, Sequence
from typing import Final

from sqlalchemy import bindparam, select, update

from gateway.ledger.claim_states import ClaimEvent, require
from gateway.ledger.claims import end_claims
from gateway.ledger.rows import ClaimRow
from gateway.ledger.statements import Query, Statement, columns
from gateway.ledger.states import AttemptState
from gateway.ledger.tables import ATTEMPTS, CLAIMS
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
_ATTEMPT_STATE: Final = Statement(select(ATTEMPTS.c.state).where(ATTEMPTS.c.mutation_id == bindparam("mutation")))
_REOPEN: Final = Statement(
    update(CLAIMS).where(CLAIMS.c.id == bindparam("claim")).values(ended_at=None, end=None, ended_by=None)
)


def end_restated(
    transaction: Transaction,
    mutation_id: str,
    now: str,
    effects: Iterable[tuple[str, str]],
    restated: Sequence[ClaimRow],
) -> tuple[list[str], list[str]]:
    """End the claims of an applied mutation on values that it only restated, and reopen those they stood in for; the ids of both.

    `effects` are the (address, attribute) pairs that it set. A claim on anything that it changed stays superseded.
    """
    if not restated:
        return [], []
    end_claims(transaction, restated, from_text(now), ClaimEnd.RESTATED)
    kept = {(row.address, row.attribute) for row in restated}
    changed = Overlaps((*each, None) for each in effects if each not in kept)
    unchanged = Overlaps((*each, None) for each in kept)
    stood_in = [
        row
        for row in transaction.rows(_SUPERSEDED, {"mutation": mutation_id})
        if unchanged.of(row.address, row.attribute) and not changed.of(row.address, row.attribute)
    ]
    return [row.id for row in restated], _reopen(transaction, stood_in, now)


def is_restated(row: ClaimRow) -> bool:
    """Whether the claim is on a value that its mutation only restates: it ends with the outcome."""
    return row.until is not None and row.until <= row.since


def reopen_superseded(transaction: Transaction, mutation_id: str, now: str) -> list[str]:
    """Reopen the claims that a failed mutation superseded; their ids."""
    return _reopen(transaction, transaction.rows(_SUPERSEDED, {"mutation": mutation_id}), now)


def _reopen(transaction: Transaction, rows: Iterable[ClaimRow], now: str) -> list[str]:
    """Reopen claims, except those that have expired, whose attribute has another claim, or whose own mutation failed meanwhile; the ids of
    those reopened.
    """
    reopened = []
    for row in rows:
        require((row,), ClaimEvent.REOPENED)
        holder = transaction.scalar(_HOLDER, {"where": row.address, "what": row.attribute})
        failed = transaction.scalar(_ATTEMPT_STATE, {"mutation": row.mutation_id}) == AttemptState.FAILED
        if holder is None and not failed and (row.until is None or row.until > now):
            transaction.change(_REOPEN, {"claim": row.id})
            reopened.append(row.id)
    return reopened
