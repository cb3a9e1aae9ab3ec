"""Records the messages of sources about signals. A claim whose last proof closes is downgraded in the same transaction, with a record."""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, delete, func, insert, or_, select, update

from gateway.core.errors import ClaimTaken, Overloaded
from gateway.core.model.claim import Claim, ClaimEnd
from gateway.core.model.facts import Facts
from gateway.core.model.json import canonical_text
from gateway.core.model.signal import SignalEvent, SignalState, references_of
from gateway.core.ports import MOST_OPEN_SIGNALS
from gateway.core.records.claims import DowngradedBody
from gateway.core.records.record import Record
from gateway.core.records.signals import RecordedScope, SignalledBody
from gateway.ledger.store.rows import ClaimRow, StateRow
from gateway.ledger.store.statements import Among, Query, Session, Statement
from gateway.ledger.store.tables import ATTEMPTS, CLAIMS, IN_DOUBT, IN_FLIGHT, PROVEN, SIGNALS
from gateway.ledger.store.timestamps import to_text
from gateway.ledger.store.transaction import Transaction

_OPEN: Final = Query.of(CLAIMS, ClaimRow, CLAIMS.c.ended_at.is_(None), PROVEN)
# A claim that a mutation superseded is reopened if that mutation fails, so it must not keep its proof until then.
_MAY_REOPEN: Final = Query.of(
    CLAIMS,
    ClaimRow,
    CLAIMS.c.ended_by.in_(
        select(ATTEMPTS.c.mutation_id).where(or_(ATTEMPTS.c.state == IN_FLIGHT, ATTEMPTS.c.state == IN_DOUBT))
    ),
    CLAIMS.c.end == ClaimEnd.SUPERSEDED.value,
    PROVEN,
)
_STILL_OPEN: Final = Statement(
    select(SIGNALS.c.id).where(Among(SIGNALS.c.id, "ids"), SIGNALS.c.state == SignalState.OPEN.value)
)
_DOWNGRADE: Final = Statement(update(CLAIMS).where(CLAIMS.c.id == bindparam("claim")).values(proof="[]"))


def downgrade_unproven(transaction: Transaction, closed: Sequence[str], at: datetime) -> list[str]:
    """Downgrade the claims that one of these closed signals proved, and no open one proves; the ids of the claims."""
    if not closed:
        return []
    gone = set(closed)
    rows = (*transaction.rows(_OPEN, {}), *transaction.rows(_MAY_REOPEN, {}))
    proofs = {row.id: (row, set(json.loads(row.proof))) for row in rows}
    touched = {claim: (row, proof) for claim, (row, proof) in proofs.items() if proof & gone}
    still = _still_open(transaction, (signal for _, proof in touched.values() for signal in proof))
    unproven = [(row, min(proof & gone)) for row, proof in touched.values() if not proof & still]
    for row, signal in sorted(unproven):
        _downgrade(transaction, row, signal, at)
    return [row.id for row, _ in unproven]


def _still_open(transaction: Transaction, signals: Iterable[str]) -> set[str]:
    wanted = sorted(set(signals))
    return set(transaction.column(_STILL_OPEN, {"ids": canonical_text(wanted)})) if wanted else set()


def _downgrade(transaction: Transaction, row: ClaimRow, signal: str, at: datetime) -> None:
    transaction.change(_DOWNGRADE, {"claim": row.id})
    body = DowngradedBody(
        claim=row.id,
        address=row.address,
        attribute=row.attribute,
        signal=signal,
        reason="The signal that proved the motive has closed, so the claim ranks as one without proof.",
    )
    record = Record(at=at, mutation_id=row.mutation_id, actor=row.actor, body=body)
    transaction.append(record, resources=[(row.address, row.attribute)])


_STATE: Final = Query.of(SIGNALS, StateRow, SIGNALS.c.id == bindparam("signal"))
_OPEN_OF_SOURCE: Final = Statement(
    select(func.count()).where(SIGNALS.c.state == SignalState.OPEN.value, SIGNALS.c.source == bindparam("source"))
)
_FORGET: Final = Statement(delete(SIGNALS).where(SIGNALS.c.id == bindparam("signal")))
_INSERT: Final = Statement(insert(SIGNALS))


