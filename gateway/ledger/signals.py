"""Records what sources say about signals. A claim whose last proof closes is downgraded in the same transaction, with a record."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, delete, func, insert, select

from gateway.errors import ClaimTaken, Overloaded
from gateway.ledger.downgrade import downgrade_unproven
from gateway.ledger.rows import StateRow
from gateway.ledger.serialize import canonical_text
from gateway.ledger.statements import Query, Session, Statement, columns
from gateway.ledger.tables import SIGNALS
from gateway.ledger.timestamps import to_text
from gateway.ledger.transaction import Transaction
from gateway.model.claim import Claim
from gateway.model.facts import Facts
from gateway.model.json import Json
from gateway.model.record import Record, Stage
from gateway.model.signal import Signal, SignalEvent, SignalState, references_of, scopes_to_json
from gateway.signal_ports import MOST_OPEN_SIGNALS

_STATE: Final = Query(select(*columns(SIGNALS, StateRow)).where(SIGNALS.c.id == bindparam("signal")), StateRow)
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
        _store(transaction, _event_of(signal, facts.now), signal.since, facts.now)


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
    described: dict[str, Json] = {
        "source": event.source,
        "key": event.key,
        "name": event.name,
        "service": event.service,
        "state": event.state.value,
        "at": to_text(event.at),
        "since": since if isinstance(since, str) else to_text(since),
        "labels": dict(event.labels),
        "references": list(references_of(event)),
        "scopes": scopes_to_json(event.scopes),
    }
    stacks = {scope.stack for scope in event.scopes}
    record = Record(
        stage=Stage.SIGNALLED,
        at=at,
        mutation_id=event.id,
        stack=min(stacks) if len(stacks) == 1 else "",
        body=described,
    )
    transaction.append(record)
    texts = {name: str(value) for name, value in described.items() if isinstance(value, str)}
    lists = {"labels": "labels", "refs": "references", "scopes": "scopes"}
    transaction.change(_FORGET, {"signal": event.id})
    transaction.change(
        _INSERT,
        {
            **texts,
            **{column: canonical_text(described[member]) for column, member in lists.items()},
            "id": event.id,
            "heard_at": to_text(at),
        },
    )


def _event_of(signal: Signal, at: datetime) -> SignalEvent:
    return SignalEvent(
        source=signal.source,
        key=signal.key,
        name=signal.name,
        state=SignalState.OPEN,
        at=at,
        service=signal.service,
        labels=signal.labels,
        references=signal.references,
        scopes=signal.scopes,
    )
