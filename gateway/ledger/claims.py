"""How claims end: they expire, are released, are merged into code, or fail with the mutation that took them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, select, update

from gateway.ledger.rows import ClaimRow
from gateway.ledger.statements import Query, Statement, columns
from gateway.ledger.tables import CLAIMS
from gateway.ledger.timestamps import to_text
from gateway.ledger.transaction import Transaction
from gateway.model.claim import ClaimEnd
from gateway.model.record import Record, Stage

_END: Final = Statement(
    update(CLAIMS)
    .where(CLAIMS.c.id == bindparam("claim"), CLAIMS.c.ended_at.is_(None))
    .values(ended_at=bindparam("at"), end=bindparam("how"))
)
_SETTLE: Final = Statement(update(CLAIMS).where(CLAIMS.c.mutation_id == bindparam("mutation")).values(unsettled=0))
_OPEN_OF_MUTATION: Final = Query(
    select(*columns(CLAIMS, ClaimRow)).where(
        CLAIMS.c.mutation_id == bindparam("mutation"), CLAIMS.c.ended_at.is_(None)
    ),
    ClaimRow,
)
_EXPIRED: Final = Query(
    select(*columns(CLAIMS, ClaimRow))
    .where(CLAIMS.c.ended_at.is_(None), CLAIMS.c.until <= bindparam("at"), CLAIMS.c.unsettled == 0)
    .order_by(CLAIMS.c.until)
    .limit(bindparam("most")),
    ClaimRow,
)


def open_claims_of(transaction: Transaction, mutation_id: str) -> Sequence[ClaimRow]:
    """The open claims of a mutation."""
    return transaction.rows(_OPEN_OF_MUTATION, {"mutation": mutation_id})


def settle_claims(transaction: Transaction, mutation_id: str) -> None:
    """Mark a mutation's claims as settled: from now on they expire and can be superseded."""
    transaction.change(_SETTLE, {"mutation": mutation_id})


def end_claims(transaction: Transaction, rows: Sequence[ClaimRow], at: datetime, how: ClaimEnd) -> None:
    """End open claims, without a record."""
    transaction.change_each(_END, [{"claim": row.id, "at": to_text(at), "how": how.value} for row in rows])


def end_expired(transaction: Transaction, rows: Sequence[ClaimRow], at: datetime) -> None:
    """End expired claims, with one EXPIRED record for each."""
    end_claims(transaction, rows, at, ClaimEnd.EXPIRED)
    for row in rows:
        body = {"claim": row.id, "address": row.address, "attribute": row.attribute, "until": row.until}
        record = Record(stage=Stage.EXPIRED, at=at, mutation_id=row.mutation_id, actor=row.actor, body=body)
        transaction.append(record, resources=[(row.address, row.attribute)])


def expire(transaction: Transaction, at: datetime, most: int) -> int:
    """End up to `most` expired claims; the number ended."""
    rows = transaction.rows(_EXPIRED, {"at": to_text(at), "most": most})
    end_expired(transaction, rows, at)
    return len(rows)
