"""Records implicit conflicts: that the live value of a claimed attribute is another one, and that it is back."""

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Final

import msgspec
from sqlalchemy import bindparam, update

from gateway.core.model.claim import ConflictClass, SeenValue, undone_by_to_json
from gateway.core.model.json import canonical_text
from gateway.core.records.claims import RecordedUndoneBy, UndoneBody
from gateway.core.records.record import Record
from gateway.ledger.store.rows import ClaimRow
from gateway.ledger.store.statements import Query, Statement
from gateway.ledger.store.tables import CLAIMS
from gateway.ledger.store.timestamps import to_text
from gateway.ledger.store.transaction import Transaction

_STANDING: Final = Query.of(
    CLAIMS, ClaimRow, CLAIMS.c.id == bindparam("claim"), CLAIMS.c.ended_at.is_(None), CLAIMS.c.unsettled == 0
)
_MARK: Final = Statement(update(CLAIMS).where(CLAIMS.c.id == bindparam("claim")).values(undone=bindparam("seen")))


def record_seen(transaction: Transaction, seen: Iterable[SeenValue], at: datetime) -> list[str]:
    """Mark the claims whose live value changed from the claimed one, or back to it; their ids.

    A claim that ended meanwhile or is unsettled again, or of which the same is known already, is left as it is.
    """
    changed = []
    for value in seen:
        row = transaction.row(_STANDING, {"claim": value.claim})
        if row is not None and _known(row) != _live(value):
            _mark(transaction, row, value, at)
            changed.append(row.id)
    return changed


def _mark(transaction: Transaction, row: ClaimRow, value: SeenValue, at: datetime) -> None:
    by = undone_by_to_json(value.by)
    body = UndoneBody(
        claim=row.id,
        address=row.address,
        attribute=row.attribute,
        conflict=ConflictClass.IMPLICIT,
        stands=value.stands,
        live=None if value.stands else value.live,
        by=None if value.stands or value.by is None else msgspec.convert(by, RecordedUndoneBy),
    )
    marked = "" if value.stands else canonical_text({"at": to_text(at), "by": by, "live": value.live})
    transaction.change(_MARK, {"claim": row.id, "seen": marked})
    record = Record(at=at, mutation_id=row.mutation_id, actor=row.actor, body=body)
    transaction.append(record, resources=[(row.address, row.attribute)])


def _known(row: ClaimRow) -> str:
    return canonical_text(json.loads(row.undone)["live"]) if row.undone else ""


def _live(value: SeenValue) -> str:
    """The live value as the row holds it; empty while the claimed one stands."""
    return "" if value.stands else canonical_text(value.live)
