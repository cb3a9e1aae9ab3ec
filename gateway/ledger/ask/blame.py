"""Who set a value: the actor, time, motive and approver of the last change of an attribute, and what it replaced."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Final

from sqlalchemy import Connection, bindparam, func, select

from gateway.core.model.json import Json
from gateway.core.model.path import WHOLE, AttributePath
from gateway.core.records.codec import decode_as
from gateway.core.records.decided import DecidedBody, RecordedEffect
from gateway.core.records.motive import RecordedMotive
from gateway.core.records.record import Stage
from gateway.core.records.write_backs import ReconciledBody
from gateway.ledger.ask.change_history import changes_it
from gateway.ledger.store.rows import RecordRow
from gateway.ledger.store.statements import FoundBy, Session, columns
from gateway.ledger.store.states import AttemptState
from gateway.ledger.store.tables import APPROVALS, ATTEMPTS, BODY, CLAIMS, RECORDS, RESOURCES
from gateway.ledger.store.timestamps import from_text

_LAST_SEQ: Final = 2**63 - 1
_AT_ONCE: Final = 256
"""Most records that are read at once."""
_LAST: Final = (
    select(RESOURCES.c.seq, func.min(ATTEMPTS.c.state).label("state"))
    .select_from(RESOURCES.join(ATTEMPTS, FoundBy(ATTEMPTS.c.seq, RESOURCES.c.seq)))
    .where(
        RESOURCES.c.address == bindparam("where"),
        RESOURCES.c.attribute.in_(bindparam("attributes", expanding=True)),
        RESOURCES.c.seq < bindparam("before"),
        ATTEMPTS.c.state != AttemptState.FAILED.value,
    )
    .group_by(RESOURCES.c.seq)
    .order_by(RESOURCES.c.seq.desc())
    .limit(bindparam("most"))
    .subquery()
)
"""The last mutations. One that touches the attribute and also what is around it, as a creation does, counts once: by a GROUP BY, as in `change_history`."""
_SETTERS: Final = (
    select(*columns(RECORDS, RecordRow), _LAST.c.state)
    .select_from(_LAST.join(RECORDS, RECORDS.c.seq == _LAST.c.seq))
    .order_by(_LAST.c.seq.desc())
)
_APPROVER: Final = select(APPROVALS.c.approver).where(APPROVALS.c.id == bindparam("approval"))
_RECONCILED: Final = (
    select(BODY)
    .where(RECORDS.c.mutation_id == bindparam("mutation"), RECORDS.c.stage == Stage.RECONCILED.value)
    .order_by(RECORDS.c.seq.desc())
    .limit(1)
)
_OPEN_CLAIM: Final = select(CLAIMS.c.until, CLAIMS.c.unsettled, CLAIMS.c.undone).where(
    CLAIMS.c.mutation_id == bindparam("mutation"),
    CLAIMS.c.address == bindparam("where"),
    CLAIMS.c.attribute.in_(bindparam("attributes", expanding=True)),
    CLAIMS.c.ended_at.is_(None),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Blame:
    """The last change of an attribute, as far as the ledger knows it."""

    address: str
    attribute: str
    value: Json
    actor: str
    kind: str
    on_behalf_of: str
    at: datetime
    mutation_id: str
    outcome: AttemptState
    """APPLIED, IN_DOUBT or IN_FLIGHT."""
    action: str
    """set, create, delete or invoke."""
    operation: str
    """`service:Operation`."""
    intent: str = ""
    motivation: str = ""
    text: str = ""
    evidence: tuple[str, ...] = ()
    approver: str = ""
    """Who approved it; empty if no approval was needed."""
    previous: Json = None
    """The value it replaced; None if that was unknown or secret."""
    previous_actor: str = ""
    """Who had set the replaced value through Sentinel; empty if nobody had."""
    previous_mutation_id: str = ""
    previous_at: datetime | None = None
    branch: str = ""
    """Branch and commit with which the reconciler wrote it back; empty before that."""
    commit: str = ""
    claim_open: bool = False
    claim_until: datetime | None = None
    undone: Json = None
    """Since when the live value is another one (`at`), which (`live`) and who probably did it (`by`); None if the claimed value stands, as far as is
    known."""


def blame(session: Session, address: str, attribute: str) -> Blame | None:
    """Who set the attribute last; None if nobody did through Sentinel.

    Changes of the whole resource (created, deleted) and of an attribute around this one count too. Calls that only set again what was there
    do not.
    """
    connection = session.connection
    attributes = _covering(attribute)
    changes = list(islice(_changes(connection, address, attributes), 2))
    if not changes:
        return None
    row, body, effect = changes[0]
    reconciled = _reconciled(connection, row.mutation_id)
    claim = connection.execute(
        _OPEN_CLAIM, {"mutation": row.mutation_id, "where": address, "attributes": attributes}
    ).first()
    until = from_text(claim.until) if claim is not None and claim.until and not claim.unsettled else None
    before = changes[1][0] if len(changes) > 1 else None
    return Blame(
        address=address,
        attribute=effect.attribute,
        value=effect.value,
        action=effect.action.value,
        actor=row.actor,
        kind=body.caller.kind.value,
        on_behalf_of=body.caller.on_behalf_of,
        at=from_text(row.at),
        mutation_id=row.mutation_id,
        outcome=AttemptState(row.state),
        operation=body.call.name,
        **_motive(body.motive),
        approver=_approver(connection, body.decision.approval),
        previous=effect.before,
        previous_actor=before.actor if before is not None else "",
        previous_mutation_id=before.mutation_id if before is not None else "",
        previous_at=from_text(before.at) if before is not None else None,
        branch=reconciled.branch,
        commit=reconciled.commit,
        claim_open=claim is not None and (until is None or until > datetime.now(UTC)),
        claim_until=until,
        undone=json.loads(claim.undone) if claim is not None and claim.undone else None,
    )


def _changes(
    connection: Connection, address: str, attributes: list[str]
) -> Iterator[tuple[Any, DecidedBody[Any], RecordedEffect[Any]]]:
    """The mutations that changed the attribute, newest first, each with its record's body and the effect."""
    before, most = _LAST_SEQ, 2
    while True:
        values = {"where": address, "attributes": attributes, "before": before, "most": most}
        rows = connection.execute(_SETTERS, values).all()
        for row in rows:
            body = decode_as(DecidedBody, row.body)
            if (effect := _effect(body, address, attributes)) is not None:
                yield row, body, effect
        if len(rows) < most:
            return
        before, most = rows[-1].seq, min(2 * most, _AT_ONCE)


def _covering(attribute: str) -> list[str]:
    """The attribute, those around it (`tags` for `tags.owner`) and the whole resource, nearest first."""
    return [*AttributePath(attribute).enclosing, WHOLE]


def _effect(body: DecidedBody[Any], address: str, attributes: list[str]) -> RecordedEffect[Any] | None:
    """The nearest effect that covers the attribute and changes it; None if the call left it as it was."""
    by_attribute = {
        effect.attribute: effect
        for effect in body.effects
        if effect.address == address and changes_it(effect, attributes[0])
    }
    return next((by_attribute[attribute] for attribute in attributes if attribute in by_attribute), None)


def _motive(motive: RecordedMotive | None) -> dict[str, Any]:
    if motive is None:
        return {}
    return {name: getattr(motive, name) for name in ("intent", "motivation", "text", "evidence")}


def _approver(connection: Connection, approval: str) -> str:
    return str(connection.execute(_APPROVER, {"approval": approval}).scalar() or "") if approval else ""


def _reconciled(connection: Connection, mutation_id: str) -> ReconciledBody:
    body = connection.execute(_RECONCILED, {"mutation": mutation_id}).scalar()
    return decode_as(ReconciledBody, body) if body else ReconciledBody()
