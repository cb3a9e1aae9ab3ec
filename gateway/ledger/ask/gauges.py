"""Counts what a ledger holds now, and the deliveries of notices. Indexes answer the counts, so their cost does not grow with the records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from sqlalchemy import bindparam, func, select

from gateway.core.model.approval import HoldState
from gateway.core.model.ids import digest_id
from gateway.core.records.codec import decode_as
from gateway.core.records.notice import DeliveryState
from gateway.core.records.notices import NotifiedBody
from gateway.core.records.record import Stage
from gateway.ledger.ask.exports import last_record, positions
from gateway.ledger.ask.key_ends import ending_keys
from gateway.ledger.store.statements import Session, Statement
from gateway.ledger.store.tables import ATTEMPTS, BODY, CLAIMS, HOLDS, IN_DOUBT, RECORDS

_LAST: Final = Statement(
    select(BODY)
    .where(RECORDS.c.mutation_id == bindparam("receiver"), RECORDS.c.stage == Stage.NOTIFIED.value)
    .order_by(RECORDS.c.seq.desc())
    .limit(1)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryFigures:
    """The deliveries to one receiver."""

    waiting: int
    """Notices that it has not taken yet, as far as they were read."""
    totals: Mapping[DeliveryState, int]
    """Attempts since the receiver has its name; each state has one. They only grow, whichever process asks."""


def delivery_figures(session: Session, receivers: Sequence[str]) -> Mapping[str, DeliveryFigures]:
    """The figures by receiver. A receiver without any delivery has zeros."""
    return {name: _figures(session, name) for name in receivers}


def _figures(session: Session, receiver: str) -> DeliveryFigures:
    found = session.fetch(_LAST, {"receiver": digest_id("whk", receiver)})
    body = decode_as(NotifiedBody, found[0][0]) if found else None
    return DeliveryFigures(
        waiting=len(body.open) if body else 0,
        totals={state: body.totals.get(state, 0) if body else 0 for state in DeliveryState},
    )


_HOLDS: Final = Statement(select(func.count()).select_from(HOLDS).where(HOLDS.c.state == HoldState.OPEN.value))
_CLAIMS: Final = Statement(select(func.count()).select_from(CLAIMS).where(CLAIMS.c.ended_at.is_(None)))
_IN_DOUBT: Final = Statement(select(func.count()).select_from(ATTEMPTS).where(ATTEMPTS.c.state == IN_DOUBT))


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerGauges:
    """Figures of a ledger."""

    seq: int
    """The number of the last record."""
    holds: int
    """Mutations that wait for a human."""
    claims: int
    """Open claims."""
    in_doubt: int
    """Mutations whose outcome is not known."""
    export_lag: Mapping[str, int]
    """How many records each export has not written yet."""
    keys_ending: int = 0
    """Standing keys that end within 14 days and that nobody has renewed, counted up to `key_ends.MOST`."""
    deliveries: Mapping[str, DeliveryFigures] = field(default_factory=dict)
    """How the deliveries to each receiver of notices stand."""


def ledger_gauges(session: Session, receivers: Sequence[str] = (), at: datetime | None = None) -> LedgerGauges:
    """The figures at the time `at`, by default now; of deliveries those to these receivers."""
    last = last_record(session).seq
    return LedgerGauges(
        seq=last,
        holds=int(session.scalar(_HOLDS, {})),
        claims=int(session.scalar(_CLAIMS, {})),
        in_doubt=int(session.scalar(_IN_DOUBT, {})),
        export_lag={each.sink: last - each.seq for each in positions(session)},
        keys_ending=len(ending_keys(session, at or datetime.now(UTC))),
        deliveries=delivery_figures(session, receivers),
    )
