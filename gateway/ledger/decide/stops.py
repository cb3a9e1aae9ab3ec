"""Keeps the stops. A decision reads them in its own transaction, so a stop holds for the next call at every gateway of the ledger."""

from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, insert, literal_column, update

from gateway.core.errors import NotAllowed, NotFound, Overloaded, Stopped
from gateway.core.model.approval import operator_objection
from gateway.core.model.caller import Caller
from gateway.core.model.ids import new_id
from gateway.core.model.stop import Reach, Stop, StopScope, in_the_way
from gateway.core.ports import MOST_STOPS
from gateway.core.records.operators import ResumedBody, StoppedBody
from gateway.core.records.record import Record
from gateway.ledger.decide.revocation import refuse_revoked
from gateway.ledger.store.rows import StopRow
from gateway.ledger.store.statements import Query, Session, Statement
from gateway.ledger.store.tables import STOPS
from gateway.ledger.store.timestamps import from_text, to_text
from gateway.ledger.store.transaction import Transaction

_MOST_LISTED: Final = 1_000

_STANDING: Final = Query.of(STOPS, StopRow, STOPS.c.ended_at.is_(None), order_by=(STOPS.c.at, STOPS.c.id))
_ENDED: Final = Query.of(
    STOPS,
    StopRow,
    STOPS.c.ended_at.is_not(None),
    order_by=(STOPS.c.ended_at.desc(), STOPS.c.id),
    limit=literal_column(str(_MOST_LISTED)),
)
_ONE: Final = Query.of(STOPS, StopRow, STOPS.c.id == bindparam("stop"))
_INSERT: Final = Statement(insert(STOPS))
_END: Final = Statement(
    update(STOPS)
    .where(STOPS.c.id == bindparam("stop"), STOPS.c.ended_at.is_(None))
    .values(ended_at=bindparam("ends"), ended_by=bindparam("who"))
)


def standing_stops(session: Session) -> tuple[Stop, ...]:
    """The stops that nobody has ended, oldest first."""
    return tuple(map(stop_from_row, session.rows(_STANDING, {})))


def listed_stops(session: Session, *, every: bool = False) -> tuple[Stop, ...]:
    """The standing stops, oldest first; with `every` also those that ended, the latest first."""
    ended = session.rows(_ENDED, {}) if every else []
    return (*standing_stops(session), *map(stop_from_row, ended))


def refuse_stopped(session: Session, reach: Reach, *, consequence: str = "Nothing was sent.") -> None:
    """Raise `errors.Stopped` if a standing stop is about the change."""
    if found := in_the_way(standing_stops(session), reach):
        raise Stopped(f"{found[0].sentence} {consequence}")


def refuse_stopped_actor(session: Session, caller: Caller, *, consequence: str) -> None:
    """Raise `errors.Stopped` if a standing stop is about this actor, or on whose behalf it acts. Wider stops are not about who asks."""
    stops = [stop for stop in standing_stops(session) if stop.scope is StopScope.ACTOR]
    actors = frozenset({caller.actor, caller.on_behalf_of} - {""})
    if found := in_the_way(stops, Reach(actors=actors)):
        raise Stopped(f"{found[0].sentence} {consequence}")


def stop(transaction: Transaction, scope: StopScope, name: str, *, by: Caller, reason: str, at: datetime) -> Stop:
    """Stop it; the stop that stands if the same person gave the same reason before.

    Raises `errors.NotAllowed` unless a person with the role asks, `errors.Overloaded` if too many stops stand.
    """
    require_operator(by, "stop changes")
    refuse_revoked(transaction, by)
    standing = standing_stops(transaction)
    for known in standing:
        if (known.scope, known.name, known.by, known.reason) == (scope, name, by.actor, reason):
            return known
    if len(standing) >= MOST_STOPS:
        raise Overloaded(
            f"{MOST_STOPS} stops stand, and more are not taken. Nothing was stopped; end some, or stop all."
        )
    made = Stop(id=new_id("stp"), scope=scope, name=name, by=by.actor, reason=reason, at=at)
    row = {"id": made.id, "scope": scope.value, "name": name, "by": made.by, "reason": reason, "at": to_text(at)}
    transaction.change(_INSERT, {**row, "ended_at": None, "ended_by": ""})
    transaction.append(_record(StoppedBody, made, actor=by.actor, reason=reason, at=at))
    return made


def resume(transaction: Transaction, stop_id: str, *, by: Caller, reason: str, at: datetime) -> Stop:
    """End a stop; the stop as it ended. Nobody ends a stop of themselves.

    Raises `errors.NotAllowed`, and `errors.NotFound` if no such stop stands.
    """
    require_operator(by, "resume them")
    refuse_revoked(transaction, by)
    row = transaction.row(_ONE, {"stop": stop_id})
    if row is None or row.ended_at is not None:
        ended = f"; it was ended by {row.ended_by} at {row.ended_at}" if row is not None else ""
        raise NotFound(f"No stop {stop_id[:64]} stands{ended}. `sentinel stops` lists those that do.")
    standing = stop_from_row(row)
    if standing.scope is StopScope.ACTOR and standing.name in {by.actor, by.on_behalf_of}:
        raise NotAllowed(f"The stop {stop_id} is about yourself; another person must end it. Nothing was changed.")
    transaction.change(_END, {"stop": stop_id, "ends": to_text(at), "who": by.actor})
    transaction.append(_record(ResumedBody, standing, actor=by.actor, reason=reason, at=at))
    return stop_from_row(row._replace(ended_at=to_text(at), ended_by=by.actor))


def require_operator(caller: Caller, act: str) -> None:
    """Raise `errors.NotAllowed` unless the caller is a person with the role."""
    if refused := operator_objection(caller, act):
        raise NotAllowed(refused)


def _record(
    kind: type[StoppedBody] | type[ResumedBody], about: Stop, *, actor: str, reason: str, at: datetime
) -> Record:
    stack = about.name if about.scope is StopScope.STACK else ""
    body = kind(scope=about.scope, name=about.name, reason=reason)
    return Record(at=at, mutation_id=about.id, actor=actor, stack=stack, body=body)


def stop_from_row(row: StopRow) -> Stop:
    """The stop of a row."""
    return Stop(
        id=row.id,
        scope=StopScope(row.scope),
        name=row.name,
        by=row.by,
        reason=row.reason,
        at=from_text(row.at),
        ended_at=from_text(row.ended_at) if row.ended_at else None,
        ended_by=row.ended_by,
    )
