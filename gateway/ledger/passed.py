"""Appends PASSED: how many calls of the data plane passed without a decision. No table follows from it."""

from collections.abc import Sequence
from datetime import datetime

from gateway.ledger.timestamps import to_text
from gateway.ledger.transaction import Transaction
from gateway.model.data_plane import PassedCalls
from gateway.model.json import Json
from gateway.model.mutation import WHOLE
from gateway.model.record import Record, Stage


def record_passed(transaction: Transaction, passed: Sequence[PassedCalls], at: datetime) -> None:
    """Append one record for each of them, found by its actor, its stack and its resources."""
    for calls in passed:
        record = Record(stage=Stage.PASSED, at=at, actor=calls.caller.actor, stack=calls.stack, body=_body(calls))
        transaction.append(record, resources=[(address, WHOLE) for address in calls.resources])


def _body(calls: PassedCalls) -> dict[str, Json]:
    caller = calls.caller
    return {
        "caller": {"kind": caller.kind.value, "key_id": caller.key_id, "on_behalf_of": caller.on_behalf_of},
        "call": {"service": calls.service, "operation": calls.operation, "class": calls.call_class.value},
        "door": calls.door.value,
        "treatment": calls.treatment.value,
        "count": calls.count,
        "errors": calls.errors,
        "since": to_text(calls.since),
        "until": to_text(calls.until),
        "resources": [{"address": address, "count": number} for address, number in calls.resources.items()],
        "other_resources": calls.others,
    }
