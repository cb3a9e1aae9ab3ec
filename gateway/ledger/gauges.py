"""What a ledger holds now, as figures: counted from indexes, so that to ask costs little however many records there are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import func, select

from gateway.ledger.delivery_figures import DeliveryFigures, delivery_figures
from gateway.ledger.export_positions import last_record, positions
from gateway.ledger.statements import Session, Statement
from gateway.ledger.tables import ATTEMPTS, CLAIMS, HOLDS, IN_DOUBT
from gateway.model.hold import HoldState

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
    deliveries: Mapping[str, DeliveryFigures] = field(default_factory=dict)
    """How the deliveries to each receiver of notices stand."""


def ledger_gauges(session: Session, receivers: Sequence[str] = ()) -> LedgerGauges:
    """The figures now; of deliveries those to these receivers."""
    last = last_record(session).seq
    return LedgerGauges(
        seq=last,
        holds=int(session.scalar(_HOLDS, {})),
        claims=int(session.scalar(_CLAIMS, {})),
        in_doubt=int(session.scalar(_IN_DOUBT, {})),
        export_lag={each.sink: last - each.seq for each in positions(session)},
        deliveries=delivery_figures(session, receivers),
    )
