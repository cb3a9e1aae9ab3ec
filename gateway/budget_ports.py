"""What people ask of a ledger about budgets and circuit breakers. What decisions need of them is in `ports`."""

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from gateway.model.caller import Caller
from gateway.model.used import Used


class BudgetLedger(Protocol):
    """Knows what each actor has used."""

    async def used(self, at: datetime) -> Mapping[str, Used]:
        """What each actor has used, by its name; absent where it used nothing. Raises `errors.LedgerUnavailable`."""
        ...

    async def reset_breaker(self, actor: str, *, by: Caller, reason: str, at: datetime) -> None:
        """Close an actor's circuit breaker. Raises `errors.NotFound`, `errors.NotAllowed`, `errors.LedgerUnavailable`."""
        ...