def record_signals(transaction: Transaction, events: Sequence[SignalEvent], at: datetime) -> int:
    """Record what is news, and downgrade the claims that lose their last proof; the number of signals that changed.

    Raises `errors.Overloaded` if a source has too many open signals.
    """
    changed = [event for event in sorted(events, key=lambda event: event.at) if _take(transaction, event, at)]
    closed = [event.id for event in changed if event.state is SignalState.CLOSED]
    downgrade_unproven(transaction, closed, at)
    return len(changed)


def confirm_proof(transaction: Transaction, claims: Sequence[Claim], facts: Facts) -> None:
    """Check that the signals that prove the new claims are still open, and record those that only a file told of so far.

    Raises `errors.ClaimTaken` if one closed after the facts were gathered.
    """
    wanted = {signal for claim in claims for signal in claim.proof}
    for signal in facts.proof.signals:
        if signal.id not in wanted or is_open(transaction, signal.id):
            continue
        if not signal.filed:
            raise ClaimTaken(
                f"The signal {signal.name} ({signal.id}), which the evidence names, closed meanwhile. Nothing was sent; try again."
            )
        _store(transaction, signal.event(SignalState.OPEN, facts.now), signal.since, facts.now)


def is_open(session: Session, signal: str) -> bool:
    """Whether a signal with this id is open."""
    found = session.row(_STATE, {"signal": signal})
    return found is not None and found.state == SignalState.OPEN


def _take(transaction: Transaction, event: SignalEvent, at: datetime) -> bool:
    """Store an event if it is news: whether it was.

    Only a later event counts, so neither a repeated nor a delayed nor a replayed message opens again what has closed.
    """
    known = transaction.row(_STATE, {"signal": event.id})
    if known is not None and not _is_news(event, known):
        return False
    was_open = known is not None and known.state == SignalState.OPEN
    if event.state is SignalState.OPEN and not was_open:
        _refuse_too_many(transaction, event.source)
    _store(transaction, event, known.since if known is not None and was_open else event.at, at)
    return True


def _is_news(event: SignalEvent, known: StateRow) -> bool:
    at = to_text(event.at)
    closes = event.state is SignalState.CLOSED and known.state == SignalState.OPEN
    return at > known.at or (at == known.at and closes)


def _refuse_too_many(transaction: Transaction, source: str) -> None:
    if int(transaction.scalar(_OPEN_OF_SOURCE, {"source": source})) >= MOST_OPEN_SIGNALS:
        raise Overloaded(
            f"The source {source} has {MOST_OPEN_SIGNALS} open signals, and more are not taken. Nothing of this message was stored; "
            "close some, or group them at the source."
        )


def _store(transaction: Transaction, event: SignalEvent, since: datetime | str, at: datetime) -> None:
    body = SignalledBody(
        source=event.source,
        key=event.key,
        name=event.name,
        service=event.service,
        state=event.state,
        at=to_text(event.at),
        since=since if isinstance(since, str) else to_text(since),
        labels=event.labels,
        references=references_of(event),
        scopes=tuple(RecordedScope(stack=each.stack, addresses=each.addresses) for each in event.scopes),
    )
    stacks = {scope.stack for scope in event.scopes}
    stack = min(stacks) if len(stacks) == 1 else ""
    transaction.append(Record(at=at, mutation_id=event.id, stack=stack, body=body))
    members = body.members
    texts = {name: str(value) for name, value in members.items() if isinstance(value, str)}
    lists = {"labels": "labels", "refs": "references", "scopes": "scopes"}
    transaction.change(_FORGET, {"signal": event.id})
    transaction.change(
        _INSERT,
        {
            **texts,
            **{column: canonical_text(members[member]) for column, member in lists.items()},
            "id": event.id,
            "heard_at": to_text(at),
        },
    )
