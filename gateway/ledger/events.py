"""Records of events that change no other table: proposals, changes from outside, plans that were checked, notices, links of chats."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import bindparam, select

from gateway.errors import Malformed
from gateway.ledger.statements import Statement
from gateway.ledger.tables import RECORDS
from gateway.ledger.transaction import Transaction
from gateway.model.record import Record, Stage

EVENTS: Final = frozenset(
    {
        Stage.PROPOSED,
        Stage.DRIFTED,
        Stage.DRIFT_DECIDED,
        Stage.DRIFT_SETTLED,
        Stage.PLAN_CHECKED,
        Stage.NOTIFIED,
        Stage.RESEND_ASKED,
        Stage.CHAT_LINKED,
        Stage.CHAT_LINK_ASKED,
    }
)
_EARLIER: Final = Statement(
    select(RECORDS.c.seq)
    .where(RECORDS.c.mutation_id == bindparam("event"), RECORDS.c.stage == bindparam("stage"))
    .limit(1)
)


def append_event(
    transaction: Transaction, record: Record, *, resources: Sequence[tuple[str, str]] = (), repeat: bool = False
) -> bool:
    """Append a record of an event, named by its `mutation_id`; without `repeat` only the first of its stage. Whether it was appended.

    Raises `errors.Malformed` for a stage that has consequences for other tables: those have commands of their own.
    """
    if record.stage not in EVENTS or not record.mutation_id:
        raise Malformed(f"A record of stage {record.stage.value} is not an event with an id, so it was not stored.")
    if not repeat and transaction.fetch(_EARLIER, {"event": record.mutation_id, "stage": record.stage.value}):
        return False
    transaction.append(record, resources=resources)
    return True
