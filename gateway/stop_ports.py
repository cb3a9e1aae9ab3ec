"""What is asked of a ledger about stops. Apart from `ports`, which is about mutations."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, Protocol

from gateway.model.caller import Caller
from gateway.model.stop import Stop, StopScope

MOST_STOPS: Final = 500
"""Stops that may stand at once."""


class StopLedger(Protocol):
    """Keeps the stops."""

    async def stop(self, scope: StopScope, name: str, *, by: Caller, reason: str, at: datetime) -> Stop:
        """Stop it. The same person's same stop is not made twice. Raises `errors.NotAllowed`, `errors.Overloaded`, `errors.LedgerUnavailable`."""
        ...

    async def resume(self, stop_id: str, *, by: Caller, reason: str, at: datetime) -> Stop:
        """End a stop. Raises `errors.NotFound`, `errors.NotAllowed`, `errors.LedgerUnavailable`."""
        ...

    async def stops(self, *, every: bool = False) -> Sequence[Stop]:
        """The standing stops, oldest first; with `every` also the latest of those that ended. Raises `errors.LedgerUnavailable`."""
        ...
