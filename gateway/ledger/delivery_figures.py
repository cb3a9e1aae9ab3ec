"""How the deliveries to each receiver of notices stand: read from its last NOTIFIED record, which has the sums of all before."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import bindparam, select

from gateway.ledger.statements import Session, Statement
from gateway.ledger.tables import RECORDS
from gateway.model.delivery import DeliveryState
from gateway.model.ids import digest_id
from gateway.model.record import Stage

_LAST: Final = Statement(
    select(RECORDS.c.body)
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
    """The figures by receiver. One that was never delivered to has noughts."""
    return {name: _figures(session, name) for name in receivers}


def _figures(session: Session, receiver: str) -> DeliveryFigures:
    found = session.fetch(_LAST, {"receiver": digest_id("whk", receiver)})
    body: Mapping[str, Any] = json.loads(found[0][0]) if found else {}
    totals = body.get("totals") or {}  # records of versions before this one have none
    return DeliveryFigures(
        waiting=len(body.get("open", ())), totals={state: int(totals.get(state, 0)) for state in DeliveryState}
    )
