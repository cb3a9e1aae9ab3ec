"""Ends claims that nobody needs any more, because the code came to declare their value."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, select

from gateway.ledger.claims import end_claims
from gateway.ledger.rows import ClaimRow
from gateway.ledger.serialize import canonical_text
from gateway.ledger.statements import Among, Query, Statement, columns
from gateway.ledger.tables import ATTEMPTS, CLAIMS, RECORDS
from gateway.ledger.transaction import Transaction
from gateway.model.claim import ClaimEnd
from gateway.model.record import Record, Stage

_OPEN: Final = Query(
    select(*columns(CLAIMS, ClaimRow))
    .where(Among(CLAIMS.c.id, "ids"), CLAIMS.c.ended_at.is_(None), CLAIMS.c.unsettled == 0)
    .order_by(CLAIMS.c.id),
    ClaimRow,
)
_DECIDED: Final = Statement(
    select(RECORDS.c.body)
    .select_from(ATTEMPTS.join(RECORDS, RECORDS.c.seq == ATTEMPTS.c.seq))
    .where(ATTEMPTS.c.mutation_id == bindparam("mutation"))
)


def end_unneeded(transaction: Transaction, claims: Sequence[str], at: datetime) -> int:
    """End those of these claims that still stand and whose value was not in the code when they were taken; the number ended.

    A claim on a value that the code declared already defends it, for instance in an incident: it stands for its time.
    """
    rows = transaction.rows(_OPEN, {"ids": canonical_text(sorted(claims))})
    ended = [row for row in rows if not _was_declared(transaction, row)]
    end_claims(transaction, ended, at, ClaimEnd.UNNEEDED)
    for row in ended:
        body = {
            "claim": row.id,
            "address": row.address,
            "attribute": row.attribute,
            "reason": "The code declares the value now.",
        }
        record = Record(stage=Stage.UNNEEDED, at=at, mutation_id=row.mutation_id, actor=row.actor, body=body)
        transaction.append(record, resources=[(row.address, row.attribute)])
    return len(ended)


def _was_declared(transaction: Transaction, row: ClaimRow) -> bool:
    """Whether the code declared the claimed value when the claim was taken; true if that cannot be told."""
    body = transaction.scalar(_DECIDED, {"mutation": row.mutation_id})
    if body is None:
        return True
    value = json.loads(row.value)
    declared = [
        effect.get("declared")
        for effect in json.loads(body)["effects"]
        if (effect["address"], effect["attribute"]) == (row.address, row.attribute)
    ]
    return not declared or value in declared
