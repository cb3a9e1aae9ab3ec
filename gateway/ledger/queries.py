"""What is asked of the ledger by people: records and claims by what they are about, and what is held."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Select, and_, exists, func, select

from gateway.ledger.serialize import claim_of, record_of
from gateway.ledger.tables import CLAIMS, HOLDS, RECORDS, RESOURCES
from gateway.ledger.timestamps import from_text, to_text
from gateway.model.claim import Claim
from gateway.model.json import Json
from gateway.model.record import Record
from gateway.ports import RecordQuery

MAX_PAGE: Final = 10_000
"""Most records, claims or holds in one answer."""

_NARROW: Final = 20_000
_LAST_CHARACTER: Final = "\U0010ffff"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """A held mutation that waits, or waited, for a human."""

    mutation_id: str
    at: datetime
    actor: str
    stack: str
    state: str
    """open, approved or rejected."""
    summary: Mapping[str, Json]
    """`caller`, `call`, `motive`, `effects` and `decision`, as in the DECIDED record."""


def records(connection: Connection, query: RecordQuery) -> tuple[Record, ...]:
    """The records that match, in the order asked for."""
    statement = select(RECORDS).where(*_conditions(query))
    if query.resource:
        statement = statement.where(_about(connection, query.resource))
    order = RECORDS.c.seq.desc() if query.newest_first else RECORDS.c.seq
    statement = statement.order_by(order).limit(_page(query.limit))
    return tuple(record_of(row) for row in connection.execute(statement))


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
    if query.since is not None:
        conditions.append(RECORDS.c.at >= to_text(query.since))
    if query.until is not None:
        conditions.append(RECORDS.c.at <= to_text(query.until))
    if query.after_seq:
        conditions.append(RECORDS.c.seq > query.after_seq)
    return conditions


def _about(connection: Connection, prefix: str) -> ColumnElement[bool]:
    """Whether a record is about a thing whose address begins so. Few matches are collected first; of many, each record
    is asked as it is met, so that the newest hundred of a million come at once.
    """
    within = and_(RESOURCES.c.address >= prefix, RESOURCES.c.address < prefix + _LAST_CHARACTER)
    some = select(RESOURCES.c.seq).where(within).limit(_NARROW).subquery()
    if (connection.execute(select(func.count()).select_from(some)).scalar() or 0) < _NARROW:
        return RECORDS.c.seq.in_(select(RESOURCES.c.seq).where(within))
    return exists().where(RESOURCES.c.seq == RECORDS.c.seq, within)


def claims(connection: Connection, *, address: str, actor: str, open_only: bool, now: datetime) -> tuple[Claim, ...]:
    """Claims, newest first."""
    statement: Select[Any] = select(CLAIMS).order_by(CLAIMS.c.since.desc(), CLAIMS.c.id.desc()).limit(MAX_PAGE)
    if address:
        statement = statement.where(CLAIMS.c.address == address)
    if actor:
        statement = statement.where(CLAIMS.c.actor == actor)
    if open_only:
        lasting = CLAIMS.c.until.is_(None) | (CLAIMS.c.until > to_text(now)) | (CLAIMS.c.unsettled == 1)
        statement = statement.where(CLAIMS.c.ended_at.is_(None), lasting)
    return tuple(claim_of(row) for row in connection.execute(statement))


def holds(connection: Connection, *, state: str, limit: int) -> Sequence[Hold]:
    """Held mutations in a state, newest first."""
    statement = select(HOLDS).where(HOLDS.c.state == state).order_by(HOLDS.c.at.desc()).limit(_page(limit))
    return tuple(
        Hold(
            mutation_id=row.mutation_id,
            at=from_text(row.at),
            actor=row.actor,
            stack=row.stack,
            state=row.state,
            summary=json.loads(row.summary),
        )
        for row in connection.execute(statement)
    )


def _page(limit: int) -> int:
    return max(0, min(limit, MAX_PAGE))
