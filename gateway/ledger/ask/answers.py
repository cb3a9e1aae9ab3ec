"""What people said, or still have to say, about a call that one actor repeats."""

import json
from datetime import datetime
from typing import Final, NamedTuple

from sqlalchemy import bindparam

from gateway.core.model.approval import Answered, Binding, HoldState, Rejection, binding_from_json
from gateway.core.records.approvals import RejectedBody
from gateway.core.records.codec import decode_as
from gateway.core.records.record import Stage
from gateway.ledger.store.statements import Query, Session
from gateway.ledger.store.tables import HOLDS, RECORDS
from gateway.ledger.store.timestamps import from_text

_LATEST: Final = 20
"""How many of a call's latest holds are looked at."""


class AlikeHoldRow(NamedTuple):
    """A hold of the same call."""

    mutation_id: str
    state: str
    binding: str


class RejectedRow(NamedTuple):
    """The record of a rejection."""

    at: str
    actor: str
    body: str


_ALIKE: Final = Query.of(
    HOLDS,
    AlikeHoldRow,
    HOLDS.c.actor == bindparam("who"),
    HOLDS.c.call_digest == bindparam("digest"),
    order_by=(HOLDS.c.at.desc(), HOLDS.c.mutation_id.desc()),
    limit=_LATEST,
)
_REJECTED: Final = Query.of(
    RECORDS, RejectedRow, RECORDS.c.mutation_id == bindparam("mutation"), RECORDS.c.stage == Stage.REJECTED.value
)


def answered(session: Session, actor: str, call_digest: str) -> Answered:
    """The open holds of the call, and its latest rejection."""
    rows = session.rows(_ALIKE, {"who": actor, "digest": call_digest})
    held = {row.mutation_id: _binding(row) for row in rows if row.state == HoldState.OPEN}
    rejections = [found for row in rows if row.state == HoldState.REJECTED and (found := _rejection(session, row))]
    return Answered(held=held, rejection=max(rejections, key=_moment, default=None))


def _rejection(session: Session, row: AlikeHoldRow) -> Rejection | None:
    """The rejection of this hold; None if it was rejected together with another one of the call."""
    record = session.row(_REJECTED, {"mutation": row.mutation_id})
    if record is None:
        return None
    return Rejection(
        mutation_id=row.mutation_id,
        by=record.actor,
        reason=decode_as(RejectedBody, record.body).reason,
        at=from_text(record.at),
        binding=_binding(row),
    )


def _moment(rejection: Rejection) -> datetime:
    return rejection.at


def _binding(row: AlikeHoldRow) -> Binding | None:
    return binding_from_json(json.loads(row.binding)) if row.binding else None
