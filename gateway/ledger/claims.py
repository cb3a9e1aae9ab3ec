"""How claims end: they expire, are released, are merged into code, or fail with the mutation that took them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Select, Subquery, bindparam, func, literal_column, or_, select, update

from gateway.ledger.claim_states import ClaimEvent, require
from gateway.ledger.rows import ClaimRow
from gateway.ledger.statements import Query, Session, Statement, columns
from gateway.ledger.tables import CLAIMS
from gateway.ledger.timestamps import to_text
from gateway.ledger.transaction import Transaction
from gateway.model.claim import ClaimEnd
from gateway.model.record import Record, Stage
from gateway.ports import MOST_CLAIMS


def _counted(open_claims: Subquery) -> Select[Any]:
    """How many of these rows there are of each motivation."""
    return select(open_claims.c.motivation, func.count()).group_by(open_claims.c.motivation)


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
_HELD: Final = Statement(
    _counted(
        select(CLAIMS.c.motivation)
        .where(
            CLAIMS.c.actor == bindparam("who"),
            CLAIMS.c.ended_at.is_(None),
            or_(CLAIMS.c.until.is_(None), CLAIMS.c.until > bindparam("now")),
        )
        .limit(literal_column(str(MOST_CLAIMS + 1)))
        .subquery()
    )
)


_HELD_BY_ALL: Final = Statement(
    select(CLAIMS.c.actor, CLAIMS.c.motivation, func.count())
    .where(CLAIMS.c.ended_at.is_(None), or_(CLAIMS.c.until.is_(None), CLAIMS.c.until > bindparam("now")))
    .group_by(CLAIMS.c.actor, CLAIMS.c.motivation)
)


def open_claims(session: Session, actor: str, now: datetime) -> dict[str, int]:
    """How many claims an actor holds for each motivation (empty: without a motive), counted up to one more than `ports.MOST_CLAIMS`. Those that only stand because their outcome
    is not known, and those on restated attributes, do not count.
    """
    return {str(name): int(count) for name, count in session.fetch(_HELD, {"who": actor, "now": to_text(now)})}


def open_claims_of_all(session: Session, now: datetime) -> dict[str, dict[str, int]]:
    """How many claims every actor holds for each motivation, by actor."""
    found: dict[str, dict[str, int]] = {}
    for actor, motivation, count in session.fetch(_HELD_BY_ALL, {"now": to_text(now)}):
        found.setdefault(str(actor), {})[str(motivation)] = int(count)
    return found


def open_claims_of(transaction: Transaction, mutation_id: str) -> Sequence[ClaimRow]:
    """The open claims of a mutation."""
    return transaction.rows(_OPEN_OF_MUTATION, {"mutation": mutation_id})


def settle_claims(transaction: Transaction, mutation_id: str, rows: Sequence[ClaimRow] = ()) -> None:
    """Mark a mutation's claims as settled: from now on they expire and can be superseded. `rows` are those that stand afterwards."""
    require(rows, ClaimEvent.APPLIED)
    transaction.change(_SETTLE, {"mutation": mutation_id})


def end_claims(transaction: Transaction, rows: Sequence[ClaimRow], at: datetime, how: ClaimEnd) -> None:
    """End open claims, without a record. Raises `errors.ImpossibleTransition` if one cannot end so in its state."""
    require(rows, ClaimEvent(how.value))
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
