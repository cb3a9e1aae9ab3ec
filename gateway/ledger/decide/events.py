"""Records of events that change no other table: passed data calls, proposals, changes from outside, plans that were checked, notices, links of chats."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, select

from gateway.core.errors import Malformed
from gateway.core.model.data_plane import PassedCalls
from gateway.core.model.path import WHOLE
from gateway.core.records.record import Record, Stage
from gateway.core.records.requests import CountedCall, CountedResource, KeyedCaller, PassedBody
from gateway.ledger.store.statements import Statement
from gateway.ledger.store.tables import RECORDS
from gateway.ledger.store.timestamps import to_text
from gateway.ledger.store.transaction import Transaction


def record_passed(transaction: Transaction, passed: Sequence[PassedCalls], at: datetime) -> None:
    """Append one record for each of them, found by its actor, its stack and its resources."""
    for calls in passed:
        record = Record(at=at, actor=calls.caller.actor, stack=calls.stack, body=_body(calls))
        transaction.append(record, resources=[(address, WHOLE) for address in calls.resources])


def _body(calls: PassedCalls) -> PassedBody:
    caller = calls.caller
    return PassedBody(
        caller=KeyedCaller(kind=caller.kind, key_id=caller.key_id, on_behalf_of=caller.on_behalf_of),
        call=CountedCall(service=calls.service, operation=calls.operation, call_class=calls.call_class),
        door=calls.door,
        treatment=calls.treatment,
        count=calls.count,
        errors=calls.errors,
        since=to_text(calls.since),
        until=to_text(calls.until),
        resources=tuple(CountedResource(address=each, count=number) for each, number in calls.resources.items()),
        other_resources=calls.others,
    )


EVENTS: Final = frozenset(
    {
        Stage.PROPOSED,
        Stage.DRIFTED,
        Stage.DRIFT_LOOKED,
        Stage.DRIFT_DECIDED,
        Stage.DRIFT_SETTLED,
        Stage.PLAN_CHECKED,
        Stage.POLICY_STAGED,
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
