"""Downgrades claims: one that was proven counts as merely claimed once every signal that proved it has closed."""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, literal_column, or_, select, update

from gateway.ledger.rows import ClaimRow
from gateway.ledger.serialize import canonical_text
from gateway.ledger.statements import Among, Query, Statement, columns
from gateway.ledger.tables import ATTEMPTS, CLAIMS, IN_DOUBT, IN_FLIGHT, SIGNALS
from gateway.ledger.transaction import Transaction
from gateway.model.claim import ClaimEnd
from gateway.model.record import Record, Stage
from gateway.model.signal import SignalState

# Literals, not parameters: see `tables.py`.
_PROVEN: Final = CLAIMS.c.proof != literal_column("'[]'")
_OPEN: Final = Query(select(*columns(CLAIMS, ClaimRow)).where(CLAIMS.c.ended_at.is_(None), _PROVEN), ClaimRow)
# A claim that a mutation superseded is reopened if that mutation fails, so it must not keep its proof until then.
_MAY_REOPEN: Final = Query(
    select(*columns(CLAIMS, ClaimRow)).where(
        CLAIMS.c.ended_by.in_(
            select(ATTEMPTS.c.mutation_id).where(or_(ATTEMPTS.c.state == IN_FLIGHT, ATTEMPTS.c.state == IN_DOUBT))
        ),
        CLAIMS.c.end == ClaimEnd.SUPERSEDED.value,
        _PROVEN,
    ),
    ClaimRow,
)
_STILL_OPEN: Final = Statement(
    select(SIGNALS.c.id).where(Among(SIGNALS.c.id, "ids"), SIGNALS.c.state == SignalState.OPEN.value)
)
_DOWNGRADE: Final = Statement(update(CLAIMS).where(CLAIMS.c.id == bindparam("claim")).values(proof="[]"))


def downgrade_unproven(transaction: Transaction, closed: Sequence[str], at: datetime) -> list[str]:
    """Downgrade the claims that one of these closed signals proved, and no open one proves; the ids of the claims."""
    if not closed:
        return []
    gone = set(closed)
    rows = (*transaction.rows(_OPEN, {}), *transaction.rows(_MAY_REOPEN, {}))
    proofs = {row.id: (row, set(json.loads(row.proof))) for row in rows}
    touched = {claim: (row, proof) for claim, (row, proof) in proofs.items() if proof & gone}
    still = _still_open(transaction, (signal for _, proof in touched.values() for signal in proof))
    unproven = [(row, min(proof & gone)) for row, proof in touched.values() if not proof & still]
    for row, signal in sorted(unproven):
        _downgrade(transaction, row, signal, at)
    return [row.id for row, _ in unproven]


def _still_open(transaction: Transaction, signals: Iterable[str]) -> set[str]:
    wanted = sorted(set(signals))
    return {found[0] for found in transaction.fetch(_STILL_OPEN, {"ids": canonical_text(wanted)})} if wanted else set()


def _downgrade(transaction: Transaction, row: ClaimRow, signal: str, at: datetime) -> None:
    transaction.change(_DOWNGRADE, {"claim": row.id})
    body = {
        "claim": row.id,
        "address": row.address,
        "attribute": row.attribute,
        "signal": signal,
        "reason": "The signal that proved the motive has closed, so the claim ranks as one without proof.",
    }
    record = Record(stage=Stage.DOWNGRADED, at=at, mutation_id=row.mutation_id, actor=row.actor, body=body)
    transaction.append(record, resources=[(row.address, row.attribute)])
