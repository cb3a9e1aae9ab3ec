"""What the line asks before it decides: the view of the things a mutation touches, and earlier attempts."""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import bindparam, func, or_, select

from gateway.ledger.forms import claim_of, text_of
from gateway.ledger.moment import read, stored
from gateway.ledger.statement import Among, Session, Statement
from gateway.ledger.tables import APPROVALS, ATTEMPTS, CLAIMS, UNUSED, VALUES
from gateway.model.claim import ClaimEnd
from gateway.model.facts import Approval
from gateway.model.json import Json
from gateway.model.outcome import Applied, InDoubt, Outcome, Reply
from gateway.ports import Attempt, View

FLIP_WINDOW: Final = timedelta(hours=24)
"""How far back changes of hands are counted."""

_PAGE: Final = 500

_OPEN: Final = Statement(
    select(CLAIMS)
    .where(
        Among(CLAIMS.c.address, "addresses"),
        CLAIMS.c.ended_at.is_(None),
        or_(CLAIMS.c.until.is_(None), CLAIMS.c.until > bindparam("now"), CLAIMS.c.unsettled == 1),
    )
    .order_by(CLAIMS.c.since, CLAIMS.c.id)
)
_VALUES: Final = Statement(
    select(VALUES.c.address, VALUES.c.attribute, VALUES.c.value)
    .where(Among(VALUES.c.address, "addresses"))
    .order_by(VALUES.c.seq)
)
_APPROVAL: Final = Statement(
    select(APPROVALS).where(
        APPROVALS.c.actor == bindparam("who"),
        APPROVALS.c.call_digest == bindparam("digest"),
        APPROVALS.c.state == UNUSED,
        APPROVALS.c.until > bindparam("now"),
    )
)
_HANDS: Final = (
    select(
        CLAIMS.c.address,
        CLAIMS.c.attribute,
        CLAIMS.c.actor,
        func.lag(CLAIMS.c.actor)
        .over(partition_by=(CLAIMS.c.address, CLAIMS.c.attribute), order_by=(CLAIMS.c.since, CLAIMS.c.id))
        .label("before"),
    )
    .where(
        Among(CLAIMS.c.address, "addresses"),
        CLAIMS.c.since > bindparam("from"),
        or_(CLAIMS.c.end.is_(None), CLAIMS.c.end != ClaimEnd.FAILED.value),
    )
    .subquery()
)
_FLIPS: Final = Statement(
    select(_HANDS.c.address, _HANDS.c.attribute, func.count())
    .where(_HANDS.c.before != _HANDS.c.actor)
    .group_by(_HANDS.c.address, _HANDS.c.attribute)
)
_BY_KEY: Final = Statement(
    select(ATTEMPTS).where(ATTEMPTS.c.actor == bindparam("who"), ATTEMPTS.c.idempotency_key == bindparam("key"))
)


def view_of(session: Session, *, addresses: Sequence[str], actor: str, call_digest: str, now: datetime) -> View:
    """What is known about the addresses, from one moment."""
    claims: list[Any] = []
    values: dict[tuple[str, str], Json] = {}
    flips: dict[str, int] = {}
    moment, window = stored(now), stored(now - FLIP_WINDOW)
    for start in range(0, len(addresses), _PAGE):
        page = text_of(addresses[start : start + _PAGE])
        claims += session.rows(_OPEN, {"addresses": page, "now": moment})
        for address, attribute, value in session.rows(_VALUES, {"addresses": page}):
            values[address, attribute] = json.loads(value)
        for address, attribute, count in session.rows(_FLIPS, {"addresses": page, "from": window}):
            flips[f"{address}.{attribute}"] = count
    approval = session.row(_APPROVAL, {"who": actor, "digest": call_digest, "now": moment})
    return View(
        claims=tuple(claim_of(row) for row in claims),
        values=values,
        approval=approval_of(approval) if approval else None,
        flips=flips,
    )


def approval_of(row: Any) -> Approval:
    """The approval of a row."""
    return Approval(id=row.id, mutation_id=row.mutation_id, approver=row.approver, until=read(row.until))


def attempt_of(session: Session, actor: str, idempotency_key: str) -> Attempt | None:
    """The actor's attempt with this key, None where there is none."""
    row = session.row(_BY_KEY, {"who": actor, "key": idempotency_key})
    if row is None:
        return None
    return Attempt(mutation_id=row.mutation_id, call_digest=row.call_digest, outcome=_outcome(row))


def _outcome(row: Any) -> Outcome | None:
    if row.state == "in_flight":
        return None
    if row.state == "in_doubt":
        return InDoubt(reason=row.reason)
    if row.reply_status is None:
        # A 409 that says so is safe; an invented reply would be taken for AWS's own.
        return InDoubt(
            reason=f"This attempt was applied before (AWS request {row.request_id}), but its reply was not kept because it is "
            "large or may hold a secret. It was not sent again; read the thing itself."
        )
    headers = tuple((name, value) for name, value in json.loads(row.reply_headers))
    reply = Reply(status=row.reply_status, headers=headers, body=bytes(row.reply_body or b""))
    return Applied(reply=reply, request_id=row.request_id)
