"""A record as an event of OCSF 1.8 (https://schema.ocsf.io/1.8.0): API Activity for calls, Entity Management for what people and time do."""

from typing import Final

import msgspec

from gateway.exports.facts import account_of, day_of, region_of
from gateway.exports.ocsf_calls import CALL_STAGES, api_activity
from gateway.exports.ocsf_entities import entity_management
from gateway.ledger.exported import ExportedRecord

_encode: Final = msgspec.json.Encoder().encode


def ocsf_event(record: ExportedRecord) -> bytes:
    """The event as JSON text."""
    return _encode(api_activity(record) if record.row.stage in CALL_STAGES else entity_management(record))


def ocsf_place(record: ExportedRecord) -> str:
    """Its directory as Amazon Security Lake lays out the sources of others: one class a source, by region, account and day."""
    source = "api_activity" if record.row.stage in CALL_STAGES else "entity_management"
    return f"{source}/region={region_of(record)}/accountId={account_of(record)}/eventDay={day_of(record)}"
