"""What is asked of a ledger about mutations in doubt. Apart from `ports`, which is about mutations as they are decided."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from gateway.model.resolution import Resolution


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """A mutation of which nobody knows whether AWS carried it out."""

    mutation_id: str
    stack: str
    decided_at: datetime
    """Shortly after its request was signed. AWS refuses the request once the signature is too old."""
    left_to_human: bool = False


class DoubtLedger(Protocol):
    """Mutations in doubt, for those who find out the truth."""

    async def in_doubt(self) -> Sequence[Doubt]:
        """The mutations in doubt, oldest first. Raises `errors.LedgerUnavailable`."""
        ...

    async def resolve(self, mutation_id: str, resolution: Resolution, at: datetime) -> None:
        """Settle a mutation in doubt. Raises `errors.NotFound`, `errors.NotAllowed` (not in doubt any more)."""
        ...

    async def leave_to_human(self, mutation_id: str, reason: str, at: datetime) -> bool:
        """Record once that a human must settle a mutation in doubt; whether this was the first time. Raises as `resolve`."""
        ...
