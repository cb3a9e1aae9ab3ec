"""Finds records by what only their bodies say. SQL narrows them down by text, and the parsed body decides."""

from collections.abc import Callable, Mapping

from sqlalchemy import Boolean, ColumnElement, literal_column

from gateway.core.model.json import Json
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Record
from gateway.ledger.ask.record_indexes import BARE
from gateway.ledger.store.tables import RECORDS


def body_conditions(query: RecordQuery) -> list[ColumnElement[bool]]:
    """Conditions in SQL. Of the records that meet them, those that `fits_body` accepts are meant."""
    conditions: list[ColumnElement[bool]] = []
    if query.key_id:
        conditions.append(RECORDS.c.body.contains(f'"key_id":"{query.key_id}"', autoescape=True))
    if query.no_evidence:
        conditions.append(literal_column(BARE, Boolean()))
    return conditions


def fits_body(query: RecordQuery) -> Callable[[Record], bool] | None:
    """Whether a record's body is what the query asks for; None if the query asks for nothing in it.

    The text alone would be misled by the parameters of a call, which may contain any names.
    """
    if not (query.key_id or query.no_evidence or query.left):
        return None

    def fits(record: Record) -> bool:
        if query.left and not record.body.get("left"):
            return False
        caller, motive = record.body.get("caller"), record.body.get("motive")
        key_id = caller.get("key_id") if isinstance(caller, Mapping) else record.body.get("key_id")
        return (not query.key_id or key_id == query.key_id) and not (query.no_evidence and _has_evidence(motive))

    return fits


def _has_evidence(motive: Json) -> bool:
    return isinstance(motive, Mapping) and bool(motive.get("evidence"))
