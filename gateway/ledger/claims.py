"""How claims end: by time, by release, by merging into code, or with the mutation that took them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import bindparam, select, update

from gateway.ledger.statements import Statement
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
_OPEN_OF: Final = Statement(
    select(CLAIMS).where(CLAIMS.c.mutation_id == bindparam("mutation"), CLAIMS.c.ended_at.is_(None))
)
_DUE: Final = Statement(
    select(CLAIMS)
    .where(CLAIMS.c.ended_at.is_(None), CLAIMS.c.until <= bindparam("at"), CLAIMS.c.unsettled == 0)
    .order_by(CLAIMS.c.until)
    .limit(bindparam("most"))
)


def open_claims_of(transaction: Transaction, mutation_id: str) -> Sequence[Any]:
    """The rows of a mutation's open claims."""
    return transaction.rows(_OPEN_OF, {"mutation": mutation_id})


def end_claims(transaction: Transaction, rows: Sequence[Any], at: datetime, how: ClaimEnd) -> None:
    """End open claims."""
    transaction.change_each(_END, [{"claim": row.id, "at": to_text(at), "how": how.value} for row in rows])


def end_expired(transaction: Transaction, rows: Sequence[Any], at: datetime) -> None:
    """End claims whose time is up, and record each."""
    end_claims(transaction, rows, at, ClaimEnd.EXPIRED)
    for row in rows:
        body = {"claim": row.id, "address": row.address, "attribute": row.attribute, "until": row.until}
        record = Record(stage=Stage.EXPIRED, at=at, mutation_id=row.mutation_id, actor=row.actor, body=body)
        transaction.append(record, resources=[(row.address, row.attribute)])


def expire(transaction: Transaction, at: datetime, most: int) -> int:
    """End up to `most` claims whose time is up; how many."""
    rows = transaction.rows(_DUE, {"at": to_text(at), "most": most})
    end_expired(transaction, rows, at)
    return len(rows)
