"""Queries of people and of the reconciler: claims, held mutations, signals, and what is new."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import Select, false, func, select, tuple_

from gateway.core.model.approval import Hold, HoldState
from gateway.core.model.claim import Claim
from gateway.core.model.signal import Signal, SignalScope, SignalState
from gateway.core.ports import SignalQuery
from gateway.core.records.record import Stage
from gateway.ledger.ask.record_search import MAX_PAGE, RecordKind, page_size
from gateway.ledger.store.rows import ClaimRow, SignalRow
from gateway.ledger.store.serialize import claim_from_row
from gateway.ledger.store.statements import Session, columns, tested
from gateway.ledger.store.tables import CLAIMS, HOLDS, RECORDS, SIGNALS
from gateway.ledger.store.timestamps import from_text, to_text


def changed_since(session: Session, seq: int) -> tuple[int, tuple[str, ...]]:
    """The number of the last record looked at, and the mutations of those after `seq`, a page at most; for -1 only the last number."""
    if seq < 0:
        return session.connection.execute(select(func.max(RECORDS.c.seq))).scalar() or 0, ()
    statement = select(RECORDS.c.seq, RECORDS.c.mutation_id).where(RECORDS.c.seq > seq)
    rows = session.connection.execute(statement.order_by(RECORDS.c.seq).limit(MAX_PAGE)).all()
    return (rows[-1].seq if rows else seq), tuple(row.mutation_id for row in rows)


def claims(
    session: Session,
    *,
    address: str = "",
    actor: str = "",
    mutation_id: str = "",
    open_only: bool = True,
    before: str = "",
    limit: int = MAX_PAGE,
) -> tuple[Claim, ...]:
    """Claims, newest first, `MAX_PAGE` at most; with `before`, those taken before this claim."""
    connection = session.connection
    equal = {"address": address, "actor": actor, "mutation_id": mutation_id}
    # A mutation has few claims, and an actor few open ones: they are found by an index that is not in the order of time.
    few = mutation_id or (actor and open_only)
    since_order = tested(CLAIMS.c.since) if few else CLAIMS.c.since
    statement: Select[Any] = (
        select(*columns(CLAIMS, ClaimRow)).order_by(since_order.desc(), CLAIMS.c.id.desc()).limit(page_size(limit))
    )
    if before:
        since = connection.execute(select(CLAIMS.c.since).where(CLAIMS.c.id == before)).scalar()
        statement = statement.where(tuple_(CLAIMS.c.since, CLAIMS.c.id) < tuple_(since, before) if since else false())
    statement = statement.where(*(CLAIMS.c[name] == value for name, value in equal.items() if value))
    if open_only:
        unexpired = CLAIMS.c.until.is_(None) | (CLAIMS.c.until > to_text(datetime.now(UTC))) | (CLAIMS.c.unsettled == 1)
        statement = statement.where(CLAIMS.c.ended_at.is_(None), unexpired)
    return tuple(claim_from_row(ClaimRow._make(row)) for row in connection.execute(statement))


def holds(
    session: Session,
    *,
    state: HoldState | None = HoldState.OPEN,
    actor: str = "",
    stack: str = "",
    mutation_id: str = "",
    before: str = "",
    limit: int = 100,
) -> Sequence[Hold]:
    """Held mutations, newest first, `MAX_PAGE` at most; `state` None means every state. With `before`, those held before this mutation."""
    connection = session.connection
    equal = {"state": state or "", "actor": actor, "stack": stack, "mutation_id": mutation_id}
    statement = select(HOLDS).order_by(HOLDS.c.at.desc(), HOLDS.c.mutation_id.desc()).limit(page_size(limit))
    # By actor there is an index, by state another: of the two, an actor's list is the shorter one.
    of_actor = bool(actor) and not mutation_id
    columns_of = {name: tested(HOLDS.c[name]) if of_actor and name != "actor" else HOLDS.c[name] for name in equal}
    statement = statement.where(*(columns_of[name] == value for name, value in equal.items() if value))
    if before:
        found = connection.execute(select(HOLDS.c.at).where(HOLDS.c.mutation_id == before)).scalar()
        earlier = tuple_(HOLDS.c.at, HOLDS.c.mutation_id) < tuple_(found, before)
        statement = statement.where(earlier if found else false())
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


_ANY: Final = "*"


def list_signals(session: Session, query: SignalQuery) -> Sequence[Signal]:
    """The signals that match, the latest first."""
    statement: Select[Any] = select(*columns(SIGNALS, SignalRow)).order_by(SIGNALS.c.at.desc(), SIGNALS.c.id)
    equal = {"state": query.state.value if query.state else "", "source": query.source, "service": query.service}
    statement = statement.where(*(SIGNALS.c[name] == value for name, value in equal.items() if value))
    found: list[Signal] = []
    for row in session.connection.execute(statement.limit(MAX_PAGE)):
        signal = signal_from_row(SignalRow._make(row))
        if query.stack and not {query.stack, _ANY} & {scope.stack for scope in signal.scopes}:
            continue
        found.append(signal)
    return found[: max(0, query.limit)]


def signals_version(session: Session) -> int:
    """The number of the latest record about a signal; 0 if there is none."""
    # The whole kind, so that the end of its list in the index is read, and not the list.
    kind = RecordKind(stage=Stage.SIGNALLED.value)
    conditions = (RECORDS.c[name] == value for name, value in kind._asdict().items())
    latest = select(func.max(RECORDS.c.seq)).where(*conditions)
    return int(session.connection.execute(latest).scalar() or 0)


def signal_from_row(row: SignalRow) -> Signal:
    """The signal of a row."""
    return Signal(
        id=row.id,
        source=row.source,
        key=row.key,
        name=row.name,
        service=row.service,
        state=SignalState(row.state),
        at=from_text(row.at),
        since=from_text(row.since),
        heard_at=from_text(row.heard_at),
        labels=json.loads(row.labels),
        references=tuple(json.loads(row.refs)),
        scopes=tuple(
            SignalScope(stack=scope["stack"], addresses=tuple(scope["addresses"])) for scope in json.loads(row.scopes)
        ),
    )
