"""Queries of people and of the reconciler: records, claims and held mutations."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Select, and_, exists, false, func, or_, select

from gateway.ledger.body_filter import body_conditions, fits_body
from gateway.ledger.rows import ClaimRow, RecordRow
from gateway.ledger.serialize import claim_from_row, record_from_row
from gateway.ledger.statements import columns
from gateway.ledger.tables import CLAIMS, HOLDS, RECORDS, RESOURCES
from gateway.ledger.timestamps import from_text, to_text
from gateway.model.claim import Claim
from gateway.model.hold import Hold, HoldState
from gateway.model.record import Record
from gateway.ports import RecordQuery

MAX_PAGE: Final = 10_000
"""Most records, claims or holds in one answer."""

_FEW: Final = 20_000
"""Up to this many matches of an address prefix are collected before the records are read."""
_READ_AT_ONCE: Final = 200
"""How many records are read at a time where their bodies decide."""
_LAST_CHARACTER: Final = "\U0010ffff"


def records(connection: Connection, query: RecordQuery) -> tuple[Record, ...]:
    """The records that match, in the order of the query."""
    statement = select(*columns(RECORDS, RecordRow)).where(*_conditions(query))
    if query.resource:
        statement = statement.where(_about(connection, query.resource))
    statement = statement.order_by(RECORDS.c.seq.desc() if query.newest_first else RECORDS.c.seq)
    if fits_body(query) is None:
        found = connection.execute(statement.limit(_page(query.limit)))
        return tuple(record_from_row(RecordRow._make(row)) for row in found)
    return _fitting(connection, statement, query)


def changed_since(connection: Connection, seq: int) -> tuple[int, tuple[str, ...]]:
    """The number of the last record looked at, and the mutations of those after `seq`, a page at most; for -1 only the last number."""
    if seq < 0:
        return connection.execute(select(func.max(RECORDS.c.seq))).scalar() or 0, ()
    statement = select(RECORDS.c.seq, RECORDS.c.mutation_id).where(RECORDS.c.seq > seq)
    rows = connection.execute(statement.order_by(RECORDS.c.seq).limit(MAX_PAGE)).all()
    return (rows[-1].seq if rows else seq), tuple(row.mutation_id for row in rows)


def _fitting(connection: Connection, statement: Select[Any], query: RecordQuery) -> tuple[Record, ...]:
    """The records whose bodies fit, in the statement's order. They are read a few at a time until there are enough."""
    fits, limit = fits_body(query), _page(query.limit)
    with connection.execute(statement, execution_options={"yield_per": _READ_AT_ONCE}) as rows:
        records = (record_from_row(RecordRow._make(row)) for row in rows)
        return tuple(islice((record for record in records if fits is None or fits(record)), limit))


def _conditions(query: RecordQuery) -> list[ColumnElement[bool]]:
    equal = {
        "actor": query.actor,
        "intent": query.intent,
        "motivation": query.motivation,
        "stage": query.stage.value if query.stage else "",
        "verdict": query.verdict,
        "mutation_id": query.mutation_id,
    }
    conditions: list[ColumnElement[bool]] = [RECORDS.c[name] == value for name, value in equal.items() if value]
    conditions += body_conditions(query)
    if query.since is not None:
        conditions.append(RECORDS.c.at >= to_text(query.since))
    if query.until is not None:
        conditions.append(RECORDS.c.at <= to_text(query.until))
    if query.after_seq:
        conditions.append(RECORDS.c.seq > query.after_seq)
    if query.before_seq:
        conditions.append(RECORDS.c.seq < query.before_seq)
    return conditions


def _about(connection: Connection, prefix: str) -> ColumnElement[bool]:
    """Whether a record is about a resource whose address begins with `prefix`.

    If few rows match, they are collected first. If many do, each record is tested as it is read, so that the newest
    hundred of a million are found at once.
    """
    within = and_(RESOURCES.c.address >= prefix, RESOURCES.c.address < prefix + _LAST_CHARACTER)
    first = select(RESOURCES.c.seq).where(within).limit(_FEW).subquery()
    if (connection.execute(select(func.count()).select_from(first)).scalar() or 0) < _FEW:
        return RECORDS.c.seq.in_(select(RESOURCES.c.seq).where(within))
    return exists().where(RESOURCES.c.seq == RECORDS.c.seq, within)


def claims(
    connection: Connection,
    equal: Mapping[str, str],
    *,
    open_only: bool,
    before: str = "",
    limit: int = MAX_PAGE,
) -> tuple[Claim, ...]:
    """Claims with these values in these columns (empty: any), newest first; with `before`, those taken before this claim."""
    statement: Select[Any] = (
        select(*columns(CLAIMS, ClaimRow)).order_by(CLAIMS.c.since.desc(), CLAIMS.c.id.desc()).limit(_page(limit))
    )
    if before:
        since = connection.execute(select(CLAIMS.c.since).where(CLAIMS.c.id == before)).scalar()
        earlier = and_(CLAIMS.c.since == since, CLAIMS.c.id < before)
        statement = statement.where(or_(CLAIMS.c.since < since, earlier) if since else false())
    statement = statement.where(*(CLAIMS.c[name] == value for name, value in equal.items() if value))
    if open_only:
        unexpired = CLAIMS.c.until.is_(None) | (CLAIMS.c.until > to_text(datetime.now(UTC))) | (CLAIMS.c.unsettled == 1)
        statement = statement.where(CLAIMS.c.ended_at.is_(None), unexpired)
    return tuple(claim_from_row(ClaimRow._make(row)) for row in connection.execute(statement))


def holds(connection: Connection, equal: Mapping[str, str], *, before: str, limit: int) -> Sequence[Hold]:
    """Held mutations with these values in these columns (empty: any), newest first; with `before`, those held before this mutation."""
    statement = select(HOLDS).order_by(HOLDS.c.at.desc(), HOLDS.c.mutation_id.desc()).limit(_page(limit))
    statement = statement.where(*(HOLDS.c[name] == value for name, value in equal.items() if value))
    if before:
        found = connection.execute(select(HOLDS.c.at).where(HOLDS.c.mutation_id == before)).scalar()
        earlier = and_(HOLDS.c.at == found, HOLDS.c.mutation_id < before)
        statement = statement.where(or_(HOLDS.c.at < found, earlier) if found else false())
    return tuple(
        Hold(
            mutation_id=row.mutation_id,
            at=from_text(row.at),
            actor=row.actor,
            on_behalf_of=row.on_behalf_of,
            stack=row.stack,
            state=HoldState(row.state),
            summary=json.loads(row.summary),
        )
        for row in connection.execute(statement)
    )


def _page(limit: int) -> int:
    return max(0, min(limit, MAX_PAGE))
