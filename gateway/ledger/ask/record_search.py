"""Finds records for people and for the reconciler. A question costs what its answer shows, not what the ledger holds.

The numbers of the records come from sorted lists in an index (`record_lists.py`), merged and read only as far as needed. Then those records
are read, and what the lists do not cover is tested.
"""

from collections.abc import Generator
from contextlib import closing
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Select, and_, exists, or_, select

from gateway.core.model.verdict import Verdict
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Record, Stage
from gateway.ledger.ask.body_filter import body_conditions, fits_body
from gateway.ledger.ask.queries import page_size
from gateway.ledger.ask.record_lists import LAST_CHARACTER, asked_kind, pages
from gateway.ledger.store.rows import RecordRow
from gateway.ledger.store.serialize import record_from_row
from gateway.ledger.store.statements import columns, tested
from gateway.ledger.store.tables import KEYS, RECORDS, RESOURCES
from gateway.ledger.store.timestamps import to_text

_READ_AT_ONCE: Final = 200
"""How many records are read at a time where conditions remain to be tested."""


def records(connection: Connection, query: RecordQuery) -> tuple[Record, ...]:
    """The records that match, in the order of the query."""
    limit, asked = page_size(query.limit), _completed(connection, query)
    if asked is None or not limit:
        return ()
    fits = fits_body(asked)
    with closing(_rows(connection, asked, limit)) as rows:
        found = (record_from_row(row) for row in rows)
        return tuple(islice((record for record in found if fits is None or fits(record)), limit))


def _completed(connection: Connection, query: RecordQuery) -> RecordQuery | None:
    """The query with what follows from it: the actor of its key, and the stage that has evidence or leaves something. None if no record can fit."""
    for asked, stage in ((query.no_evidence, Stage.DECIDED), (query.left, Stage.RECONCILED)):
        if asked and query.stage not in (None, stage):
            return None
        query = replace(query, stage=stage) if asked else query
    if query.key_id:
        owner = connection.execute(select(KEYS.c.actor).where(KEYS.c.id == query.key_id)).scalar()
        if owner is None or query.actor not in ("", owner):
            return None
        query = replace(query, actor=owner)
    return query


def _rows(connection: Connection, query: RecordQuery, limit: int) -> Generator[RecordRow]:
    """The rows that fit in all but their bodies, in order."""
    order = RECORDS.c.seq.desc() if query.newest_first else RECORDS.c.seq
    statement = select(*columns(RECORDS, RecordRow)).where(*_conditions(query)).order_by(order)
    found = pages(connection, query, limit)
    if found is None:
        yield from _in_order(connection, statement, query, limit)
        return
    for page in found:
        yield from map(RecordRow._make, connection.execute(statement.where(RECORDS.c.seq.in_(page))))


def _in_order(connection: Connection, statement: Select[Any], query: RecordQuery, limit: int) -> Generator[RecordRow]:
    """The rows of a statement as they come, from one end of the ledger on or of one mutation."""
    after, before = query.after_seq, query.before_seq
    bounds = [RECORDS.c.seq > after] if after else []
    bounds += [RECORDS.c.seq < before] if before else []
    bounds += [RECORDS.c.mutation_id == query.mutation_id] if query.mutation_id else []
    bounded = statement.where(*bounds)
    every = fits_body(query) is None
    with connection.execute(
        bounded.limit(limit) if every else bounded, execution_options={} if every else {"yield_per": _READ_AT_ONCE}
    ) as rows:
        yield from map(RecordRow._make, rows)


def _conditions(query: RecordQuery) -> list[ColumnElement[bool]]:
    """What each record is tested for. The numbers were chosen already: no index may be chosen for these, so none fits their form."""
    conditions = [tested(RECORDS.c[name]) == value for name, value in asked_kind(query).items()]
    if query.refused:
        denied = tested(RECORDS.c.verdict) == Verdict.DENY.value
        conditions.append(or_(tested(RECORDS.c.stage) == Stage.TURNED_AWAY.value, denied))
    if query.since is not None:
        conditions.append(tested(RECORDS.c.at) >= to_text(query.since))
    if query.until is not None:
        conditions.append(tested(RECORDS.c.at) <= to_text(query.until))
    if query.resource:
        within = and_(RESOURCES.c.address >= query.resource, RESOURCES.c.address < query.resource + LAST_CHARACTER)
        conditions.append(exists().where(RESOURCES.c.seq == RECORDS.c.seq, within))
    if query.left:
        later = RECORDS.alias()
        same = and_(later.c.mutation_id == RECORDS.c.mutation_id, later.c.seq > RECORDS.c.seq)
        conditions.append(~exists().where(same, tested(later.c.stage) == Stage.RECONCILED.value))
    return conditions + body_conditions(query)
