"""A line of the ledger, and its stages. Fields are only ever added, at the end, with a default."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from gateway.model.json import Json


class Stage(StrEnum):
    """Which step of a mutation's life a record tells."""

    TURNED_AWAY = "turned_away"
    DECIDED = "decided"
    SETTLED = "settled"
    APPROVED = "approved"
    REJECTED = "rejected"
    RELEASED = "released"
    EXPIRED = "expired"
    RECONCILED = "reconciled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What happened once. The ledger gives it `seq`, `previous` and `hash` when it is appended."""

    stage: Stage
    at: datetime
    mutation_id: str = ""
    """Empty for a stranger turned away."""
    actor: str = ""
    stack: str = ""
    body: Mapping[str, Json] = field(default_factory=dict)
    """What there is to tell at this stage; see `gateway/README.md` for the members. Never holds a secret."""
    version: int = 1
    seq: int = 0
    """1, 2, 3 … without gaps; 0 before it is appended."""
    previous: str = ""
    """Hash of the record before, 64 hex digits; 64 zeros for the first."""
    hash: str = ""
