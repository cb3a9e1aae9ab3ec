"""Lists claims, held mutations, signals and new records, for people and for the reconciler, and says which records are archived."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Select, bindparam, false, func, select, tuple_

from gateway.core.model.approval import Hold, HoldState
from gateway.core.model.claim import Claim
from gateway.core.model.json import canonical_text
from gateway.core.model.signal import Signal, SignalScope, SignalState
from gateway.core.ports import ArchivedRecords, RecordQuery, SignalQuery
from gateway.core.records.record import Stage
from gateway.ledger.ask.record_search import MAX_PAGE, RecordKind, SortedList, merge_lists, page_size
from gateway.ledger.chain.archived import archives
from gateway.ledger.store.rows import ClaimRow, SignalRow
from gateway.ledger.store.serialize import claim_from_row
from gateway.ledger.store.statements import Among, Query, Session, columns, unindexed
from gateway.ledger.store.tables import APPROVALS, CLAIMS, HOLDS, PARTIAL, PROVEN, RECORDS, SIGNALS, UNUSED
from gateway.ledger.store.timestamps import from_text, to_text


class ConsentRow(NamedTuple):
    """Who consented to a call."""

    actor: str
    call_digest: str
    binding: str
    approver: str
    others: str


def _consents_in(state: ColumnElement[str]) -> Query[ConsentRow]:
    """Those of some actors to some calls that have not ended; each state has an index of its own."""
    whose = Among(APPROVALS.c.actor, "actors"), Among(APPROVALS.c.call_digest, "digests")
    return Query.of(APPROVALS, ConsentRow, *whose, APPROVALS.c.state == state, APPROVALS.c.until > bindparam("now"))


_CONSENTS: Final = (_consents_in(UNUSED), _consents_in(PARTIAL))


def archived(session: Session) -> ArchivedRecords | None:
    """What left the database, as the rows say; None if nothing did."""
    known = archives(session)
    return ArchivedRecords(last=known[-1].last, until=from_text(known[-1].until)) if known else None


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
    # A mutation has few claims, an actor or a resource few open ones: they are found by an index that is not in the order of time.
    few = mutation_id or ((actor or address) and open_only)
    since_order = unindexed(CLAIMS.c.since) if few else CLAIMS.c.since
    statement: Select[Any] = (
        select(*columns(CLAIMS, ClaimRow)).order_by(since_order.desc(), CLAIMS.c.id.desc()).limit(page_size(limit))
    )
    if before:
        since = connection.execute(select(CLAIMS.c.since).where(CLAIMS.c.id == before)).scalar()
        statement = statement.where(tuple_(CLAIMS.c.since, CLAIMS.c.id) < tuple_(since, before) if since else false())
    statement = statement.where(*(CLAIMS.c[name] == value for name, value in equal.items() if value))
    if open_only:
        statement = statement.where(*_standing())
    return tuple(claim_from_row(ClaimRow._make(row)) for row in connection.execute(statement))


def claimed_addresses(
    session: Session, *, since: datetime | None = None, open_only: bool = True, limit: int = MAX_PAGE
) -> tuple[str, ...]:
    """The resources of the newest claims, each once, of `limit` claims at most; with `since`, of those taken after it."""
    statement: Select[Any] = select(CLAIMS.c.address).order_by(CLAIMS.c.since.desc(), CLAIMS.c.id.desc())
    if since is not None:
        statement = statement.where(CLAIMS.c.since > to_text(since))
    if open_only:
        statement = statement.where(*_standing())
    rows = session.connection.execute(statement.limit(page_size(limit)))
    return tuple(dict.fromkeys(row.address for row in rows))


def _standing() -> tuple[ColumnElement[bool], ...]:
    """Of claims that have not ended, by a command or by their time."""
    unexpired = CLAIMS.c.until.is_(None) | (CLAIMS.c.until > to_text(datetime.now(UTC))) | (CLAIMS.c.unsettled == 1)
    return CLAIMS.c.ended_at.is_(None), unexpired


def proofs(session: Session, *, limit: int = MAX_PAGE) -> Mapping[str, int]:
    """How many open claims each signal proves, by the signal's id; `limit` claims are looked at."""
    proven = select(CLAIMS.c.proof).where(PROVEN, *_standing()).limit(page_size(limit)).subquery()
    rows = session.connection.execute(select(proven.c.proof, func.count()).group_by(proven.c.proof))
    found: Counter[str] = Counter()
    for proof, count in rows:
        found.update(dict.fromkeys(json.loads(proof), count))
    return found


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
    columns_of = {name: unindexed(HOLDS.c[name]) if of_actor and name != "actor" else HOLDS.c[name] for name in equal}
    statement = statement.where(*(columns_of[name] == value for name, value in equal.items() if value))
    if before:
        found = connection.execute(select(HOLDS.c.at).where(HOLDS.c.mutation_id == before)).scalar()
        earlier = tuple_(HOLDS.c.at, HOLDS.c.mutation_id) < tuple_(found, before)
        statement = statement.where(earlier if found else false())
    rows = connection.execute(statement).all()
    consents = _consents(session, {row.actor for row in rows}, {row.call_digest for row in rows})
    return tuple(
        Hold(
            mutation_id=row.mutation_id,
            at=from_text(row.at),
            actor=row.actor,
            on_behalf_of=row.on_behalf_of,
            stack=row.stack,
            state=HoldState(row.state),
            summary=json.loads(row.summary),
            approved_by=consents.get((row.actor, row.call_digest, row.binding), ()),
        )
        for row in rows
    )


def _consents(session: Session, actors: set[str], digests: set[str]) -> dict[tuple[str, str, str], tuple[str, ...]]:
    """Who has consented, by actor, call and circumstances, as far as the consent still counts and is not used."""
    if not digests:
        return {}
    values = {
        "actors": canonical_text(sorted(actors)),
        "digests": canonical_text(sorted(digests)),
        "now": to_text(datetime.now(UTC)),
    }
    return {
        (row.actor, row.call_digest, row.binding): (*json.loads(row.others), row.approver)
        for query in _CONSENTS
        for row in session.rows(query, values)
    }


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
    signals = SortedList(table="records", kind=RecordKind(stage=Stage.SIGNALLED.value))
    return next(iter(merge_lists(session.connection, [signals], RecordQuery(), 1)), 0)


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
