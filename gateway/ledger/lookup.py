"""What the line asks before it decides: the view of the things a mutation touches, and earlier attempts."""

import json
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, Final

from sqlalchemy import CTE, Select, and_, bindparam, func, literal_column, or_, select

from gateway.ledger.serialize import claim_of, text_of
from gateway.ledger.statements import Among, Session, Statement
from gateway.ledger.tables import APPROVALS, ATTEMPTS, CLAIMS, UNUSED, VALUES
from gateway.ledger.timestamps import from_text, to_text
from gateway.model.claim import ClaimEnd
from gateway.model.facts import Approval
from gateway.model.json import Json
from gateway.model.outcome import Applied, InDoubt, Outcome, Reply
from gateway.ports import Attempt, LedgerView

FLIP_CLAIMS: Final = 40
"""Among how many of an attribute's latest claims they are counted, so that one that is changed all day costs no more than another."""

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


def _attributes() -> CTE:
    """Each attribute ever claimed on the addresses, met by steps through the index, whatever the number of its claims."""
    first, later = CLAIMS.alias(), CLAIMS.alias()
    given = func.each_text(bindparam("addresses")).table_valued("value")
    least = select(func.min(first.c.attribute)).where(first.c.address == given.c.value).scalar_subquery()
    begun = select(given.c.value.label("address"), least.label("attribute")).cte("attributes", recursive=True)
    following = (
        select(func.min(later.c.attribute))
        .where(later.c.address == begun.c.address, later.c.attribute > begun.c.attribute)
        .scalar_subquery()
    )
    return begun.union_all(select(begun.c.address, following).where(begun.c.attribute.is_not(None)))


def _hands() -> Select[Any]:
    """Who made the latest claims of each attribute, in order."""
    about, older = _attributes(), CLAIMS.alias()
    last_left_out = (
        select(older.c.since)
        .where(
            older.c.address == about.c.address,
            older.c.attribute == about.c.attribute,
            older.c.since > bindparam("from"),
        )
        .order_by(older.c.since.desc())
        .offset(literal_column(str(FLIP_CLAIMS)))
        .limit(literal_column("1"))
        .scalar_subquery()
    )
    return (
        select(CLAIMS.c.address, CLAIMS.c.attribute, CLAIMS.c.actor)
        .join(about, and_(CLAIMS.c.address == about.c.address, CLAIMS.c.attribute == about.c.attribute))
        .where(
            CLAIMS.c.since > func.coalesce(last_left_out, bindparam("from")),
            or_(CLAIMS.c.end.is_(None), CLAIMS.c.end != ClaimEnd.FAILED.value),
        )
        .order_by(CLAIMS.c.address, CLAIMS.c.attribute, CLAIMS.c.since, CLAIMS.c.id)
    )


_HANDS: Final = Statement(_hands())
_BY_KEY: Final = Statement(
    select(ATTEMPTS).where(ATTEMPTS.c.actor == bindparam("who"), ATTEMPTS.c.idempotency_key == bindparam("key"))
)


def view_of(
    session: Session, *, addresses: Sequence[str], actor: str, call_digest: str, now: datetime, flip_window: timedelta
) -> LedgerView:
    """What is known about the addresses, from one moment."""
    claims: list[Any] = []
    values: dict[tuple[str, str], Json] = {}
    flips: dict[str, int] = defaultdict(int)
    moment, window = to_text(now), to_text(now - flip_window)
    for start in range(0, len(addresses), _PAGE):
        page = text_of(addresses[start : start + _PAGE])
        claims += session.rows(_OPEN, {"addresses": page, "now": moment})
        for address, attribute, value in session.rows(_VALUES, {"addresses": page}):
            values[address, attribute] = json.loads(value)
        # Counted here: SQLite's window functions take five times as long.
        for before, after in pairwise(session.rows(_HANDS, {"addresses": page, "from": window})):
            if before.actor != after.actor and before[:2] == after[:2]:
                flips[f"{after.address}.{after.attribute}"] += 1
    approval = session.row(_APPROVAL, {"who": actor, "digest": call_digest, "now": moment})
    return LedgerView(
        claims=tuple(claim_of(row) for row in claims),
        values=values,
        approval=approval_of(approval) if approval else None,
        flips=dict(flips),
    )


def approval_of(row: Any) -> Approval:
    """The approval of a row."""
    return Approval(id=row.id, mutation_id=row.mutation_id, approver=row.approver, until=from_text(row.until))


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
