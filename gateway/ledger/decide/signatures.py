"""Spends the signature of a request: the same signed bytes are carried out at most once, whatever was changed in what is not signed.

The row is written in the transaction of the decision, so it holds for every gateway on the same ledger. It is kept for longer than a
signature is valid and then deleted, so the table stays small.
"""

import json
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import bindparam, delete, exists, insert, select, update

from gateway.core.errors import SignatureSpent
from gateway.core.model.mutation import Mutation
from gateway.core.records.record import Stage
from gateway.ledger.store.statements import Statement
from gateway.ledger.store.states import AttemptState
from gateway.ledger.store.tables import ATTEMPTS, BODY, RECORDS, SIGNATURES, TEXT
from gateway.ledger.store.timestamps import to_text
from gateway.ledger.store.transaction import Transaction

KEPT: Final = timedelta(hours=1)
"""How long a spent signature is remembered. A signature is valid for at most twice the greatest clock skew, 30 minutes."""

_SPENT: Final = Statement(select(SIGNATURES.c.mutation_id).where(SIGNATURES.c.signature == bindparam("given")))
_STATE: Final = Statement(select(ATTEMPTS.c.state).where(ATTEMPTS.c.mutation_id == bindparam("mutation")))
_HOW_IT_ENDED: Final = Statement(
    select(BODY)
    .where(RECORDS.c.mutation_id == bindparam("mutation"), RECORDS.c.stage == Stage.SETTLED.value)
    .order_by(RECORDS.c.seq.desc())
    .limit(1)
)
_SPEND: Final = Statement(
    insert(SIGNATURES).from_select(
        ["signature", "mutation_id", "at"],
        select(bindparam("given", type_=TEXT), bindparam("by", type_=TEXT), bindparam("now", type_=TEXT)).where(
            ~exists().where(SIGNATURES.c.signature == bindparam("given"))
        ),
    )
)
"""Changes no row if the signature is spent. Nobody else writes meanwhile: the transaction has the write lock."""
_SPEND_AGAIN: Final = Statement(
    update(SIGNATURES)
    .where(SIGNATURES.c.signature == bindparam("given"))
    .values(mutation_id=bindparam("by"), at=bindparam("now"))
)
_FORGET: Final = Statement(delete(SIGNATURES).where(SIGNATURES.c.at < bindparam("before")))


def spend_signature(transaction: Transaction, mutation: Mutation, now: datetime) -> None:
    """Spend the signature of the mutation's request, if it has one.

    Raises `errors.SignatureSpent` if an earlier attempt spent it, unless AWS itself refused that attempt: then nothing was applied with it.
    A doubt that was settled as failed proves less: who settled it may be wrong, so the signature stays spent.
    """
    if not mutation.signature:
        return
    transaction.change(_FORGET, {"before": to_text(now - KEPT)})
    values = {"given": mutation.signature, "by": mutation.id, "now": to_text(now)}
    if transaction.change(_SPEND, values) == 1:
        return
    spent = transaction.scalar(_SPENT, {"given": mutation.signature})
    if _refused(transaction, spent):
        transaction.change(_SPEND_AGAIN, values)
    else:
        raise SignatureSpent(
            f"The signature of this request was used before (mutation {spent}), so nothing was sent again. "
            "If this is another call, sign it again: a signature changes every second."
        )


def _refused(transaction: Transaction, mutation_id: str) -> bool:
    """Whether the gateway heard itself that the attempt failed; what was found out after a doubt does not count."""
    if transaction.scalar(_STATE, {"mutation": mutation_id}) != AttemptState.FAILED:
        return False
    return "settled_by" not in json.loads(transaction.scalar(_HOW_IT_ENDED, {"mutation": mutation_id}))
