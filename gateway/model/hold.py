"""A held mutation, which waits for a human."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from gateway.model.json import Json


class HoldState(StrEnum):
    """What a human decided about a held mutation."""

    OPEN = "open"
    APPROVED = "approved"
    REJECTED = "rejected"


class HoldFilter(StrEnum):
    """Which held mutations to list: those in one state, or all."""

    OPEN = HoldState.OPEN
    APPROVED = HoldState.APPROVED
    REJECTED = HoldState.REJECTED
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """A held mutation, open or decided on by a human."""

    mutation_id: str
    at: datetime
    actor: str
    on_behalf_of: str
    stack: str
    state: HoldState
    summary: Mapping[str, Json]
    """`caller`, `call`, `motive`, `effects` and `decision`, as in the DECIDED record, and `cut` if not all effects are kept."""
